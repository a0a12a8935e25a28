package rerank_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// benchGraph is a memory of n facts with 5n edges. Facts come in clusters of 50 that talk about one thing: three of five
// edges stay inside the cluster. Every fact mentions one of three entities of its cluster.
type benchGraph struct {
	space graphstore.Space
	g     *graphstore.Snapshot
	n     int
}

const benchCluster = 50

var benchGraphs sync.Map // by size

func benchGraphOf(b *testing.B, n int) benchGraph {
	if g, ok := benchGraphs.Load(n); ok {
		return g.(benchGraph)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	g := newGraph(b, spaceOf(b, "u"))
	g.once = true
	for i := range n {
		g.fact(benchID(i))
	}
	kinds := []graphstore.RelationType{graphstore.CoOccurs, graphstore.TemporalNext, graphstore.Elaborates, graphstore.SemanticNeighbor, graphstore.Causes}
	for i := range n {
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: benchID(i)}
		for e := range 5 {
			to := i/benchCluster*benchCluster + rng.IntN(benchCluster)
			if e >= 3 {
				to = rng.IntN(n)
			}
			if to != i { // no loops
				g.link(benchID(i), benchID(to), kinds[e], .5+rng.Float64()/2, by)
			}
		}
		g.mention(benchID(i), fmt.Sprintf("entity %d", i/benchCluster*3+i%3))
	}
	made := benchGraph{space: g.space, g: g.snapshot(), n: n}
	benchGraphs.Store(n, made)
	return made
}

// benchID spells a number like a random UUID.
func benchID(i int) string {
	rng := rand.New(rand.NewPCG(2, uint64(i)))
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", uint32(a>>32), uint16(a>>16), uint16(a), uint16(b>>48), b&(1<<48-1))
}

// cluster is a pool of one whole cluster: every member has neighbours in it.
func (g benchGraph) cluster() rerank.Request { return g.request(func(i int) int { return g.n/2 + i }) }

// scattered is a pool of facts from all over the memory.
func (g benchGraph) scattered() rerank.Request {
	return g.request(func(i int) int { return i * (g.n / benchCluster) })
}

func (g benchGraph) request(fact func(int) int) rerank.Request {
	q := rerank.Request{Space: g.space, Graph: g.g, Now: day(20)}
	for i := range benchCluster {
		q.Pool = append(q.Pool, rerank.Candidate{Space: g.space, ID: benchID(fact(i)), Cosine: .9 - float64(i)*.01})
	}
	return q
}

// benchRerank measures ranking, and in the same run the plain walk from the same ids over the links of the pool's nodes,
// alone (x-walk) and with the facts on their entities (x-bridge-walk). The ratios are of the best of many short blocks,
// taken in turns, so that other load on the machine hits both sides alike.
func benchRerank(b *testing.B, r *rerank.Ranker, q rerank.Request) {
	b.Helper()
	rank := func() {
		if _, err := r.Rerank(q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		rank()
	}
	b.StopTimer()
	nodes := make([]graphstore.Node, len(q.Pool))
	walk := func(bridges bool) func() {
		return func() {
			for i, c := range q.Pool {
				nodes[i], _ = q.Graph.Node(c.ID)
			}
			rerank.Walk(q.Graph, nodes, bridges)
		}
	}
	if q.Graph == nil {
		b.ReportMetric(best(rank)[0], "best-ns")
		return
	}
	took := best(rank, walk(false), walk(true))
	b.ReportMetric(took[0], "best-ns")
	b.ReportMetric(took[0]/took[1], "x-walk")
	b.ReportMetric(took[0]/took[2], "x-bridge-walk")
}

// best returns the nanoseconds of one call of each function, from its fastest block.
func best(fs ...func()) []float64 {
	const blocks, calls = 40, 20
	least := make([]float64, len(fs))
	for range blocks {
		for i, f := range fs {
			start := time.Now()
			for range calls {
				f()
			}
			if took := float64(time.Since(start)) / calls; least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return least
}

// BenchmarkRerankGrowth: the cost is the pool's neighbourhood, not the memory around it.
func BenchmarkRerankGrowth(b *testing.B) {
	r := newRanker(b, nil)
	for _, n := range []int{2_000, 20_000, 200_000} {
		g := benchGraphOf(b, n)
		b.Run(fmt.Sprintf("cluster/facts=%d", n), func(b *testing.B) { benchRerank(b, r, g.cluster()) })
		b.Run(fmt.Sprintf("scattered/facts=%d", n), func(b *testing.B) { benchRerank(b, r, g.scattered()) })
	}
}

// BenchmarkRerankModes: what each part adds, on 20,000 facts.
func BenchmarkRerankModes(b *testing.B) {
	g := benchGraphOf(b, 20_000)
	b.Run("no graph", func(b *testing.B) {
		q := g.cluster()
		q.Graph = nil
		benchRerank(b, newRanker(b, nil), q)
	})
	b.Run("no bridges", func(b *testing.B) {
		benchRerank(b, newRanker(b, func(s *rerank.Settings) { s.HubCap = 0 }), g.cluster())
	})
	b.Run("episodes", func(b *testing.B) {
		q := g.cluster()
		for i := range q.Pool {
			q.Pool[i].EpisodeID = fmt.Sprint("episode", i%5)
		}
		benchRerank(b, newRanker(b, func(s *rerank.Settings) { s.EpisodeRecall = true }), q)
	})
	b.Run("explain", func(b *testing.B) {
		q := g.cluster()
		q.Explain = true
		benchRerank(b, newRanker(b, nil), q)
	})
}

// BenchmarkPoolSharedHubs: every pool member mentions the same ten entities, each at the hub cap.
func BenchmarkPoolSharedHubs(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		g := newGraph(b, spaceOf(b, "u"))
		g.once = true
		for i := range n {
			g.fact(benchID(i))
		}
		for i := range benchCluster {
			for e := range 10 {
				g.mention(benchID(n/2+i), fmt.Sprint("hub", e))
			}
		}
		made := benchGraph{space: g.space, g: g.snapshot(), n: n}
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) { benchRerank(b, newRanker(b, nil), made.cluster()) })
	}
}

