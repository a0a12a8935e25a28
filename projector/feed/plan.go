package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/sourcegraph/conc/panics"
)

// planFunc plans one event against the graph of its space.
type planFunc func(view *graphstore.Snapshot, ev projector.Event) (projector.Planned, error)

// draft is a batch on its way into one transaction.
type draft struct {
	graph Graph
	plan  planFunc
	views map[graphstore.Space]*graphstore.Snapshot // with the changes of the events planned so far

	planned   []*delivery
	plans     [][]graphstore.Change // of planned
	unchanged int                   // of planned
	report    projector.Report
}

// add plans one event against its space as the events before it leave it. A planError is the event's own fault and
// leaves the draft as it was; any other error is the graph's.
func (d *draft) add(ctx context.Context, dv *delivery) error {
	space := dv.event.Space
	view, ok := d.views[space]
	if !ok {
		var err error
		if view, err = d.graph.Snapshot(ctx, space); err != nil {
			return fmt.Errorf("read graph of %s: %w", graphstore.Shorten(space.UserID()), err)
		}
		d.views[space] = view
	}
	var planned projector.Planned
	next := view
	err := guard(func() (err error) {
		if planned, err = d.plan(view, dv.event); err != nil || len(planned.Changes) == 0 {
			return err
		}
		next, err = view.With(planned.Changes)
		return err
	})
	if err != nil {
		return planError{err}
	}
	d.views[space] = next
	d.planned = append(d.planned, dv)
	d.plans = append(d.plans, planned.Changes)
	d.report.Add(planned.Report)
	if len(planned.Changes) == 0 {
		d.unchanged++
	}
	return nil
}

// planError is an event's own fault, found while planning it.
type planError struct{ error }

func (e planError) Unwrap() error { return e.error }

// guard turns a panic of fn into an error.
func guard(fn func() error) (err error) {
	if recovered := panics.Try(func() { err = fn() }); recovered != nil {
		return fmt.Errorf("%w: %v", errPanic, recovered.Value)
	}
	return err
}

// attempt plans the events and commits them in one transaction. Those that cannot be planned are buried; with a nil
// error all others are applied. With an error none is, they are not settled, and the caller decides.
func (f *Feed) attempt(ctx context.Context, ds []*delivery) error {
	start := time.Now()
	d := draft{graph: f.graph, plan: f.env.plan, views: map[graphstore.Space]*graphstore.Snapshot{}}
	changes, err := f.commit(ctx, &d, ds)
	f.cfg.Hooks.Batch(BatchStats{
		Events: len(d.planned), Unchanged: d.unchanged, Spaces: len(d.views), Changes: changes, Report: d.report,
		Took: time.Since(start), Err: err,
	})
	if err != nil {
		return err
	}
	for _, dv := range d.planned {
		f.settle(ctx, dv, applied())
	}
	f.counters.unchanged.Add(uint64(d.unchanged))
	f.counters.withdrawn.Add(uint64(d.report.Withdrawn))
	f.counters.forgotten.Add(uint64(d.report.Forgotten))
	return nil
}

func (f *Feed) commit(ctx context.Context, d *draft, ds []*delivery) (changes int, err error) {
	for _, dv := range ds {
		err := d.add(ctx, dv)
		var own planError
		if errors.As(err, &own) {
			f.settle(ctx, dv, buried(ReasonPlan, own))
		} else if err != nil {
			return 0, err
		}
	}
	all := projector.Coalesce(d.plans...)
	if len(all) == 0 {
		return 0, nil
	}
	mark, start := f.markAfter(d.planned), time.Now()
	err = guard(func() error { return f.graph.ApplyMarked(ctx, all, mark) })
	f.resize(len(ds), time.Since(start), err)
	if err != nil {
		return len(all), fmt.Errorf("apply %d changes: %w", len(all), err)
	}
	f.counters.commits.Add(1)
	f.marked(mark)
	return len(all), nil
}

// resize adapts the size of the batches to come to a commit of so many events.
func (f *Feed) resize(events int, took time.Duration, err error) {
	if permanent(err) { // says nothing of the store
		return
	}
	f.loop.size.committed(events == f.loop.whole, took, err)
	f.batch.Store(int64(f.loop.size.now))
}
