package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/kithgraph/kith/graphstore"
)

// The stages an answer can be degraded at, in their order. Each has its own part of the budget and what the ones before
// left of theirs. Results of a stage that finished stay when a later one fails.
const (
	StageView    = "view"    // the snapshot of the user's graph, and the wait for Query.MinSeq
	StageSupport = "support" // the pool in the graph's order
	StageWalk    = "walk"    // facts outside the pool that the graph puts forward
	StageVectors = "vectors" // their scores, one call to the vector store
	StageAdmit   = "admit"   // the order with those of them that passed
	StagePaths   = "paths"   // how the results connect
	StageBreaker = "breaker" // skipped after failures in a row
)

// Stages returns all stages of the graph.
func Stages() []string {
	return []string{StageView, StageSupport, StageWalk, StageVectors, StageAdmit, StagePaths, StageBreaker}
}

// step is one stage at work.
type step struct {
	stage string
	until float64 // share of the budget by whose end the stage is to be done
	run   func(context.Context, *run) error
}

// group is stages that stand or fall together: what they made counts only when all of them are done.
type group struct {
	name    string
	breaker *breaker
	steps   []step
	apply   func(*run, *Answer)
}

// errNotItsFault tells a breaker of an outcome that says nothing about the stage for other searches: this user has no snapshot in
// time, the caller has gone, or asked for everything.
var errNotItsFault = errors.New("not the stage's fault")

// errBudget is the reason of a stage that took too long.
var errBudget = errors.New("budget spent")

// errHung is that of a stage that did not return when its time was over.
var errHung = fmt.Errorf("%w, and it did not stop", errBudget)

var errPanic = errors.New("panic")

// stageError is a failure of the graph stage with where it happened.
type stageError struct {
	stage string
	err   error
}

func (e *stageError) Error() string { return fmt.Sprintf("graph stage %s: %v", e.stage, e.err) }
func (e *stageError) Unwrap() error { return e.err }

// StageTime is how long a stage took.
type StageTime struct {
	Stage string
	Took  time.Duration
}

// guarded runs a group behind its breaker.
func (r *Reader) guarded(ctx context.Context, g group, w *run) *stageError {
	done, err := g.breaker.Allow()
	if err != nil {
		return &stageError{StageBreaker, fmt.Errorf("%s is skipped after failures in a row: %w", g.name, err)}
	}
	failure := r.watch(ctx, g.steps, w)
	switch {
	case failure == nil:
		done(nil)
	case ctx.Err() != nil, w.q.ExplainAll:
		done(errNotItsFault)
	case failure.stage == StageView && !errors.Is(failure, errPanic) && !errors.Is(failure, errHung):
		done(errNotItsFault)
	default:
		done(failure)
	}
	return failure
}

// watch runs steps on a goroutine of their own, so that a search never waits longer than the budget; Close waits for what is left
// over. The fields of w that a step sets may be read once watch has returned nil.
func (r *Reader) watch(ctx context.Context, steps []step, w *run) *stageError {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan error, len(steps))
	r.running.Go(func() {
		for _, s := range steps {
			err := r.contain(ctx, s, w)
			finished <- err
			if err != nil {
				return
			}
		}
	})
	for _, s := range steps {
		start := time.Now()
		if err := w.await(ctx, s, finished); err != nil {
			return &stageError{s.stage, err}
		}
		w.times = append(w.times, StageTime{s.stage, time.Since(start)})
	}
	return nil
}

// await waits for a step to finish, until its deadline.
func (w *run) await(ctx context.Context, s step, finished <-chan error) error {
	timer := time.NewTimer(time.Until(w.deadline(s)))
	defer timer.Stop()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	select {
	case err := <-finished: // in the same moment
		return err
	default:
		return fmt.Errorf("after %s of %s: %w", time.Since(w.start).Round(time.Millisecond), w.r.cfg.Budget, errHung)
	}
}

// contain runs one step under its deadline and turns a panic into an error.
func (r *Reader) contain(ctx context.Context, s step, w *run) (err error) {
	ctx, cancel := context.WithDeadlineCause(ctx, w.deadline(s), errBudget)
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p := panics.Try(func() { err = s.run(ctx, w) }); p != nil {
		r.log.Error("graph stage panicked", "stage", s.stage, "err", p.AsError())
		return fmt.Errorf("%w: %v", errPanic, p.Value)
	}
	return err
}

// applyGraph ranks the candidates by the graph and puts the outcome into a, which holds the plain answer. It returns an
// error only for the caller's own cancellation and, in a strict query, for a failure of the graph.
func (r *Reader) applyGraph(ctx context.Context, q Query, found recalled, a *Answer) error {
	reason := r.whyNoGraph(q, found)
	if reason != "" {
		a.Rerank.Status, a.Rerank.Reason = StatusDisabled, reason
		if q.Graph == GraphOff || found.by == RecallKeyword || !r.cfg.Rerank.EpisodeRecall {
			return nil
		}
	}
	w := r.newRun(q, found)
	groups := r.groups()
	if reason != "" {
		groups = groups[:1]
		w.noGraph = true
	}
	failure := r.runGroups(ctx, groups, w, a)
	a.Rerank.GraphTook, a.Rerank.Stages = time.Since(w.start), w.times
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if failure != nil {
		if q.Graph == GraphStrict {
			return failure
		}
		r.trouble.begin(r, failure.stage, failure.err)
		a.Rerank.Status, a.Rerank.Stage, a.Rerank.Reason = StatusDegraded, failure.stage, failure.err.Error()
		return nil
	}
	r.trouble.end(r)
	if reason == "" {
		a.Rerank.Status = StatusOK
	}
	return nil
}

// runGroups runs the groups in order until one fails. Without a snapshot, episodes alone may still rank.
func (r *Reader) runGroups(ctx context.Context, groups []group, w *run, a *Answer) *stageError {
	for _, g := range groups {
		failure := r.guarded(ctx, g, w)
		if failure == nil {
			g.apply(w, a)
			continue
		}
		if failure.stage == StageView && r.cfg.Rerank.EpisodeRecall && ctx.Err() == nil {
			alone := r.newRun(w.q, w.found)
			alone.start, alone.noGraph, alone.times = w.start, true, w.times
			g.steps = slices.Clone(g.steps)
			for i := range g.steps {
				g.steps[i].until = 1 // the graph has had its share
			}
			if r.watch(ctx, g.steps, alone) == nil { // it says nothing of the graph: not for the breaker
				g.apply(alone, a)
			}
		}
		return failure
	}
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

// stages is the seam at which tests make a stage fail.
type stages struct {
	view     func(context.Context, graphstore.Space) (*graphstore.Snapshot, error)
	rank     rankFunc
	nominate nominateFunc
	score    scoreFunc
	admit    admitFunc
	paths    pathsFunc
}
