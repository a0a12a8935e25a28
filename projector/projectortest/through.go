package projectortest

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// Through projects events into a store, one transaction. Each is planned against the graph that the store yields with the
// plans of those before it.
func Through(ctx context.Context, store graphstore.Store, p *projector.Projector, events []projector.Event) error {
	views := map[graphstore.Space]*graphstore.Snapshot{}
	var plans [][]graphstore.Change
	for _, ev := range events {
		view := views[ev.Space]
		if view == nil {
			var err error
			if view, err = Load(ctx, store, ev.Space); err != nil {
				return err
			}
		}
		planned, err := p.Plan(view, ev)
		if err != nil {
			return err
		}
		if views[ev.Space], err = view.With(planned.Changes); err != nil {
			return err
		}
		plans = append(plans, planned.Changes)
	}
	return store.Apply(ctx, projector.Coalesce(plans...))
}

// Load returns the graph of a user as a store yields it.
func Load(ctx context.Context, store graphstore.Store, space graphstore.Space) (*graphstore.Snapshot, error) {
	b := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	if err := store.Load(ctx, space, b.Add); err != nil {
		return nil, err
	}
	return b.Snapshot(), nil
}
