package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

// countGraph counts the user's records in the live graph.
func (f *forgetting) countGraph(ctx context.Context) error {
	snap, err := f.s.host.live.Load().Snapshot(ctx, f.space)
	if err != nil {
		return fmt.Errorf("count graph: %w", err)
	}
	g := server.ForgottenGraph{Edges: map[string]int{}}
	for c := range snap.Records() {
		switch {
		case c.Fact != nil:
			g.Facts++
		case c.Entity != nil:
			g.Entities++
		case c.Topic != nil:
			g.Topics++
		case c.Schema != nil:
			g.Schemas++
		case c.Ref != nil:
			g.Refs++
		case c.Merge != nil:
			g.Merges++
		case c.Tombstone != nil:
			g.Tombstones++
		case c.Edge != nil:
			g.Edges[c.Edge.Type.String()]++
		}
	}
	f.out.Graph = g
	return nil
}

// forgottenAt returns the time of the user's tombstone, absent if there is none.
func (f *forgetting) forgottenAt(ctx context.Context) (graphstore.Instant, error) {
	snap, err := f.s.host.live.Load().Snapshot(ctx, f.space)
	if err != nil {
		return 0, fmt.Errorf("read graph: %w", err)
	}
	c, ok := snap.Record(graphstore.Tombstone{}.Key())
	if !ok {
		return 0, nil
	}
	return c.Tombstone.At, nil
}

// remaining counts the records of the user in the live graph and in the store that should not be there any more.
func (f *forgetting) remaining(ctx context.Context) (live, stored int, err error) {
	snap, err := f.s.host.live.Load().Snapshot(ctx, f.space)
	if err != nil {
		return 0, 0, fmt.Errorf("read graph: %w", err)
	}
	live = f.leftovers(slices.Collect(snap.Records()))
	var records []graphstore.Change
	err = f.s.host.file.Load(ctx, f.space, func(c graphstore.Change) error {
		records = append(records, c)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read graph's file: %w", err)
	}
	return live, f.leftovers(records), nil
}

// leftovers counts what should not be there any more of a user's records. If nothing of the user is dated later, that is all but
// the tombstone.
func (f *forgetting) leftovers(records []graphstore.Change) int {
	if f.out.Log.Later > 0 {
		return len(forgottenAmong(records, f.what.At))
	}
	n := 0
	for _, c := range records {
		if c.Key() != (graphstore.Tombstone{}).Key() {
			n++
		}
	}
	return n
}
