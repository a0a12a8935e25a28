package rerank

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// The bounds of one walk, far above what the default settings reach (10 seeds, 20 neighbours, 2 hops: 4,200 states).
const (
	maxWalkReads  = 100_000 // links and facts on bridges looked at, 50 to 100 ns each
	maxWalkStates = 100_000

	minSpots = 512 // facts that a walk has room for at first
)

// walker follows the strongest ties from seeds.
type walker struct {
	r    *Ranker
	q    *Request
	test eligibility
	// confirmed holds the facts outside the pool that the vector store returned as eligible. If only is set, nothing else
	// outside the pool is walked over.
	confirmed nodeTable
	only      bool
	denied    nodeTable // removed from the pool, unless another occurrence of the id stayed
	scratch   *scratch  // the pool's members, resolved

	vicinity   vicinity
	numbers    nodeTable // in spots
	spots      []spot
	neighbours []step
	buffer     []tied
	level      []int32
	states     []walkState
	truncated  bool

	starts  []int32 // of the seeds: in spots; -1 for one that the graph does not know
	claims  claims
	maxBase float64 // the best seed's
	leads   []lead

	// What the vector store has said, for relation paths.
	removed []int32 // candidates that are no members, in the pool
	spoken  nodeTable
	said    []*Candidate
	hidden  nodeTable // what it was asked about and does not show
	near    []nearby
}

// reset readies the walker for a request and keeps its memory.
func (w *walker) reset(r *Ranker, q *Request, s *scratch) {
	w.r, w.q, w.scratch, w.test = r, q, s, q.eligibility()
	w.vicinity.reads, w.truncated = 0, false
	w.spots, w.neighbours, w.states = w.spots[:0], w.neighbours[:0], w.states[:0]
	w.numbers.reset(minSpots)
}

// release drops what would keep a caller's memory alive while the walker waits for its next use.
func (w *walker) release() {
	w.r, w.q, w.scratch = nil, nil, nil
	clear(w.said)
}

// spot is a fact the walk came to see.
type spot struct {
	node     graphstore.Node
	member   int32 // in scratch.members, or -1
	listed   bool
	next     [2]int32 // its neighbours: a range of walker.neighbours
	seed     int32    // the latest seed that reached it, plus one
	best     int32    // its strongest path from that seed: in walker.states
	lead     int32    // the strongest first hop to it: in walker.leads, plus one
	claim    float64  // at least this will be its relaxed
	relaxed  float64
	from     int32 // the seed that gives relaxed: in the list of seeds
	fromPath int32 // and the path: in walker.states
}

// step is a neighbour to go on to.
type step struct {
	to     int32 // in walker.spots
	weight float64
	top    graphstore.RelationType
}

// walkState is a path from a seed.
type walkState struct {
	spot  int32
	prior int32 // the path without its last hop: in walker.states; -1 for the seed itself
	hops  int32
	via   graphstore.RelationType // top type of the first hop
	p     float64                 // product of the weights, with the decay
}

// walk runs from every seed and leaves in the spots what each has of its best seed: of all in reach, or, if limit is above
// 0, at least of the limit strongest.
func (w *walker) walk(seeds []Ranked, limit int) {
	w.scout(seeds, limit)
	for i, start := range w.starts {
		if start >= 0 {
			w.walkFrom(seeds, int32(i), start)
		}
	}
}

// walkFrom finds the strongest path of at most Hops from one seed to every fact in reach. It goes level by level. A
// path that reaches a fact again must be stronger than what the fact has, else it is dropped: what it has is no
// longer, so nothing that continues can be better. As no hop strengthens a path, the survivors visit no fact twice.
func (w *walker) walkFrom(seeds []Ranked, seed, start int32) {
	first := int32(len(w.states))
	w.arrive(seed, walkState{spot: start, prior: -1, p: 1})
	for level, hops := first, int32(0); int(hops) < w.r.settings.Expand.Hops; hops++ {
		end := int32(len(w.states))
		frontier := w.frontier(level, end)
		for _, at := range frontier {
			w.extend(seed, seeds[seed].Base, at, end)
		}
		level = end
	}
	for at := first; at < int32(len(w.states)); at++ {
		w.offer(seeds, seed, at)
	}
}

// frontier returns the states of one level, strongest first, then by id: of equal paths to a fact the first counts.
func (w *walker) frontier(from, to int32) []int32 {
	w.level = w.level[:0]
	for at := from; at < to; at++ {
		w.level = append(w.level, at)
	}
	slices.SortFunc(w.level, func(a, b int32) int {
		x, y := &w.states[a], &w.states[b]
		if x.p != y.p {
			return cmp.Compare(y.p, x.p)
		}
		return strings.Compare(w.id(x.spot), w.id(y.spot))
	})
	return w.level
}

