package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// Defaults of [Config].
const (
	DefaultBudget          = 50 * time.Millisecond
	DefaultBreakerFailures = 5
	DefaultBreakerPause    = 30 * time.Second
	DefaultDenseWeight     = 0.7
	DefaultKeywordHalf     = 5.0
)

// Graph is where the reader gets its snapshots: [github.com/kithgraph/kith/graphstore/live.Graph], or anything like it.
type Graph interface {
	// Acquire returns the newest snapshot of the space, at once or as soon as there is one, or why there is none. It
	// returns when ctx ends.
	Acquire(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error)
}

// Hooks tell the embedding program what happens; nil fields do nothing. They run on the path of the search: be quick.
type Hooks struct {
	Searched func(Answer, time.Duration) // after every search that has an answer
	Failed   func(error)                 // after every search that has none
}

func (h Hooks) withDefaults() Hooks {
	if h.Searched == nil {
		h.Searched = func(Answer, time.Duration) {}
	}
	if h.Failed == nil {
		h.Failed = func(error) {}
	}
	return h
}

// Config of a Reader.
type Config struct {
	// Rerank is the ranking's settings. Required: start from [rerank.DefaultSettings].
	Rerank rerank.Settings
	// GraphOff leaves the graph out of queries that do not ask for it. Defaults to false.
	GraphOff bool
	// Budget is the longest time a search waits for the graph stages together. Six tenths of it are for the user's graph, which may
	// not be in memory; what a stage does not need is there for the next. Defaults to DefaultBudget;
	// MEMORY_GRAPH_BUDGET_MS.
	Budget time.Duration
	// Hybrid says how the two channels of a hybrid recall are fused.
	Hybrid Hybrid
	// Embedder makes vectors of queries that have none. Without one such queries are searched by keyword. Its time is bounded by the
	// search's context and by itself.
	Embedder Embedder
	// AppliedSeq returns the stream sequence up to which all events are in the graph, for Query.MinSeq; nil: there is no stream, and
	// answers say 0.
	AppliedSeq func() uint64
	// BreakerFailures is the number of failures in a row after which the graph stage is skipped for BreakerPause, then
	// probed by one search. Default to DefaultBreakerFailures and DefaultBreakerPause.
	BreakerFailures int
	BreakerPause    time.Duration
	// Now is the clock for the validity of facts, and for nothing else. Defaults to time.Now.
	Now func() time.Time
	// Logger receives one line when the graph's stages or the embedder begin to fail and one when they work again, each panic of a
	// stage, and each search for which the vector store returned facts of another user. Defaults to slog.Default().
	Logger *slog.Logger
	Hooks  Hooks
}

// Hybrid weighs the channels of a hybrid recall: DenseWeight*d + (1-DenseWeight)*s/(s+KeywordHalf), with d the calibrated
// cosine and s the BM25 score.
type Hybrid struct {
	// DenseWeight is in (0, 1]. Defaults to DefaultDenseWeight; MEMORY_GRAPH_HYBRID_DENSE_WEIGHT.
	DenseWeight float64
	// KeywordHalf is the BM25 score that counts as one half, > 0. Defaults to DefaultKeywordHalf: about what one rare word of a short
	// fact gets among some thousand. MEMORY_GRAPH_HYBRID_KEYWORD_HALF.
	KeywordHalf float64
}

func (c Config) withDefaults() Config {
	c.Hybrid.DenseWeight = cmp.Or(c.Hybrid.DenseWeight, DefaultDenseWeight)
	c.Hybrid.KeywordHalf = cmp.Or(c.Hybrid.KeywordHalf, DefaultKeywordHalf)
	c.Budget = cmp.Or(c.Budget, DefaultBudget)
	c.BreakerFailures = cmp.Or(c.BreakerFailures, DefaultBreakerFailures)
	c.BreakerPause = cmp.Or(c.BreakerPause, DefaultBreakerPause)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Hooks = c.Hooks.withDefaults()
	return c
}

