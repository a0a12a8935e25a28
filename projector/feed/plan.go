package feed

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/panics"
)

// planFunc plans one event against the graph of its space.
type planFunc func(view *graphstore.Snapshot, ev projector.Event) (projector.Planned, error)

// draft is a batch on its way into one transaction. Spaces have nothing to do with each other, so each is planned by
// itself, as many at a time as there are processors; the events of one space are planned in their order.
type draft struct {
	graph Graph
	plan  planFunc

	spaces []*spaceDraft

	planned   []*delivery
	unchanged int // of planned
	report    projector.Report
}

// spaceDraft is the part of a draft that is about one space.
type spaceDraft struct {
	space  graphstore.Space
	view   *graphstore.Snapshot // with the changes of the events planned so far
	events []*delivery

	plans     [][]graphstore.Change
	changes   []graphstore.Change // of all plans
	unchanged int
	report    projector.Report
	failed    map[*delivery]planError
}

// add plans the events and returns those that cannot be, with the reason, which is their own fault and leaves the draft as it
// would be without them. An error is the graph's.
func (d *draft) add(ctx context.Context, ds []*delivery) (map[*delivery]planError, error) {
	if err := d.sort(ctx, ds); err != nil {
		return nil, err
	}
	iter.ForEach(d.spaces, func(s **spaceDraft) { (*s).planAll(d.plan) })
	failed := map[*delivery]planError{}
	for _, s := range d.spaces {
		maps.Copy(failed, s.failed)
		d.report.Add(s.report)
		d.unchanged += s.unchanged
	}
	for _, dv := range ds {
		if _, bad := failed[dv]; !bad {
			d.planned = append(d.planned, dv)
		}
	}
	return failed, nil
}

// sort deals the events out to their spaces and reads these. The largest comes first, so that none is waited for alone.
func (d *draft) sort(ctx context.Context, ds []*delivery) error {
	bySpace := map[graphstore.Space]*spaceDraft{}
	for _, dv := range ds {
		space := dv.event.Space
		s, ok := bySpace[space]
		if !ok {
			view, err := d.graph.Snapshot(ctx, space)
			if err != nil {
				return fmt.Errorf("read graph of %s: %w", graphstore.Shorten(space.UserID()), err)
			}
			s = &spaceDraft{space: space, view: view, failed: map[*delivery]planError{}}
			bySpace[space] = s
			d.spaces = append(d.spaces, s)
		}
		s.events = append(s.events, dv)
	}
	slices.SortStableFunc(d.spaces, func(a, b *spaceDraft) int { return len(b.events) - len(a.events) })
	return nil
}

func (s *spaceDraft) planAll(plan planFunc) {
	for _, dv := range s.events {
		if err := s.planOne(plan, dv); err != nil {
			s.failed[dv] = planError{err}
		}
	}
	s.changes = projector.Coalesce(s.plans...)
}

// planOne plans one event against the space as the events before it leave it.
func (s *spaceDraft) planOne(plan planFunc, dv *delivery) error {
	var planned projector.Planned
	next := s.view
	err := guard(func() (err error) {
		if planned, err = plan(s.view, dv.event); err != nil || len(planned.Changes) == 0 {
			return err
		}
		next, err = s.view.With(planned.Changes)
		return err
	})
	if err != nil {
		return err
	}
	s.view = next
	s.plans = append(s.plans, planned.Changes)
	s.report.Add(planned.Report)
	if len(planned.Changes) == 0 {
		s.unchanged++
	}
	return nil
}

// changes returns all changes of all spaces, in the order of the ids of their users.
func (d *draft) changes() []graphstore.Change {
	slices.SortFunc(d.spaces, func(a, b *spaceDraft) int { return cmp.Compare(a.space.UserID(), b.space.UserID()) })
	n := 0
	for _, s := range d.spaces {
		n += len(s.changes)
	}
	all := make([]graphstore.Change, 0, n)
	for _, s := range d.spaces {
		all = append(all, s.changes...)
	}
	return all
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
	d := draft{graph: f.graph, plan: f.env.plan}
	changes, err := f.commit(ctx, &d, ds)
	f.cfg.Hooks.Batch(BatchStats{
		Events: len(d.planned), Unchanged: d.unchanged, Spaces: len(d.spaces), Changes: changes, Report: d.report,
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
	if f.cfg.Turn != nil {
		done, err := f.cfg.Turn(ctx)
		if err != nil {
			return 0, fmt.Errorf("wait for the turn to plan: %w", err)
		}
		defer done()
	}
	failed, err := d.add(ctx, ds)
	if err != nil {
		return 0, err
	}
	for _, dv := range ds {
		if own, bad := failed[dv]; bad {
			f.settle(ctx, dv, buried(ReasonPlan, own))
		}
	}
	all := d.changes()
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