// extend goes on from one path to the neighbours of its end. States from level on are of the next level.
func (w *walker) extend(seed int32, base float64, at, level int32) {
	from := w.states[at]
	decay := 1.0
	if from.hops > 0 {
		decay = w.r.settings.Expand.HopDecay
	}
	if w.hopeless(base, from.p, w.r.settings.WeightMax, decay) {
		return
	}
	w.list(from.spot, decay)
	next := w.spots[from.spot].next
	for _, step := range w.neighbours[next[0]:next[1]] {
		to := walkState{spot: step.to, prior: at, hops: from.hops + 1, via: from.via, p: from.p * step.weight * decay}
		if from.hops == 0 {
			to.via = step.top
		}
		has := &w.spots[step.to]
		switch {
		case to.p <= 0 || base*to.p < w.claims.least || has.seed == seed+1 && w.states[has.best].p >= to.p:
			continue
		case has.seed == seed+1 && has.best >= level:
			w.states[has.best] = to // a weaker path of the same length, which nothing continues yet
		case len(w.states) >= maxWalkStates:
			w.truncated = true
			continue
		default:
			w.arrive(seed, to)
		}
		w.claim(step.to, base*to.p)
	}
}

func (w *walker) arrive(seed int32, s walkState) {
	at := &w.spots[s.spot]
	at.seed, at.best = seed+1, int32(len(w.states))
	w.states = append(w.states, s)
}

// offer lets a seed claim a fact it reached: the largest base*p wins, then the better seed, then the smaller id.
func (w *walker) offer(seeds []Ranked, seed, at int32) {
	s := &w.states[at]
	has := &w.spots[s.spot]
	if s.prior < 0 {
		return // the seed itself
	}
	relaxed := seeds[seed].Base * s.p
	better := cmp.Compare(relaxed, has.relaxed)
	if better == 0 && has.relaxed > 0 {
		u, v := &seeds[seed], &seeds[has.from]
		better = cmp.Or(cmp.Compare(u.Base, v.Base), strings.Compare(v.ID, u.ID))
	}
	if better > 0 {
		has.relaxed, has.from, has.fromPath = relaxed, seed, at
	}
}

// list fills the neighbours of a spot, once for all seeds, without those that cannot help any path there. decay is 1 for a
// seed, and those are listed first: a path to another spot has made a hop.
func (w *walker) list(number int32, decay float64) {
	at := w.spots[number]
	if at.listed {
		return
	}
	from := int32(len(w.neighbours))
	if w.affordable(at.node) {
		w.vicinity.read(w.r, w.q, at.node, &w.r.priors, w.episodePeers(at.member), nil)
		p := 1.0
		if decay < 1 {
			p = w.r.settings.WeightMax
		}
		w.buffer = w.vicinity.strongest(w.buffer[:0], w.r, w.q.Graph, &w.r.priors, w.r.settings.Expand.Fanout, func(t tied) bool {
			return !w.hopeless(w.maxBase, p, t.weight, decay) && w.passable(t.node)
		})
		for _, t := range w.buffer {
			w.neighbours = append(w.neighbours, step{w.number(t.node), t.weight, t.top})
		}
	} else {
		w.truncated = true
	}
	w.spots[number].listed = true
	w.spots[number].next = [2]int32{from, int32(len(w.neighbours))}
}

// affordable reports whether reading a fact stays within the bound of work. A hub that does not may still be reached.
func (w *walker) affordable(n graphstore.Node) bool {
	return w.vicinity.reads+len(w.q.Graph.Links(n)) <= w.r.walkReads
}

// episodePeers returns the nodes of the pool members that episode recall ties to a pool member.
func (w *walker) episodePeers(member int32) []graphstore.Node {
	if member < 0 {
		return nil
	}
	var peers []graphstore.Node
	for _, tie := range w.scratch.episodes {
		other := int32(-1)
		switch member {
		case tie.low:
			other = tie.high
		case tie.high:
			other = tie.low
		}
		if other >= 0 && w.scratch.members[other].known {
			peers = append(peers, w.scratch.members[other].node)
		}
	}
	return peers
}

// number returns the place of a fact in w.spots.
func (w *walker) number(n graphstore.Node) int32 {
	if number := w.numbers.find(n); number >= 0 {
		return number
	}
	number := int32(len(w.spots))
	if 2*len(w.spots) >= len(w.numbers.slots) {
		w.numbers.grow()
	}
	w.numbers.put(n, number)
	w.spots = append(w.spots, spot{node: n, member: w.scratch.table.find(n)})
	return number
}

func (w *walker) id(spot int32) string { return w.q.Graph.ID(w.spots[spot].node) }

// passable reports whether a fact may be reached. Of a pool member the vector store said so. Of others the graph says
// what it knows, which saves asking for facts that are known to be retired; the vector store has the last word.
func (w *walker) passable(n graphstore.Node) bool {
	switch {
	case w.scratch.table.find(n) >= 0:
		return true
	case w.denied.find(n) >= 0:
		return false
	case w.only:
		return w.confirmed.find(n) >= 0
	default:
		return w.test.mayPass(w.q.Graph, n)
	}
}

// appendPath appends the ids along a path, seed first.
func (w *walker) appendPath(ids []string, at int32) []string {
	from := len(ids)
	for ; at >= 0; at = w.states[at].prior {
		ids = append(ids, w.id(w.states[at].spot))
	}
	slices.Reverse(ids[from:])
	return ids
}
