package main

import (
	"context"
	"fmt"

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

// remains reports whether a record of the user should not be there any more. If nothing of the user is dated later, all but
// the tombstone should not; else what only earlier events settled.
func (f *forgetting) remains(c graphstore.Change) bool {
	forgotten := graphstore.Tombstone{At: f.what.At}
	later := f.out.Log.Later > 0
	switch {
	case c.Tombstone != nil:
		return c.Tombstone.Source != "" && (!later || forgotten.Covers(c.Tombstone.At))
	case !later:
		return true
	case c.Fact != nil:
		return c.Fact.State != graphstore.StateUnseen && forgotten.Covers(c.Fact.Registers.Latest().At)
	case c.Schema != nil:
		return forgotten.Covers(c.Schema.Stamp.At)
	case c.Merge != nil:
		return forgotten.Covers(c.Merge.Stamp.At)
	default:
		return false // it is there as long as one of those is
	}
}

// remaining counts the records of the user in the live graph and in the store that should not be there any more.
func (f *forgetting) remaining(ctx context.Context) (live, stored int, err error) {
	snap, err := f.s.host.live.Load().Snapshot(ctx, f.space)
	if err != nil {
		return 0, 0, fmt.Errorf("read graph: %w", err)
	}
	for c := range snap.Records() {
		if f.remains(c) {
			live++
		}
	}
	err = f.s.host.file.Load(ctx, f.space, func(c graphstore.Change) error {
		if f.remains(c) {
			stored++
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read graph's file: %w", err)
	}
	return live, stored, nil
}
