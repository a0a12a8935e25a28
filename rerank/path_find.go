package rerank

import (
	"cmp"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// pathFinder is one search for relation paths at work.
type pathFinder struct {
	r         *Ranker
	q         *Request
	w         *walker
	known     map[string]*Candidate // what the vector store said
	hidden    map[string]struct{}   // what it does not show
	only      bool
	truncated bool
}

// read lists the neighbours of all ends.
func (f *pathFinder) read(ends []pathEnd) {
	v := &f.w.vicinity
	for i := range ends {
		e := &ends[i]
		if !f.w.affordable(e.node) {
			f.truncated = true
			continue
		}
		peers := f.w.episodePeers(f.w.scratch.table.find(e.node))
		v.read(f.r, f.q, e.node, &f.r.paths, peers, f.stale)
		v.row.drain(func(n int32, mask uint16, weights []float64) {
			if weight := min(1-missOf(mask, weights, &f.r.paths), f.r.settings.WeightMax); weight > 0 {
				e.near = append(e.near, nearby{v.nodes[n], weight})
			}
		})
		slices.SortFunc(e.near, func(a, b nearby) int { return cmp.Compare(a.node, b.node) })
	}
}

// memoryAt returns when a fact happened: as the vector store says, else as the graph does.
func (f *pathFinder) memoryAt(n graphstore.Node) graphstore.Instant {
	if c, spoken := f.known[f.id(n)]; spoken {
		return c.MemoryAt
	}
	return f.q.Graph.MemoryAt(n)
}

// stale reports whether a temporal_next edge contradicts the times of its facts.
func (f *pathFinder) stale(n graphstore.Node, l graphstore.Link) bool {
	if l.Type != graphstore.TemporalNext {
		return false
	}
	earlier, later := f.memoryAt(n), f.memoryAt(l.To)
	if !l.Out() {
		earlier, later = later, earlier
	}
	return earlier.Present() && later.Present() && earlier > later
}

// passable reports whether a path may lead over a fact.
func (f *pathFinder) passable(n graphstore.Node) bool {
	id := f.id(n)
	if c, spoken := f.known[id]; spoken {
		return f.w.test.refuses(c) == ""
	}
	if _, hidden := f.hidden[id]; hidden || f.only {
		return false
	}
	return f.w.test.mayPass(f.q.Graph, n)
}

// strongest returns the best path between two ends, a ranked before b: the direct one, or over one of the facts both
// are tied to. Among equals fewer hops, then the smaller id in the middle.
func (f *pathFinder) strongest(a, b *pathEnd) (Path, bool) {
	decay := f.r.settings.Expand.HopDecay
	strength, middle := 0.0, graphstore.Node(-1)
	if at, ok := slices.BinarySearchFunc(a.near, b.node, func(x nearby, n graphstore.Node) int { return cmp.Compare(x.node, n) }); ok {
		strength = a.near[at].weight
	}
	for i, j := 0, 0; i < len(a.near) && j < len(b.near); {
		x, y := &a.near[i], &b.near[j]
		switch {
		case x.node < y.node:
			i++
			continue
		case x.node > y.node:
			j++
			continue
		}
		i++
		j++
		p := x.weight * y.weight * decay
		better := p > strength || p == strength && middle >= 0 && f.id(x.node) < f.id(middle)
		if better && f.passable(x.node) {
			strength, middle = p, x.node
		}
	}
	if strength == 0 {
		return Path{}, false
	}
	return f.path(a, b, middle, strength), true
}

func (f *pathFinder) id(n graphstore.Node) string { return f.q.Graph.ID(n) }

// path builds the path over its nodes and turns it into reading order.
func (f *pathFinder) path(a, b *pathEnd, middle graphstore.Node, strength float64) Path {
	nodes := []graphstore.Node{a.node, b.node}
	if middle >= 0 {
		nodes = []graphstore.Node{a.node, middle, b.node}
	}
	p := Path{Strength: strength, Score: strength * math.Sqrt(a.base*b.base)}
	for i, n := range nodes {
		if m := f.memoryAt(n); compareNewest(m, p.Newest) > 0 {
			p.Newest = m
		}
		if i > 0 {
			p.Hops = append(p.Hops, f.hop(nodes[i-1], n))
		}
	}
	if turned(p.Hops) {
		slices.Reverse(p.Hops)
		for i := range p.Hops {
			p.Hops[i] = p.Hops[i].reversed()
		}
	}
	return p
}

// turned reports whether a path reads better from its other end: if all its temporal hops point backward, or else all
// its hops of cause and elaboration do.
func turned(hops []Hop) bool {
	for _, kinds := range [][]graphstore.RelationType{{graphstore.TemporalNext}, {graphstore.Causes, graphstore.Elaborates}} {
		forward, backward := 0, 0
		for i := range hops {
			if slices.Contains(kinds, hops[i].Type) {
				forward += one(hops[i].Direction == Forward)
				backward += one(hops[i].Direction == Backward)
			}
		}
		if (forward > 0) != (backward > 0) {
			return backward > 0
		}
	}
	return false
}
