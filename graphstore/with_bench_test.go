package graphstore_test

import (
	"fmt"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// event is what a write of three facts changes: the facts, the edges of their batch, their place in time, what they are
// like, whom they mention, and the entity that becomes better known.
func (p *plausible) event() []graphstore.Change {
	first := len(p.ids)
	var changes []graphstore.Change
	stamp := graphstore.Stamp{Version: int64(first), Rank: graphstore.RankAdd, EventID: p.uuid()}
	batch, source := p.uuid(), p.uuid()
	for i := range 3 {
		f := graphstore.Fact{ID: p.uuid(), State: graphstore.StateActive, Registers: graphstore.Registers{State: stamp, Base: stamp},
			AgentID: "agent", SourceID: source, BatchID: batch, BatchSeq: int32(i), MemoryAt: graphstore.Instant(first)}
		p.ids = append(p.ids, f.ID)
		changes = append(changes, graphstore.PutFact(p.space, f))
	}
	e := p.rng.IntN(p.facts / 10)
	changes = append(changes, graphstore.PutEntity(p.space, graphstore.Entity{ID: entity(e), Type: "person", Name: "Someone else", Norm: "someone else", Mentions: first}))
	put := func(source, target string, t graphstore.RelationType, by graphstore.Asserter) {
		changes = append(changes, graphstore.PutEdge(p.space, graphstore.Edge{Source: source, Target: target, Type: t, Asserter: by, Weight: .5}))
	}
	for i := first; i < first+3; i++ {
		own := graphstore.Asserter{Kind: graphstore.ByFact, ID: p.ids[i]}
		put(p.ids[i], p.ids[first+(i-first+1)%3], graphstore.CoOccurs, graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch})
		put(p.ids[i-1], p.ids[i], graphstore.TemporalNext, graphstore.Asserter{Kind: graphstore.BySpine})
		put(p.ids[i], p.ids[p.rng.IntN(first)], graphstore.SemanticNeighbor, own)
		put(p.ids[i], p.ids[p.rng.IntN(first)], graphstore.Elaborates, own)
		put(p.ids[i], entity(e), graphstore.Mentions, own)
	}
	return changes
}

// BenchmarkWith is what a commit of one event costs the snapshot of its user.
func BenchmarkWith(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			p := newPlausible(1, space(b, "u"), n, true)
			s := p.build(b)
			events := make([][]graphstore.Change, 512)
			for i := range events {
				events[i] = p.event()
			}
			next, i := s, 0
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if i%len(events) == 0 {
					next = s
				}
				var err error
				if next, err = next.With(events[i%len(events)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkBuild is what loading costs beside the store.
func BenchmarkBuild(b *testing.B) {
	p := newPlausible(1, space(b, "u"), 20_000, true)
	var changes []graphstore.Change
	p.each(func(c graphstore.Change) { changes = append(changes, c) })
	b.ReportAllocs()
	for b.Loop() {
		builder := graphstore.NewBuilder(graphstore.NewSnapshot(p.space))
		for _, c := range changes {
			if err := builder.Add(c); err != nil {
				b.Fatal(err)
			}
		}
		builder.Snapshot()
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}
