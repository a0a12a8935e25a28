package live_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

// fixedStore yields the same records again and again, without the work of a store, and commits nothing.
type fixedStore struct {
	*graphstoretest.Memory
	head    graphstore.Head
	records []graphstore.Change // nodes before edges
}

func newFixedStore(users, facts int) *fixedStore {
	s := &fixedStore{Memory: graphstoretest.NewMemory(), records: graphstoretest.Graph(1, users, facts)}
	slices.SortStableFunc(s.records, func(a, b graphstore.Change) int { return one(a.Edge != nil) - one(b.Edge != nil) })
	for _, c := range s.records {
		s.head.Digest.Add(c)
	}
	return s
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *fixedStore) LoadAll(_ context.Context, yield func(graphstore.Change) error) error {
	for _, c := range s.records {
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *fixedStore) Load(_ context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	for _, c := range s.records {
		if c.Space == space {
			if err := yield(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *fixedStore) Head(context.Context) (graphstore.Head, error) { return s.head, nil }

func (s *fixedStore) ApplyMarked(context.Context, []graphstore.Change, graphstore.Mark) error {
	return nil
}

// fastest returns the time of one call of each function, from the fastest of so many turns.
func fastest(turns int, fs ...func()) []float64 {
	least := make([]float64, len(fs))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for range turns {
		for i, f := range fs {
			start := time.Now()
			f()
			least[i] = min(least[i], float64(time.Since(start)))
		}
	}
	return least
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLoad loads 20 users of 1,000 facts and about 5,000 edges. x-store is the time to the store's own, where the
// store is graphstoretest.Memory (which copies every record); ns/record is over a store that costs nothing.
func BenchmarkLoad(b *testing.B) {
	ctx := context.Background()
	fixed := newFixedStore(20, 1_000)
	memory, _ := filled(b, 20, 1_000)
	load := func(s graphstore.Store, limit int64) func() {
		return func() {
			cfg := quiet()
			cfg.MaxBytes = limit
			g := live.New(s, cfg)
			must(b, g.Load(ctx))
			g.Close()
		}
	}
	for b.Loop() {
		load(fixed, 0)()
	}
	b.StopTimer()
	took := fastest(3, load(fixed, 0), load(fixed, 1), load(memory, 0),
		func() { must(b, memory.LoadAll(ctx, func(graphstore.Change) error { return nil })) })
	b.ReportMetric(took[0]/float64(len(fixed.records)), "ns/record")
	b.ReportMetric(took[1]/float64(len(fixed.records)), "ns/counted")
	b.ReportMetric(20_000/took[0]*1e9, "facts/s")
	b.ReportMetric(took[2]/took[3], "x-store")
}

// BenchmarkApply writes a graph of 2,000 facts in transactions of 20 records; x-store is the time to that of the same
// store, graphstoretest.Memory, alone.
func BenchmarkApply(b *testing.B) {
	ctx := context.Background()
	pieces := slices.Collect(slices.Chunk(graphstoretest.Graph(1, 2, 1_000), 20))
	run := func(s graphstore.Store) {
		for _, p := range pieces {
			must(b, s.Apply(ctx, p))
		}
	}
	through := func() {
		g := live.New(graphstoretest.NewMemory(), quiet())
		must(b, g.Load(ctx))
		for _, p := range pieces {
			must(b, g.Apply(ctx, p))
		}
		g.Close()
	}
	for b.Loop() {
		through()
	}
	b.StopTimer()
	took := fastest(5, through, func() { run(graphstoretest.NewMemory()) })
	b.ReportMetric(took[0]/float64(len(pieces)), "ns/commit")
	b.ReportMetric(took[0]/took[1], "x-store")
}

// BenchmarkCommit is what a commit of four records costs beside the store's part: the next snapshot, the digest,
// publishing. x-view is how many reads of a snapshot take as long.
func BenchmarkCommit(b *testing.B) {
	for _, facts := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprintf("facts=%d", facts), func(b *testing.B) {
			ctx := context.Background()
			g := live.New(newFixedStore(1, facts), quiet())
			must(b, g.Load(ctx))
			s := graphstoretest.SpaceName(0)
			n := 0
			commit := func() {
				n++
				id := fmt.Sprint("new", n)
				by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
				must(b, g.Apply(ctx, []graphstore.Change{fact(s, id),
					graphstore.PutEdge(s, graphstore.Edge{Source: id, Target: "entity-1", Type: graphstore.Mentions, Weight: 1, Asserter: by}),
					graphstore.PutEdge(s, graphstore.Edge{Source: id, Target: "tag 1", Type: graphstore.TaggedWith, Weight: 1, Asserter: by}),
					graphstore.PutEdge(s, graphstore.Edge{Source: id, Target: fmt.Sprint("new", max(1, n-1)), Type: graphstore.Causes, Weight: 1, Asserter: by})}[:3+one(n > 1)]))
			}
			b.ReportAllocs()
			for b.Loop() {
				commit()
			}
			b.StopTimer()
			took := fastest(20, commit, func() {
				for range 1000 {
					if _, err := g.View(s); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(took[0], "best-ns")
			b.ReportMetric(took[1]/1000, "view-ns")
			b.ReportMetric(took[0]/took[1]*1000, "x-view")
		})
	}
}

// BenchmarkReload reads one user again that was evicted; x-store is the time to reading the records alone.
func BenchmarkReload(b *testing.B) {
	for _, facts := range []int{2_000, 20_000} {
		b.Run(fmt.Sprintf("facts=%d", facts), func(b *testing.B) {
			ctx := context.Background()
			store, bytes := filled(b, 2, facts)
			g := loadedWithin(b, store, max(bytes[0], bytes[1])+bytes[0]/2)
			user := 0
			next := func() {
				user = 1 - user
				acquire(b, g, graphstoretest.SpaceName(user))
			}
			for b.Loop() {
				next()
			}
			b.StopTimer()
			took := fastest(4, next, func() {
				must(b, store.Load(ctx, graphstoretest.SpaceName(user), func(graphstore.Change) error { return nil }))
			})
			b.ReportMetric(float64(facts)/took[0]*1e9, "facts/s")
			b.ReportMetric(took[0]/took[1], "x-store")
		})
	}
}
