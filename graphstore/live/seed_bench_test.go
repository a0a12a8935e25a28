package live_test

import (
	"context"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/live"
)

// BenchmarkLoadSeed loads 20 users of 1,000 facts and about 5,000 edges from what a store was written with. x-load is its time over that
// of a load of the same graph from a store that costs nothing, so of the records alone. The hashing of the snapshots, which whoever
// writes does user by user, is part of it.
func BenchmarkLoadSeed(b *testing.B) {
	ctx := context.Background()
	fixed := newFixedStore(20, 1_000)
	builders := map[graphstore.Space]*graphstore.Builder{}
	for _, c := range fixed.records {
		if builders[c.Space] == nil {
			builders[c.Space] = graphstore.NewBuilder(graphstore.NewSnapshot(c.Space))
		}
		must(b, builders[c.Space].Add(c))
	}
	var snaps []*graphstore.Snapshot
	for _, builder := range builders {
		snaps = append(snaps, builder.Snapshot())
	}
	load := func() {
		g := live.New(fixed, quiet())
		must(b, g.Load(ctx))
		g.Close()
	}
	plant := func() {
		g := live.New(fixed, quiet())
		must(b, g.LoadSeed(ctx, seedOf(0, snaps...)))
		g.Close()
	}
	for b.Loop() {
		plant()
	}
	b.StopTimer()
	took := fastest(5, plant, load)
	b.ReportMetric(20_000/took[0]*1e9, "facts/s")
	b.ReportMetric(took[0]/took[1], "x-load")
}
