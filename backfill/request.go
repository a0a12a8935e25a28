package backfill

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Bounds of a [Request].
const (
	MaxRate        = 10_000_000
	MinMemoryBytes = 1 << 20
	MaxMemoryBytes = 64 << 30
)

// MaxSeed is the largest seed of a [VerifyRequest]: every reader of JSON has it whole, those too that keep numbers as doubles.
const MaxSeed = 1<<53 - 1

// Request says what to backfill.
type Request struct {
	UserID  string    `json:"user_id,omitempty" minLength:"1" maxLength:"512" doc:"Only this user's points; absent: the whole collection."`
	AgentID string    `json:"agent_id,omitempty" minLength:"1" maxLength:"512" doc:"Only points of this agent; absent: of all."`
	Since   time.Time `json:"since,omitzero" doc:"Only points that the store says were written at this time or later; those without a time are taken too."`
	Clear   bool      `json:"clear,omitempty" doc:"Remove the user's facts, topics, entities and their edges first. Schemas, the merge log and tombstones stay. Wants a user, and neither agent nor since."`
	DryRun  bool      `json:"dry_run,omitempty" doc:"Read and plan, and write nothing."`
	Resume  bool      `json:"resume,omitempty" doc:"Go on where the last run of the same range was interrupted."`
	Rate    int       `json:"rate,omitempty" minimum:"0" maximum:"10000000" doc:"Points a second at the most; 0: as many as there is time for."`
	Memory  int64     `json:"memory,omitempty" minimum:"0" doc:"Bytes that the points in hand may take; absent: the default."`
	// NoNeighbors leaves out semantic_neighbor edges, and with them the searches for each point.
	NoNeighbors bool `json:"no_neighbors,omitempty" doc:"No semantic_neighbor edges, and no searches for them."`
}

// Check returns what is wrong with the request, every violation with field, value and rule; nil: nothing.
func (r Request) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.UserID != "" {
		if _, err := graphstore.NewSpace(r.UserID); err != nil {
			bad("user %s: %w", graphstore.Shorten(r.UserID), err)
		}
	}
	if r.AgentID != "" {
		if err := graphstore.CheckID(r.AgentID); err != nil {
			bad("agent: %w", err)
		}
	}
	if r.Clear && (r.UserID == "" || r.AgentID != "" || !r.Since.IsZero()) {
		bad("clear: want a user, and neither agent nor since: it removes all of one user's facts, and the run must bring all back")
	}
	if y := r.Since.UTC().Year(); !r.Since.IsZero() && (y < 1 || y > 9999) { // what JSON can say
		bad("since %s: want a time of the years 1 to 9999 in UTC", r.Since)
	}
	if r.Clear && r.DryRun {
		bad("clear: not together with dry_run, which removes nothing")
	}
	if r.Resume && r.DryRun {
		bad("resume: not together with dry_run, which keeps no checkpoint")
	}
	if r.Rate < 0 || r.Rate > MaxRate {
		bad("rate %d: want 0 (no limit) to %d points a second", r.Rate, MaxRate)
	}
	if r.Memory != 0 && (r.Memory < MinMemoryBytes || r.Memory > MaxMemoryBytes) {
		bad("memory %d: want %d to %d bytes", r.Memory, MinMemoryBytes, int64(MaxMemoryBytes))
	}
	return errors.Join(errs...)
}

// differs says with what a run was begun whose checkpoint is none of r: whatever decides which points are taken and what becomes of
// them. Empty: with nothing else.
func (r Request) differs(was Request) string {
	var texts []string
	differ := func(is bool, format string, args ...any) {
		if is {
			texts = append(texts, fmt.Sprintf(format, args...))
		}
	}
	since := "no since"
	if !was.Since.IsZero() {
		since = "since " + was.Since.Format(time.RFC3339Nano)
	}
	differ(r.UserID != was.UserID, "user %q", was.UserID)
	differ(r.AgentID != was.AgentID, "agent %q", was.AgentID)
	differ(!r.Since.Equal(was.Since), "%s", since)
	differ(r.Clear != was.Clear, "clear %v", was.Clear)
	differ(r.NoNeighbors != was.NoNeighbors, "no_neighbors %v", was.NoNeighbors)
	return strings.Join(texts, ", ")
}

// Overlaps reports whether two runs would read the same user's points.
func (r Request) Overlaps(o Request) bool {
	return r.UserID == "" || o.UserID == "" || r.UserID == o.UserID
}

// space returns the user, zero for the whole collection.
func (r Request) space() (graphstore.Space, error) {
	if r.UserID == "" {
		return graphstore.Space{}, nil
	}
	return graphstore.NewSpace(r.UserID)
}
