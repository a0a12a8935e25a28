package backfill_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// BenchmarkNeighbors plans 4,000 points of two users in the embedded store, 128 dimensions, with their neighbours. x-one-by-one is how
// many times as long the same run takes that asks for each point by itself, x-without that of the run over one that asks for no
// neighbours, all in the same run. What is planned is not written.
func BenchmarkNeighbors(b *testing.B) {
	const users, each, dim = 2, 2_000, 128
	store, err := sqlite.New(filepath.Join(b.TempDir(), "vectors.db"), sqlite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	for i := range users {
		if err := store.Upsert(b.Context(), vdbtest.Points(uint64(i), space(b, fmt.Sprint("user-", i)), each, dim)); err != nil {
			b.Fatal(err)
		}
	}
	g := newGraph(b)
	run := func(points backfill.Points, neighbors bool) time.Duration {
		start := time.Now()
		w, err := backfill.New(points, g, newProjector(b), backfill.Config{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		r, err := w.Prepare(backfill.Request{DryRun: true, NoNeighbors: !neighbors})
		if err != nil {
			b.Fatal(err)
		}
		a, err := r.Do(b.Context())
		if err != nil || !a.Done || a.Changed != users*each || (a.Searches == users*each) != neighbors {
			b.Fatalf("%v: %+v", err, a)
		}
		return time.Since(start)
	}
	run(store, true) // reads the vectors into memory
	var together, apart, without time.Duration
	for b.Loop() { // side by side, so that all meet the same machine
		together += run(store, true)
		apart += run(oneByOne{store}, true)
		without += run(store, false)
	}
	b.ReportMetric(float64(together.Microseconds())/float64(b.N*users*each), "us/point")
	b.ReportMetric(apart.Seconds()/together.Seconds(), "x-one-by-one")
	b.ReportMetric(together.Seconds()/without.Seconds(), "x-without")
	b.ReportMetric(0, "ns/op")
}