func (c Config) validate() error {
	var errs []error
	if c.Budget < 0 {
		errs = append(errs, fmt.Errorf("budget %s: want more than 0", c.Budget))
	}
	if c.BreakerFailures < 1 {
		errs = append(errs, fmt.Errorf("breaker failures %d: want 1 or more", c.BreakerFailures))
	}
	if c.BreakerPause < 0 {
		errs = append(errs, fmt.Errorf("breaker pause %s: want more than 0", c.BreakerPause))
	}
	if w := c.Hybrid.DenseWeight; !(w > 0 && w <= 1) {
		errs = append(errs, fmt.Errorf("MEMORY_GRAPH_HYBRID_DENSE_WEIGHT %v: want more than 0, at most 1", w))
	}
	if h := c.Hybrid.KeywordHalf; !(h > 0) || math.IsInf(h, 0) {
		errs = append(errs, fmt.Errorf("MEMORY_GRAPH_HYBRID_KEYWORD_HALF %v: want a number above 0", h))
	}
	return errors.Join(errs...)
}

// Reader answers searches. It is safe for concurrent use and keeps no state between them but the breaker.
type Reader struct {
	vectors      vdb.Store
	graph        Graph
	ranker       *rerank.Ranker
	cfg          Config
	log          *slog.Logger
	trouble      trouble
	embedTrouble trouble
	running      sync.WaitGroup // graph stages that outlived their budget
	stages       stages

	breakers breakers
	clock    func() time.Time // for durations
}

// New returns a reader over a vector store and a graph; a nil graph means there is none, and every answer is the
// recall's. The reader owns neither: close them after [Reader.Close].
func New(vectors vdb.Store, graph Graph, cfg Config) (*Reader, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("reader configuration: %w", err)
	}
	ranker, err := rerank.New(cfg.Rerank)
	if err != nil {
		return nil, err
	}
	r := &Reader{vectors: vectors, graph: graph, ranker: ranker, cfg: cfg, log: cfg.Logger.With("component", "reader")}
	r.stages = stages{
		rank: ranker.Rerank, nominate: ranker.Nominate, score: vectors.Score, admit: ranker.Admit, paths: ranker.Paths,
	}
	if graph != nil {
		r.stages.view = graph.Acquire
	}
	r.breakers, r.clock = newBreakers(cfg), time.Now
	r.trouble.what, r.trouble.then = "graph stage", "keep what the stages before it made"
	r.embedTrouble.what, r.embedTrouble.then = "embeddings endpoint", "with a text go by keyword"
	return r, nil
}

// Close waits for graph stages that outlived their budget. No Search may run or start.
func (r *Reader) Close() { r.running.Wait() }

// Search answers one query.
//
// Errors: [ErrBadQuery] (with [*vdb.DimensionError] where the vector has another length than the collection's),
// [vdb.ErrNoCollection], [vdb.ErrUnavailable], [vdb.ErrUnsupported] (text only, and the store has no keyword index), the
// context's own error; with [GraphStrict] also what failed in the graph stage. A user without facts has an answer without
// results.
func (r *Reader) Search(ctx context.Context, q Query) (Answer, error) {
	start := time.Now()
	a, err := r.search(ctx, q.withDefaults())
	if err != nil {
		r.cfg.Hooks.Failed(err)
		return Answer{}, err
	}
	r.cfg.Hooks.Searched(a, time.Since(start))
	return a, nil
}

func (r *Reader) search(ctx context.Context, q Query) (Answer, error) {
	if err := q.validate(); err != nil {
		return Answer{}, err
	}
	var applied uint64
	if r.cfg.AppliedSeq != nil {
		applied = r.cfg.AppliedSeq()
	}
	found, err := r.find(ctx, &q)
	if err != nil {
		return Answer{}, err
	}
	a := plainAnswer(found, q.K)
	a.AppliedSeq, a.MinSeqApplied = applied, r.cfg.AppliedSeq != nil && applied >= q.MinSeq
	a.Rerank = Rerank{Foreign: found.foreign, RecallTook: found.took}
	if err := r.applyGraph(ctx, q, found, &a); err != nil {
		return Answer{}, err
	}
	return a, nil
}
