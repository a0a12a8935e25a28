package rerank

import (
	"cmp"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// pathFinder is one search for relation paths at work.
type pathFinder struct {
	r         *Ranker
	q         *Request
	w         *walker
	only      bool
	truncated bool
}

// read lists the neighbours of all ends.
func (f *pathFinder) read(ends []pathEnd) {
	v := &f.w.vicinity
	f.w.near = f.w.near[:0]
	for i := range ends {
		e := &ends[i]
		if !f.w.affordable(e.node) {
			f.truncated = true
			continue
		}
		peers := f.w.episodePeers(f.w.scratch.table.find(e.node))
		v.read(f.r, f.q, e.node, &f.r.paths, peers, f.stale)
		from := len(f.w.near)
		v.row.drain(func(n int32, mask uint16, weights []float64) {
			if weight := min(1-missOf(mask, weights, &f.r.paths), f.r.settings.WeightMax); weight > 0 {
				f.w.near = append(f.w.near, nearby{v.nodes[n], weight})
			}
		})
		e.near = f.w.near[from:len(f.w.near):len(f.w.near)]
		slices.SortFunc(e.near, func(a, b nearby) int { return cmp.Compare(a.node, b.node) })
	}
}

// strongest returns the best path between two ends, a ranked before b: the direct one, or over one of the facts both
// are tied to. Among equals fewer hops, then the smaller id in the middle.
func (f *pathFinder) strongest(a, b *pathEnd) connection {
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
	return f.connection(a, b, middle, strength)
}

func (f *pathFinder) id(n graphstore.Node) string { return f.q.Graph.ID(n) }

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
