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
)

// walker follows the strongest ties from seeds.
type walker struct {
	r    *Ranker
	q    *Request
	test eligibility
	// confirmed, if not nil, holds the facts outside the pool that the vector store returned as eligible; nothing else
	// outside the pool is walked over then.
	confirmed map[string]struct{}
	denied    map[string]struct{} // removed from the pool, unless another occurrence of the id stayed
	scratch   *scratch            // the pool's members, resolved

	vicinity   vicinity
	numbers    map[graphstore.Node]int32 // in spots
	spots      []spot
	neighbours []step
	buffer     []tied
	level      []int32
	states     []walkState
	truncated  bool
}

// reset readies the walker for a request and keeps its memory.
func (w *walker) reset(r *Ranker, q *Request, s *scratch) {
	w.r, w.q, w.scratch, w.test = r, q, s, q.eligibility()
	w.vicinity.reads, w.truncated = 0, false
	w.spots, w.neighbours, w.states = w.spots[:0], w.neighbours[:0], w.states[:0]
	if w.numbers == nil {
		w.numbers, w.denied = map[graphstore.Node]int32{}, map[string]struct{}{}
	}
	clear(w.numbers)
	clear(w.denied)
}

// release drops what would keep a caller's memory alive while the walker waits for its next use.
func (w *walker) release() {
	w.r, w.q, w.scratch, w.confirmed = nil, nil, nil, nil
	clear(w.spots)
	clear(w.buffer[:cap(w.buffer)])
	clear(w.denied)
	clear(w.vicinity.bridges)
}

// spot is a fact the walk came to see.
type spot struct {
	id       string
	node     graphstore.Node
	member   int32 // in scratch.members, or -1
	listed   bool
	next     [2]int32 // its neighbours: a range of walker.neighbours
	seed     int32    // the latest seed that reached it, plus one
	best     int32    // its strongest path from that seed: in walker.states
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

// walk runs from every seed and leaves in the spots what each has of its best seed.
func (w *walker) walk(seeds []Ranked) {
	for i := range seeds {
		n, known := w.q.Graph.Node(seeds[i].ID)
		if known {
			w.walkFrom(seeds, int32(i), w.number(n, seeds[i].ID))
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
			w.extend(seed, at, end)
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
func (w *walker) extend(seed, at, level int32) {
	from := w.states[at]
	w.list(from.spot)
	decay := 1.0
	if from.hops > 0 {
		decay = w.r.settings.Expand.HopDecay
	}
	next := w.spots[from.spot].next
	for _, step := range w.neighbours[next[0]:next[1]] {
		to := walkState{spot: step.to, prior: at, hops: from.hops + 1, via: from.via, p: from.p * step.weight * decay}
		if from.hops == 0 {
			to.via = step.top
		}
		has := &w.spots[step.to]
		switch {
		case to.p <= 0 || has.seed == seed+1 && w.states[has.best].p >= to.p:
		case has.seed == seed+1 && has.best >= level:
			w.states[has.best] = to // a weaker path of the same length, which nothing continues yet
		case len(w.states) >= maxWalkStates:
			w.truncated = true
		default:
			w.arrive(seed, to)
		}
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

// list fills the neighbours of a spot, once for all seeds.
func (w *walker) list(number int32) {
	at := w.spots[number]
	if at.listed {
		return
	}
	from := int32(len(w.neighbours))
	if w.affordable(at.node) {
		w.vicinity.read(w.r, w.q, at.node, &w.r.priors, w.episodePeers(at.member), nil)
		w.buffer = w.vicinity.strongest(w.buffer[:0], w.r, w.q.Graph, &w.r.priors, w.r.settings.Expand.Fanout, w.passable)
		for _, t := range w.buffer {
			w.neighbours = append(w.neighbours, step{w.number(t.node, t.id), t.weight, t.top})
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
func (w *walker) number(n graphstore.Node, id string) int32 {
	number, seen := w.numbers[n]
	if !seen {
		number = int32(len(w.spots))
		w.numbers[n] = number
		w.spots = append(w.spots, spot{id: id, node: n, member: w.scratch.table.find(n)})
	}
	return number
}

func (w *walker) id(spot int32) string { return w.spots[spot].id }

// passable reports whether a fact may be reached. Of a pool member the vector store said so. Of others the graph says
// what it knows, which saves asking for facts that are known to be retired; the vector store has the last word.
func (w *walker) passable(n graphstore.Node, id string) bool {
	if w.scratch.table.find(n) >= 0 {
		return true
	}
	if _, removed := w.denied[id]; removed {
		return false
	}
	if w.confirmed != nil {
		_, ok := w.confirmed[id]
		return ok
	}
	return w.test.mayPass(w.q.Graph, n)
}

// path returns the ids along a path, seed first.
func (w *walker) path(at int32) []string {
	ids := make([]string, w.states[at].hops+1)
	for i := len(ids) - 1; i >= 0; i-- {
		ids[i] = w.id(w.states[at].spot)
		at = w.states[at].prior
	}
	return ids
}
