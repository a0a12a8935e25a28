package graphstoretest

import (
	"fmt"
	"math/rand/v2"

	"github.com/kithgraph/kith/graphstore"
)

// The proportions of a generated graph, chosen after what memory systems produce: short write batches, a few popular
// entities in most facts, a tag or none.
const (
	maxBatch       = 4
	factsPerEntity = 10
	factsPerTopic  = 25
	factsPerAgent  = 500
)

// graphEpochUS is the time of the first generated fact: 2026-01-01T00:00:00Z in microseconds.
const graphEpochUS = 1_767_225_600_000_000

// Graph returns the records of a plausible graph as Put changes: per space factsPerSpace facts in batches of one to
// four that co-occur, relations and similarities to earlier facts, a temporal spine, mentions of entities of which few are
// popular, tags. A fact has about five edges.
//
// Equal arguments give equal graphs. No key appears twice, and every prefix is a graph without dangling edges: a caller
// may apply the slice in pieces of any size (slices.Chunk). Spaces are named by [SpaceName].
func Graph(seed uint64, spaces, factsPerSpace int) []graphstore.Change {
	var all []graphstore.Change
	for i := range spaces {
		g := newGenerator(seed, i, factsPerSpace)
		for len(g.facts) < factsPerSpace {
			g.batch(min(1+g.rng.IntN(maxBatch), factsPerSpace-len(g.facts)))
		}
		all = append(all, g.nodes()...)
		all = append(all, g.rest...)
	}
	return all
}

// SpaceName returns the i-th space of [Graph], from 0.
func SpaceName(i int) graphstore.Space { return mustSpace(fmt.Sprintf("user-%04d", i)) }

// mustSpace is for user ids that are constants of this package's own making.
func mustSpace(user string) graphstore.Space {
	s, err := graphstore.NewSpace(user)
	if err != nil {
		panic(err)
	}
	return s
}

type generator struct {
	rng      *rand.Rand
	space    graphstore.Space
	facts    []string
	entities *rand.Zipf
	topics   *rand.Zipf
	mentions []int // per entity
	tagged   []int // per topic
	seen     map[graphstore.Key]bool
	rest     []graphstore.Change // facts and edges
}

func newGenerator(seed uint64, space, facts int) *generator {
	rng := rand.New(rand.NewPCG(seed, uint64(space)))
	entities, topics := 1+facts/factsPerEntity, 1+facts/factsPerTopic
	return &generator{
		rng: rng, space: SpaceName(space),
		entities: rand.NewZipf(rng, 1.2, 4, uint64(entities-1)), mentions: make([]int, entities),
		topics: rand.NewZipf(rng, 1.2, 4, uint64(topics-1)), tagged: make([]int, topics),
		seen: make(map[graphstore.Key]bool),
	}
}

// nodes returns the entities and topics that facts came to name.
func (g *generator) nodes() []graphstore.Change {
	var out []graphstore.Change
	for i, n := range g.mentions {
		if n > 0 {
			out = append(out, graphstore.PutEntity(g.space, g.entity(i, n)))
		}
	}
	for i, n := range g.tagged {
		if n > 0 {
			out = append(out, graphstore.PutTopic(g.space, graphstore.Topic{ID: topicID(i), Name: fmt.Sprintf("Tag %d", i), Facts: n}))
		}
	}
	return out
}

func entityID(i int) string { return fmt.Sprintf("entity-%d", i) }
func topicID(i int) string  { return fmt.Sprintf("tag %d", i) }

func (g *generator) entity(i, mentions int) graphstore.Entity {
	e := graphstore.Entity{
		ID: entityID(i), Type: []string{"person", "organisation", "place", "thing"}[i%4],
		Name: fmt.Sprintf("Entity %d", i), Norm: fmt.Sprintf("entity %d", i), Mentions: mentions,
	}
	if i%3 == 0 {
		e.Aliases = []string{fmt.Sprintf("E%d", i), fmt.Sprintf("E. %d", i)}
	}
	if i%5 == 0 {
		e.HardIDs = []graphstore.HardID{{Kind: "email", Value: fmt.Sprintf("e%d@example.com", i)}}
	}
	return e
}

