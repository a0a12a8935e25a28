package kuzu

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// fill applies a generated graph in pieces.
func fill(b *testing.B, s graphstore.Store, all []graphstore.Change) {
	b.Helper()
	for piece := range slices.Chunk(all, 5000) {
		if err := s.Apply(b.Context(), piece); err != nil {
			b.Fatal(err)
		}
	}
}

// newFacts returns facts with three edges each: to a fact of the same transaction, to an entity and to a topic.
func newFacts(from, n int) []graphstore.Change {
	changes := []graphstore.Change{graphstore.PutEntity(ada, graphstore.Entity{ID: "e", Norm: "e", Mentions: from}),
		graphstore.PutTopic(ada, graphstore.Topic{ID: "t", Facts: from})}
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("5a0a5a7e-0000-4000-8000-%012d", i)
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
		f := graphstore.Fact{ID: id, State: graphstore.StateActive, AgentID: "agent", SourceID: "message", MemoryAt: 1, RecordedAt: 1}
		f.Registers.Base = graphstore.Stamp{Version: int64(i), Rank: graphstore.RankAdd, EventID: id}
		changes = append(changes, graphstore.PutFact(ada, f),
			graphstore.PutEdge(ada, graphstore.Edge{Source: id, Target: "e", Type: graphstore.Mentions, Asserter: by, Weight: 1}),
			graphstore.PutEdge(ada, graphstore.Edge{Source: id, Target: "t", Type: graphstore.TaggedWith, Asserter: by, Weight: 1}))
		if i > from {
			first := fmt.Sprintf("5a0a5a7e-0000-4000-8000-%012d", from)
			changes = append(changes, graphstore.PutEdge(ada, graphstore.Edge{Source: id, Target: first, Type: graphstore.Elaborates,
				Asserter: by, Weight: 1}))
		}
	}
	return changes
}

// BenchmarkApply writes new facts with three edges each, checkpoints included. x-memory is how many times longer it takes
// than the store in memory.
func BenchmarkApply(b *testing.B) {
	for _, stored := range []int{0, 20_000} {
		all := graphstoretest.Graph(1, 1, stored)
		for _, size := range []int{1, 10, 100, 500, 2000} {
			b.Run(fmt.Sprintf("stored=%d/facts=%d", stored, size), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "graph")
				if _, _, err := Build(b.Context(), path, BuildConfig{Config: testConfig()}, recordsOf(all)); err != nil {
					b.Fatal(err)
				}
				s := mustOpen(b, path, testConfig())
				defer s.Close()
				memory := graphstoretest.NewMemory()
				var baseline time.Duration
				n := 0
				for b.Loop() {
					changes := newFacts(n, size)
					n += size
					if err := s.Apply(b.Context(), changes); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					start := time.Now()
					if err := memory.Apply(b.Context(), changes); err != nil {
						b.Fatal(err)
					}
					baseline += time.Since(start)
					b.StartTimer()
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "facts/s")
				b.ReportMetric(float64(b.Elapsed())/float64(baseline), "x-memory")
			})
		}
	}
}

// BenchmarkRead loads one space of 20,000 facts with about 110,000 edges, and reads the edges among fifty facts.
func BenchmarkRead(b *testing.B) {
	all := graphstoretest.Graph(1, 1, 20_000)
	s := mustOpen(b, filepath.Join(b.TempDir(), "graph"), testConfig())
	defer s.Close()
	fill(b, s, all)
	memory := graphstoretest.NewMemory()
	fill(b, memory, all)
	space := graphstoretest.SpaceName(0)
	load := func(b *testing.B, s graphstore.Store) (records int) {
		b.Helper()
		err := s.Load(b.Context(), space, func(graphstore.Change) error { records++; return nil })
		if err != nil || records != len(all) {
			b.Fatalf("%d records, %v", records, err)
		}
		return records
	}
	b.Run("load", func(b *testing.B) {
		start := time.Now()
		load(b, memory)
		baseline := time.Since(start)
		for b.Loop() {
			load(b, s)
		}
		perOp := b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(len(all))/perOp.Seconds(), "records/s")
		b.ReportMetric(float64(perOp)/float64(baseline), "x-memory")
	})
	b.Run("pool of 50", func(b *testing.B) {
		var ids []string
		for _, c := range all {
			if c.Fact != nil && len(ids) < 50 {
				ids = append(ids, c.Fact.ID)
			}
		}
		snapshot, err := graphstore.NewSnapshot(space).With(all)
		if err != nil {
			b.Fatal(err)
		}
		start, edges := time.Now(), 0
		for _, id := range ids {
			for _, e := range snapshot.EdgesOf(id) {
				if e.Type != graphstore.Mentions && e.Type != graphstore.TaggedWith && slices.Contains(ids, e.Target) {
					edges++
				}
			}
		}
		baseline := time.Since(start)
		for b.Loop() {
			got, err := s.PoolEdges(b.Context(), space, ids)
			if err != nil || len(got) == 0 {
				b.Fatalf("%d edges, %v", len(got), err)
			}
		}
		b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(baseline), "x-memory")
	})
}
