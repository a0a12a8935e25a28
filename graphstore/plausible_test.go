package graphstore_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// plausible makes a graph as memory systems write it: every id a UUID, three facts per event and batch, a source per
// event, an episode per 20 facts, four agents, one fact in twenty superseded, one in fifty updated in part. Per 200 facts
// there are 700 links (200 co_occurs of batches, 260 similarities, 180 relations, 60 with a name of their own), 100
// temporal_next, 150 mentions with a detail, 50 tags.
type plausible struct {
	rng      *rand.Rand
	space    graphstore.Space
	facts    int
	edges    bool
	ids      []string
	entities *rand.Zipf
}

func newPlausible(seed uint64, space graphstore.Space, facts int, edges bool) *plausible {
	rng := rand.New(rand.NewPCG(seed, 7))
	return &plausible{rng: rng, space: space, facts: facts, edges: edges, entities: rand.NewZipf(rng, 1.2, 4, uint64(facts/10))}
}

func (p *plausible) uuid() string {
	a, b := p.rng.Uint64(), p.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", uint32(a>>32), uint16(a>>16), uint16(a), uint16(b>>48), b&(1<<48-1))
}

// each yields the records, nodes before edges.
func (p *plausible) each(yield func(graphstore.Change)) {
	if p.edges {
		for i := range p.facts/10 + 1 {
			name := fmt.Sprintf("Entity %d of some name", i)
			yield(graphstore.PutEntity(p.space, graphstore.Entity{ID: entity(i), Type: "person", Name: name, Norm: name[1:], Mentions: i % 9}))
		}
		for i := range 50 {
			yield(graphstore.PutTopic(p.space, graphstore.Topic{ID: fmt.Sprintf("tag %d", i), Name: fmt.Sprintf("Tag %d", i), Facts: 9}))
		}
	}
	batches := p.writeFacts(yield)
	if p.edges {
		for i := range p.ids {
			p.edgesOf(i, batches[i/3], yield)
		}
	}
}

func entity(i int) string { return fmt.Sprintf("person:entity %d of some name", i) }

func (p *plausible) writeFacts(yield func(graphstore.Change)) (batches []string) {
	agents := []string{p.uuid(), p.uuid(), p.uuid(), p.uuid()}
	var event, batch, source, episode string
	for i := range p.facts {
		if i%3 == 0 {
			event, batch, source = p.uuid(), p.uuid(), p.uuid()
			batches = append(batches, batch)
		}
		if i%20 == 0 {
			episode = p.uuid()
		}
		at := graphstore.InstantOfMicros(1_767_225_600_000_000 + int64(i)*60_000_000)
		stamp := graphstore.Stamp{Version: at.Micros(), Rank: graphstore.RankAdd, EventID: event, At: at, Source: source}
		f := graphstore.Fact{
			ID: p.uuid(), State: graphstore.StateActive, Registers: graphstore.Registers{State: stamp, Base: stamp},
			AgentID: agents[i%4], SourceID: source, EpisodeID: episode, BatchID: batch, BatchSeq: int32(i % 3),
			MemoryAt: at, ValidFrom: at, RecordedAt: at + 1000,
		}
		if i%20 == 19 {
			f.State, f.SupersededBy, f.SupersededAt = graphstore.StateSuperseded, p.ids[i-1], at+5000
			f.Registers.State = graphstore.Stamp{Version: int64(at) + 5000, Rank: graphstore.RankSuperseded, EventID: p.uuid()}
		}
		if i%50 == 0 {
			f.Registers = f.Registers.With(graphstore.FieldTags, graphstore.Stamp{Version: int64(at) + 9, Rank: graphstore.RankUpdate, EventID: p.uuid()})
		}
		p.ids = append(p.ids, f.ID)
		yield(graphstore.PutFact(p.space, f))
	}
	return batches
}

func (p *plausible) edgesOf(i int, batch string, yield func(graphstore.Change)) {
	own := graphstore.Asserter{Kind: graphstore.ByFact, ID: p.ids[i]}
	link := func(j int, t graphstore.RelationType, by graphstore.Asserter, detail string) {
		if j != i {
			yield(graphstore.PutEdge(p.space, graphstore.Edge{Source: p.ids[i], Target: p.ids[j], Type: t, Asserter: by,
				Weight: (1 + p.rng.Float64()) / 2, Detail: detail}))
		}
	}
	link(min(i/3*3+(i+1)%3, p.facts-1), graphstore.CoOccurs, graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch}, "")
	for k := range 25 { // 2.5 in the mean: 1.3, .9 and .3
		if p.rng.IntN(10) > 0 {
			continue
		}
		switch j := p.rng.IntN(p.facts); {
		case k < 13:
			link(j, graphstore.SemanticNeighbor, own, "")
		case k < 22:
			link(j, []graphstore.RelationType{graphstore.Causes, graphstore.Elaborates, graphstore.Contrasts}[k%3], own, "")
		default:
			link(j, graphstore.Related, own, fmt.Sprintf("relation %d", p.rng.IntN(200)))
		}
	}
	if i%2 == 1 {
		link(i-1, graphstore.TemporalNext, graphstore.Asserter{Kind: graphstore.BySpine}, "")
	}
	if p.rng.IntN(4) > 0 {
		e := int(p.entities.Uint64())
		yield(graphstore.PutEdge(p.space, graphstore.Edge{Source: p.ids[i], Target: entity(e), Type: graphstore.Mentions, Weight: 1, Asserter: own,
			Detail: fmt.Sprintf(`{"spelling":"Entity %d, %d"}`, e, p.rng.IntN(3))}))
	}
	if p.rng.IntN(4) == 0 {
		yield(graphstore.PutEdge(p.space, graphstore.Edge{Source: p.ids[i], Target: fmt.Sprintf("tag %d", p.rng.IntN(50)),
			Type: graphstore.TaggedWith, Weight: 1, Asserter: own}))
	}
}

// build loads the graph as a store would: every record a copy of its own.
func (p *plausible) build(tb testing.TB) *graphstore.Snapshot {
	tb.Helper()
	b := graphstore.NewBuilder(graphstore.NewSnapshot(p.space))
	p.each(func(c graphstore.Change) {
		if err := b.Add(c); err != nil {
			tb.Fatal(err)
		}
	})
	return b.Snapshot()
}

// heap returns the live memory.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first found dead is swept by the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// measured returns a snapshot and the live memory it takes.
func measured(tb testing.TB, make func() *graphstore.Snapshot) (*graphstore.Snapshot, int64) {
	tb.Helper()
	before := heap()
	s := make()
	return s, heap() - before
}