// batch writes size facts that were persisted together, and then their edges.
func (g *generator) batch(size int) {
	first := len(g.facts)
	batch := fmt.Sprintf("batch-%d", first)
	for i := range size {
		g.fact(batch, i)
	}
	for i := first; i < first+size; i++ {
		for j := first; j < i; j++ {
			g.edge(g.facts[j], g.facts[i], graphstore.CoOccurs, graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch}, 1)
		}
		g.edgesOf(i)
	}
}

func (g *generator) fact(batch string, seq int) {
	n := len(g.facts)
	id := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", g.rng.Uint32(), g.rng.Uint32N(1<<16), g.rng.Uint32N(1<<12),
		g.rng.Uint32N(1<<12), g.rng.Uint64N(1<<48))
	at := graphstore.InstantOfMicros(graphEpochUS + int64(n)*60_000_000)
	stamp := graphstore.Stamp{Version: at.Micros(), Rank: graphstore.RankAdd, EventID: fmt.Sprintf("event-%d", n),
		At: at, Source: fmt.Sprintf("message-%d", n/2)}
	f := graphstore.Fact{
		ID: id, State: graphstore.StateActive, Registers: graphstore.Registers{State: stamp, Base: stamp},
		AgentID: fmt.Sprintf("agent-%d", n/factsPerAgent), SourceID: fmt.Sprintf("message-%d", n/2),
		EpisodeID: fmt.Sprintf("conversation-%d", n/20), BatchID: batch, BatchSeq: int32(seq),
		MemoryAt: at, ValidFrom: at, RecordedAt: at + 1_000_000,
	}
	if n%17 == 0 {
		f.State, f.ValidTo = graphstore.StateSuperseded, at+3_600_000_000
	}
	g.facts = append(g.facts, id)
	g.rest = append(g.rest, graphstore.PutFact(g.space, f))
}

// edgesOf writes what the fact asserts of earlier facts, entities and topics.
func (g *generator) edgesOf(i int) {
	id := g.facts[i]
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
	if i > 0 {
		g.edge(g.facts[i-1], id, graphstore.TemporalNext, graphstore.Asserter{Kind: graphstore.BySpine}, 1)
		relation := []graphstore.RelationType{graphstore.Causes, graphstore.Elaborates, graphstore.Contrasts,
			graphstore.SameSeries, graphstore.Related}[g.rng.IntN(5)]
		g.edge(id, g.facts[g.rng.IntN(i)], relation, by, g.weight())
		if g.rng.IntN(2) == 0 {
			g.edge(id, g.facts[g.rng.IntN(i)], graphstore.SemanticNeighbor, by, g.weight())
		}
	}
	for range 1 + g.rng.IntN(2) {
		e := int(g.entities.Uint64())
		if g.edge(id, entityID(e), graphstore.Mentions, by, 1) {
			g.mentions[e]++
		}
	}
	if g.rng.IntN(3) > 0 {
		t := int(g.topics.Uint64())
		if g.edge(id, topicID(t), graphstore.TaggedWith, by, 1) {
			g.tagged[t]++
		}
	}
}

func (g *generator) weight() float64 { return float64(1+g.rng.IntN(100)) / 100 }

// edge writes an edge unless it was already written, and reports whether it did.
func (g *generator) edge(source, target string, typ graphstore.RelationType, by graphstore.Asserter, w float64) bool {
	c := graphstore.PutEdge(g.space, graphstore.Edge{Source: source, Target: target, Type: typ, Asserter: by, Weight: w})
	if g.seen[c.Key()] {
		return false
	}
	g.seen[c.Key()] = true
	g.rest = append(g.rest, c)
	return true
}