// BenchmarkPoolHubFact: one member of the pool has thousands of links that lead elsewhere.
func BenchmarkPoolHubFact(b *testing.B) {
	for _, links := range []int{0, 1_000, 4_000} {
		g := newGraph(b, spaceOf(b, "u"))
		g.once = true
		for i := range 6_000 {
			g.fact(benchID(i))
			g.link(benchID(i), benchID((i+1)%6_000), graphstore.CoOccurs, 1, graphstore.Asserter{Kind: graphstore.ByFact, ID: benchID(i)})
		}
		for i := range links {
			g.link(benchID(i), benchID(3_000), graphstore.Elaborates, 1, graphstore.Asserter{Kind: graphstore.ByFact, ID: benchID(i)})
		}
		made := benchGraph{space: g.space, g: g.snapshot(), n: 6_000}
		b.Run(fmt.Sprintf("links=%d", links), func(b *testing.B) { benchRerank(b, newRanker(b, nil), made.cluster()) })
	}
}

// BenchmarkPoolNominate: the walk from ten seeds over two hops, against ranking alone. In a cluster most neighbours are in
// the pool already, so that the nominees are two hops away; asked for explanations the walk leaves nothing out.
func BenchmarkPoolNominate(b *testing.B) {
	r := newRanker(b, nil)
	for _, n := range []int{2_000, 20_000, 200_000} {
		g := benchGraphOf(b, n)
		cluster, scattered := g.cluster(), g.scattered()
		explained := scattered
		explained.Explain = true
		for _, c := range []struct {
			name string
			q    rerank.Request
		}{{"cluster", cluster}, {"scattered", scattered}, {"scattered explained", explained}} {
			b.Run(fmt.Sprintf("%s/facts=%d", c.name, n), func(b *testing.B) { benchNominate(b, r, c.q) })
		}
	}
}

func benchNominate(b *testing.B, r *rerank.Ranker, q rerank.Request) {
	ranked := mustRank(b, r, q)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Nominate(q, ranked); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	nominated, err := r.Nominate(q, ranked)
	if err != nil {
		b.Fatal(err)
	}
	plain := q
	plain.Explain = false
	took := best(func() { _, _ = r.Nominate(q, ranked) }, func() { mustRank(b, r, plain) })
	b.ReportMetric(took[0], "best-ns")
	b.ReportMetric(took[0]/took[1], "x-rerank")
	b.ReportMetric(float64(nominated.Reached), "reached")
}

// BenchmarkPoolNominateHubs: every seed is tied to facts with thousands of links.
func BenchmarkPoolNominateHubs(b *testing.B) {
	g := newGraph(b, spaceOf(b, "u"))
	g.once = true
	for i := range 4_000 {
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: benchID(i)}
		g.fact(benchID(i))
		for h := range 10 {
			if hub := 2_000 + h; i != hub {
				g.link(benchID(i), benchID(hub), graphstore.Elaborates, 1, by)
			}
		}
	}
	q := benchGraph{space: g.space, g: g.snapshot(), n: 4_000}.cluster()
	r := newRanker(b, nil)
	ranked := mustRank(b, r, q)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Nominate(q, ranked); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPoolPaths: paths between the ten best of a cluster, against ranking alone.
func BenchmarkPoolPaths(b *testing.B) {
	r := newRanker(b, nil)
	for _, n := range []int{2_000, 200_000} {
		g := benchGraphOf(b, n)
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			q := g.cluster()
			ranked := mustRank(b, r, q)
			x, err := r.Admit(q, ranked, rerank.Nominations{}, nil, 10)
			if err != nil {
				b.Fatal(err)
			}
			pq := rerank.PathQuery{Request: q, Expansion: x, K: 10}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Paths(pq); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			took := best(func() { _, _ = r.Paths(pq) }, func() { mustRank(b, r, q) })
			b.ReportMetric(took[0], "best-ns")
			b.ReportMetric(took[0]/took[1], "x-rerank")
		})
	}
}
