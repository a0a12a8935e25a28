package backfill

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// The kinds of drift.
const (
	DriftMissingNode         = "missing_node"         // a point whose fact is not in the graph, or merely named there
	DriftNoPoint             = "no_point"             // a fact that is present in the graph and whose point is not in the store
	DriftState               = "state"                // another state than the point, or the fact's own history, says
	DriftField               = "field"                // another value of a field, or none
	DriftMissingContribution = "missing_contribution" // an edge that the point says and the graph has not
	DriftStaleContribution   = "stale_contribution"   // an edge in the name of a fact that does not say it, or says it otherwise
	DriftDerivedEdge         = "derived_edge"         // co_occurs, temporal_next or evidence that does not follow from the facts
	DriftOrphan              = "orphan"               // an entity, topic or unseen fact that nothing leads to
	DriftCount               = "count"                // an entity or topic whose count or wording is not that of its facts
)

// DriftKinds returns all kinds, in the order of the documentation.
func DriftKinds() []string {
	return []string{
		DriftMissingNode, DriftNoPoint, DriftState, DriftField, DriftMissingContribution, DriftStaleContribution, DriftDerivedEdge, DriftOrphan, DriftCount,
	}
}

// maxExamples bounds the findings of one kind that are listed.
const maxExamples = 20

// VerifyRequest says what to verify, and whether to repair it.
type VerifyRequest struct {
	UserID    string `json:"user_id,omitempty" minLength:"1" maxLength:"512" doc:"Only this user; absent: all that the store or the graph has."`
	Sample    int    `json:"sample,omitempty" minimum:"0" doc:"Only so many users, drawn at random; absent: all."`
	Points    int    `json:"points,omitempty" minimum:"0" doc:"Of one user at most so many points, and as many facts that are looked up by their ids; absent: all."`
	Seed      uint64 `json:"seed,omitempty" maximum:"9007199254740991" doc:"Of the sample: the same seed draws the same of the same users; absent: a random one, which the answer names."`
	Neighbors bool   `json:"neighbors,omitempty" doc:"Also semantic_neighbor edges, by a search for each point."`
	Repair    bool   `json:"repair,omitempty" doc:"Repair what is found."`
	DryRun    bool   `json:"dry_run,omitempty" doc:"With repair: say what it would change, and change nothing."`
	Memory    int64  `json:"memory,omitempty" minimum:"0" doc:"Bytes that a page of points in hand may take; absent: the default."`
}

// Check returns what is wrong with the request, as [Request.Check] does.
func (r VerifyRequest) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.Sample < 0 {
		bad("sample %d: want 0 (all users) or more", r.Sample)
	}
	if r.Points < 0 {
		bad("points %d: want 0 (all of a user) or more", r.Points)
	}
	if r.Sample > 0 && r.UserID != "" {
		bad("sample %d: not together with a user", r.Sample)
	}
	if r.Seed > MaxSeed {
		bad("seed %d: want 1 to %d, or none", r.Seed, uint64(MaxSeed))
	}
	if r.Seed > 0 && r.Sample == 0 && r.Points == 0 {
		bad("seed %d: only with sample or points, since nothing else is drawn", r.Seed)
	}
	if r.DryRun && !r.Repair {
		bad("dry_run: only with repair, since nothing else writes")
	}
	if err := (Request{UserID: r.UserID, Memory: r.Memory}).Check(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Drift is one thing in which graph and store, or the graph and itself, do not agree.
type Drift struct {
	Kind   string `json:"kind"`
	UserID string `json:"user_id"`
	ID     string `json:"id"`   // of the fact, entity or topic; of an edge, of the fact that says it or that it leads from
	What   string `json:"what"` // what differs
}

// VerifyReport is what a verification found.
type VerifyReport struct {
	Request VerifyRequest `json:"request"`
	Started time.Time     `json:"started"`
	TookMS  int64         `json:"took_ms"`

	Users    int64   `json:"users"`    // that were verified
	AllUsers int64   `json:"of_users"` // that there are
	Points   int64   `json:"points"`   // of those users, that are facts
	Covered  int64   `json:"covered"`  // points with a node in the graph, also one of a deleted fact
	Coverage float64 `json:"coverage"` // Covered / Points; 1 without points
	Skipped  int64   `json:"skipped"`  // points of the collection that are no facts
	BadFacts int64   `json:"bad_facts"`
	Partial  int64   `json:"partial_users"` // of the users, those with more points than were to be looked at
	Unlooked int64   `json:"unlooked"`      // points of those that were not looked at, about: others may come and go

	Clean    bool             `json:"clean"` // nothing that was looked at drifted, or all of it was repaired
	Drift    map[string]int64 `json:"drift"` // by kind; every kind is there
	Drifted  int64            `json:"drifted_users"`
	Passed   int64            `json:"passed"` // found at the first look and not at the second: events on their way
	Examples []Drift          `json:"examples"`
	Written  map[string]int64 `json:"written"` // records that the repair has put, or would; by kind of record
	Removed  map[string]int64 `json:"removed"`
	Repaired int64            `json:"repaired_users"`
	Problems []string         `json:"problems"`
	perKind  map[string]int
}

func newVerifyReport(req VerifyRequest) *VerifyReport {
	v := &VerifyReport{
		Request: req, Started: time.Now().UTC(), Drift: map[string]int64{}, Examples: []Drift{}, Problems: []string{},
		Written: map[string]int64{}, Removed: map[string]int64{}, perKind: map[string]int{},
	}
	for _, kind := range DriftKinds() {
		v.Drift[kind] = 0
	}
	return v
}

// found takes in what was found of one user.
func (v *VerifyReport) found(list []Drift) {
	if len(list) > 0 {
		v.Drifted++
	}
	for _, d := range list {
		v.Drift[d.Kind]++
		if v.perKind[d.Kind]++; v.perKind[d.Kind] <= maxExamples {
			v.Examples = append(v.Examples, d)
		}
	}
}

// problem notes one of the first problems of a kind.
func (v *VerifyReport) problem(kind, format string, args ...any) {
	if v.perKind[kind]++; v.perKind[kind] <= maxListed {
		v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
	}
}

// changes takes in what a repair changes.
func (v *VerifyReport) changes(list []graphstore.Change) {
	a := Account{Written: v.Written, Removed: v.Removed}
	a.wrote(list)
}

func (v *VerifyReport) end() {
	v.TookMS = time.Since(v.Started).Milliseconds()
	v.Clean = v.Drifted == v.Repaired
	v.Coverage = 1
	if v.Points > 0 {
		v.Coverage = float64(v.Covered) / float64(v.Points)
	}
}

// clone returns a copy that shares nothing, with what follows from the counts.
func (v *VerifyReport) clone() VerifyReport {
	out := *v
	out.Drift, out.Written, out.Removed = maps.Clone(v.Drift), maps.Clone(v.Written), maps.Clone(v.Removed)
	out.Examples, out.Problems, out.perKind = slices.Clone(v.Examples), slices.Clone(v.Problems), nil
	out.end()
	return out
}
