package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// Defaults of [Config] and [Request].
const (
	DefaultMemoryBytes = 32 << 20
	DefaultInFlight    = 4
	DefaultSearchBatch = 64
	DefaultPatience    = 2 * time.Minute
	DefaultBulkFrom    = 10_000
	DefaultTurnTarget  = 500 * time.Millisecond
)

// Config says how backfills work, whatever they are of.
type Config struct {
	// Dir is the directory of checkpoints; made if need be. Required.
	Dir string
	// Source says which collection the points are of and how their payloads are read, in words; no credentials. A checkpoint of another
	// source is not resumed. Defaults to the empty text.
	Source string
	// MinScore is the lowest cosine of a semantic_neighbor edge, in (0, 1]; it must be the projector's. Defaults to
	// [projector.DefaultEdgeMinScore].
	MinScore float64
	// Neighbors is how many best neighbours of a fact become edges; it must be the projector's. Defaults to
	// [projector.DefaultMaxNeighbors].
	Neighbors int
	// InFlight is how many batches of neighbour searches are asked at a time, 1 to 64. Defaults to [DefaultInFlight].
	InFlight int
	// SearchBatch is how many neighbour searches are asked in one call, 1 to [vdb.MaxQueries]; of one user where a page has so many.
	// More are faster up to some hundred, and keep the store from other searches for longer. A store that fails at a batch is asked
	// for smaller ones. Defaults to [DefaultSearchBatch].
	SearchBatch int
	// Patience is how long a vector store or a graph that cannot be reached is asked again before a run gives up, leaving its
	// checkpoint. Defaults to [DefaultPatience].
	Patience time.Duration
	// TurnTarget is how long a page may take to be planned and committed, while which events wait: pages are as large as that
	// allows. Larger pages are fewer transactions, and faster. Defaults to [DefaultTurnTarget].
	TurnTarget time.Duration
	// BulkFrom is of how many points on a run of the whole collection writes the graph anew, if the graph has less than half as many
	// facts and can be ([Rewriter]). Defaults to [DefaultBulkFrom].
	BulkFrom int64
	// LastSeq returns the last sequence of the event stream, noted before the scan. Defaults to none: there is no stream.
	LastSeq func() (uint64, error)
	// CaughtUp returns when the events that are in the stream now have been projected; a verification waits for it before it looks
	// again at what it found. Defaults to none: there is no stream, or nobody projects it.
	CaughtUp func(ctx context.Context) error
	// Verifying is told how far a verification is, a few times a second, from one goroutine. Defaults to nobody.
	Verifying func(VerifyReport)
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.MinScore = cmp.Or(c.MinScore, projector.DefaultEdgeMinScore)
	c.Neighbors = cmp.Or(c.Neighbors, projector.DefaultMaxNeighbors)
	c.InFlight = cmp.Or(c.InFlight, DefaultInFlight)
	c.SearchBatch = cmp.Or(c.SearchBatch, DefaultSearchBatch)
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	c.TurnTarget = cmp.Or(c.TurnTarget, DefaultTurnTarget)
	c.BulkFrom = cmp.Or(c.BulkFrom, DefaultBulkFrom)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func (c Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Dir == "" {
		bad("dir is empty: want the directory of checkpoints")
	}
	if !(c.MinScore > 0 && c.MinScore <= 1) { // also catches NaN
		bad("min score %v: want more than 0 and at most 1", c.MinScore)
	}
	if c.Neighbors < 1 || c.Neighbors > 100 {
		bad("neighbors %d: want 1 to 100", c.Neighbors)
	}
	if c.InFlight < 1 || c.InFlight > 64 {
		bad("in flight %d: want 1 to 64", c.InFlight)
	}
	if c.SearchBatch < 1 || c.SearchBatch > vdb.MaxQueries {
		bad("search batch %d: want 1 to %d", c.SearchBatch, vdb.MaxQueries)
	}
	if most := vdb.MaxQueryMatches / (max(c.Neighbors, 0) + 1); c.SearchBatch > most {
		bad("search batch %d with neighbors %d: want at most %d", c.SearchBatch, c.Neighbors, most)
	}
	if c.Patience < 0 {
		bad("patience %v: want more than 0", c.Patience)
	}
	if c.TurnTarget < 0 || c.BulkFrom < 0 {
		bad("turn target %v, bulk from %d: want more than 0", c.TurnTarget, c.BulkFrom)
	}
	return errors.Join(errs...)
}
