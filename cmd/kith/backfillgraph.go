package main

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
)

var _ backfill.Graph = (*graphHost)(nil)

// planTurn waits until nobody plans changes of the graph. Who has planned against a snapshot commits before done is called, so that
// the next one plans against what was committed. The feed takes it for each of its batches, a backfill for each page.
func (h *graphHost) planTurn(ctx context.Context) (done func(), err error) {
	select {
	case h.planning <- struct{}{}:
		return func() { <-h.planning }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another writer of the graph: %w", context.Cause(ctx))
	}
}

// Update implements [backfill.Graph].
func (h *graphHost) Update(ctx context.Context, plan func(context.Context, backfill.Views) ([]graphstore.Change, error)) error {
	done, err := h.planTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	g := h.live.Load()
	changes, err := plan(ctx, g.Snapshot)
	if err != nil || len(changes) == 0 {
		return err
	}
	return g.Apply(ctx, changes)
}

// ID implements [backfill.Graph].
func (h *graphHost) ID(ctx context.Context) (string, error) {
	head, err := h.file.Head(ctx)
	return head.ID, err
}
