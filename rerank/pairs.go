package rerank

import (
	"math/bits"

	"github.com/kithgraph/kith/graphstore"
)

// pair is two members with everything between them folded. The weights of the two ways differ by episode ties, and
// where one of the two is not good enough to support anybody.
type pair struct {
	low, high int32
	toLow     float64 // W(high, low) if high is a sender, else 0
	toHigh    float64 // W(low, high) if low is a sender, else 0
	ways      episodeWays
	relations [2]int32 // from, to in scratch.relations
}

const episodeBit = uint16(1) << graphstore.Episode

// foldPairs reads all edges among the members and folds them, pair by pair in ascending order.
//
// Edges of one type count once with their best weight, because they repeat one statement; different types are
// independent evidence and add up as 1 - product of (1 - prior*weight), which is bounded, monotone and free of order.
// Per member it reads its links and the facts of its bridges (at most the hub cap each), so the work depends on the
// pool's neighbourhood and not on the rest of the graph.
func (s *scratch) foldPairs(r *Ranker, q *Request, d *Diagnostics) {
	s.relations, s.episodes = s.relations[:0], s.episodes[:0]
	s.row.reset(len(s.members))
	if r.carriesEpisodes() {
		s.readEpisodes(q)
	}
	if q.Graph != nil {
		s.prepareGraph(r, q, d)
	}
	f := folding{s: s, r: r, q: q}
	s.eachPair(r, q, f.emit)
	if f.edges > r.poolEdges {
		d.EdgesTruncated = f.edges - r.poolEdges
		f.keepStrongest()
	}
	d.Pairs, d.Edges = f.pairs, typeCounts(&f.byType)
}

// eachPair reads the edges among the members and calls visit for every pair with any, in ascending order.
func (s *scratch) eachPair(r *Ranker, q *Request, visit func(u, v int32, mask uint16, weights []float64)) {
	s.bridges.rewind()
	ties := s.episodes
	for u := range int32(len(s.members)) {
		if s.members[u].known {
			s.readLinks(r, q.Graph, u)
			s.bridges.addTo(&s.row, u)
		}
		for len(ties) > 0 && ties[0].low == u {
			s.row.addTie(ties[0])
			ties = ties[1:]
		}
		s.row.drain(func(v int32, mask uint16, weights []float64) { visit(u, v, mask, weights) })
	}
}

// folding is one pass over the pairs with its account.
type folding struct {
	s      *scratch
	r      *Ranker
	q      *Request
	pairs  int
	edges  int // without ties of episodes
	byType [typeSlots]int
}

func (f *folding) emit(u, v int32, mask uint16, weights []float64) {
	f.pairs++
	f.edges += bits.OnesCount16(mask &^ episodeBit)
	f.s.emit(f.r, f.q, u, v, mask, weights)
	for ; mask != 0; mask &= mask - 1 {
		f.byType[bits.TrailingZeros16(mask)]++
	}
}

func (s *scratch) prepareGraph(r *Ranker, q *Request, d *Diagnostics) {
	s.resolve(q)
	s.bridges.read(r, q, s.members)
	for i := range s.members {
		if s.members[i].known {
			d.InGraph++
		}
	}
	hubs := s.splitHubs(r.linkReads)
	if hubs > 0 {
		s.readLate(r, q.Graph)
	}
	if hubs > 1 {
		d.UnreadHubs = hubs
	}
}

// emit appends the folded pair of u and v.
func (s *scratch) emit(r *Ranker, q *Request, u, v int32, mask uint16, weights []float64) {
	p := pair{low: u, high: v, ways: s.row.takeWays(v)}
	miss := missOf(mask&^episodeBit, weights, &r.support)
	p.toLow = s.support(r, u, v, miss, p.ways&highSupportsLow != 0)
	p.toHigh = s.support(r, v, u, miss, p.ways&lowSupportsHigh != 0)
	if p.toLow == 0 && p.toHigh == 0 {
		return
	}
	if q.Explain {
		p.relations[0] = int32(len(s.relations))
		s.appendRelations(r, mask, weights)
		p.relations[1] = int32(len(s.relations))
	}
	s.pairs = append(s.pairs, p)
}

// support returns W from u to v, or 0 if u supports nobody, and counts u among the supporters of v.
func (s *scratch) support(r *Ranker, v, u int32, miss float64, tied bool) float64 {
	if !s.members[u].sender {
		return 0
	}
	if tied {
		miss *= 1 - r.support[graphstore.Episode]*r.settings.EpisodeWeight
	}
	weight := min(1-miss, r.settings.WeightMax)
	if weight > 0 {
		s.members[v].degree++
	}
	return weight
}

func (s *scratch) appendRelations(r *Ranker, mask uint16, weights []float64) {
	for ; mask != 0; mask &= mask - 1 {
		t := graphstore.RelationType(bits.TrailingZeros16(mask))
		w := weights[t]
		if t == graphstore.Episode {
			w = r.settings.EpisodeWeight
		}
		s.relations = append(s.relations, Relation{Type: t, Weight: w, Strength: r.support[t] * w})
	}
}

func typeCounts(byType *[typeSlots]int) []TypeCount {
	var counts []TypeCount
	for t, n := range byType {
		if n > 0 {
			counts = append(counts, TypeCount{graphstore.RelationType(t), n})
		}
	}
	return counts
}
