package reader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// The stages an answer can be degraded at.
const (
	StageView    = "view"    // no snapshot of the user
	StageSupport = "support" // the ranking itself
	StageBreaker = "breaker" // skipped after failures in a row
)

// errNotItsFault tells the breaker of an outcome that says nothing about the stage: there is no snapshot, which costs
// nothing to find again, or the caller has gone.
var errNotItsFault = errors.New("not the stage's fault")

// errBudget is the reason of a graph stage that took too long.
var errBudget = errors.New("budget spent")

// stageError is a failure of the graph stage with where it happened.
type stageError struct {
	stage string
	err   error
}

func (e *stageError) Error() string { return fmt.Sprintf("graph stage %s: %v", e.stage, e.err) }
func (e *stageError) Unwrap() error { return e.err }

// applyGraph ranks the candidates by the graph and puts the outcome into a, which holds the plain answer. It returns an
// error only for the caller's own cancellation and, in a strict query, for a failure of the graph.
func (r *Reader) applyGraph(ctx context.Context, q Query, found recalled, a *Answer) error {
	if reason := r.whyNoGraph(q, found); reason != "" {
		a.Rerank.Status, a.Rerank.Reason = StatusDisabled, reason
		return nil
	}
	start := time.Now()
	result, failure := r.guarded(ctx, q, found)
	a.Rerank.GraphTook = time.Since(start)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if failure != nil {
		if q.Graph == GraphStrict {
			return failure
		}
		r.trouble.begin(r, failure)
		a.Rerank.Status, a.Rerank.Stage, a.Rerank.Reason = StatusDegraded, failure.stage, failure.err.Error()
		return nil
	}
	r.trouble.end(r)
	a.Rerank.Status = StatusOK
	a.Rerank.Diagnostics = result.Diagnostics
	a.Rerank.Removed = result.Removed
	a.Results = rankedResults(result.Items, found.matches, q.K)
	return nil
}

func (r *Reader) whyNoGraph(q Query, found recalled) string {
	switch {
	case q.Graph == GraphOff:
		return "the query asks for graph off"
	case r.graph == nil:
		return "there is no graph"
	case q.Graph == GraphDefault && r.cfg.GraphOff:
		return "reranking is off in the configuration"
	case found.by == RecallKeyword:
		return "keyword recall: its scores are no similarities"
	default:
		return ""
	}
}

// guarded runs the stage behind the breaker.
func (r *Reader) guarded(ctx context.Context, q Query, found recalled) (rerank.Result, *stageError) {
	done, err := r.breaker.Allow()
	if err != nil {
		return rerank.Result{}, &stageError{StageBreaker, err}
	}
	result, failure := r.budgeted(ctx, q, found)
	switch {
	case failure == nil:
		done(nil)
	case failure.stage == StageView || ctx.Err() != nil:
		done(errNotItsFault)
	default:
		done(failure)
	}
	return result, failure
}

type outcome struct {
	result  rerank.Result
	failure *stageError
}

// budgeted runs the stage on a goroutine of its own, so that a search never waits longer than the budget; Close waits
// for what is left over.
func (r *Reader) budgeted(ctx context.Context, q Query, found recalled) (rerank.Result, *stageError) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.Budget, errBudget)
	defer cancel()
	finished := make(chan outcome, 1)
	r.running.Go(func() {
		var out outcome
		if p := panics.Try(func() { out.result, out.failure = r.rank(ctx, q, found) }); p != nil {
			out.failure = &stageError{StageSupport, fmt.Errorf("panic: %v", p.Value)}
			r.log.Error("graph stage panicked", "err", p.AsError())
		}
		finished <- out
	})
	select {
	case out := <-finished:
		return out.result, out.failure
	case <-ctx.Done():
		return rerank.Result{}, &stageError{StageSupport, fmt.Errorf("after %s: %w", r.cfg.Budget, context.Cause(ctx))}
	}
}

func (r *Reader) rank(ctx context.Context, q Query, found recalled) (rerank.Result, *stageError) {
	view, err := r.acquire(ctx, q.Space)
	if err != nil {
		return rerank.Result{}, &stageError{StageView, err}
	}
	result, err := r.stages.rank(rerank.Request{
		Space:   q.Space,
		Pool:    candidates(found.matches, view),
		Graph:   view,
		AgentID: q.AgentID,
		Now:     graphstore.InstantOf(r.cfg.Now()),
		ValidAt: graphstore.InstantOf(q.ValidAt),
		Explain: q.Explain,
	})
	if err != nil {
		return rerank.Result{}, &stageError{StageSupport, err}
	}
	return result, nil
}

// acquire waits for the snapshot, but leaves a part of the budget for the ranking: a graph that comes at the last moment is
// of no use, and the answer is to say that it was the graph that did not come.
func (r *Reader) acquire(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.Budget*9/10, errBudget)
	defer cancel()
	return r.stages.view(ctx, space)
}

// candidates translates the matches. A superseded fact is valid up to what retired it, which the graph knows even where
// the payload does not say so.
func candidates(matches []vdb.Match, view *graphstore.Snapshot) []rerank.Candidate {
	pool := make([]rerank.Candidate, len(matches))
	for i := range matches {
		m := &matches[i]
		c := &pool[i]
		*c = rerank.Candidate{
			Space:     m.Space,
			ID:        m.ID,
			Cosine:    m.Score,
			State:     m.Payload.State,
			AgentID:   m.Payload.AgentID,
			EpisodeID: m.Payload.EpisodeID,
			MemoryAt:  graphstore.InstantOf(m.Payload.MemoryAt),
			ValidFrom: graphstore.InstantOf(m.Payload.ValidFrom),
			ValidTo:   graphstore.InstantOf(m.Payload.ValidTo),
		}
		if c.State == graphstore.StateSuperseded.String() {
			c.ValidTo = earlier(c.ValidTo, retiredAt(view, m.ID))
		}
	}
	return pool
}

// retiredAt returns the end of a superseded fact's validity as the graph knows it, absent if it knows none.
func retiredAt(view *graphstore.Snapshot, id string) graphstore.Instant {
	n, ok := view.Node(id)
	if !ok {
		return 0
	}
	_, to := view.Validity(n)
	return to
}

// earlier returns the earlier of two ends, of which an absent one is never.
func earlier(a, b graphstore.Instant) graphstore.Instant {
	if !a.Present() || (b.Present() && b < a) {
		return b
	}
	return a
}

func rankedResults(items []rerank.Ranked, matches []vdb.Match, k int) []Result {
	n := min(k, len(items))
	results := make([]Result, n)
	for i, it := range items[:n] {
		m := &matches[it.Index]
		results[i] = Result{
			ID: it.ID, Score: m.Score, Base: it.Base, GraphScore: it.GraphScore,
			RankBefore: it.Index + 1, RankAfter: i + 1,
			Payload: m.Payload, Explanation: it.Explanation,
		}
	}
	return results
}
