package rerank

import (
	"math/bits"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// hop folds everything between two facts again, with directions and the names of shared bridges.
func (f *pathFinder) hop(a, b graphstore.Node) Hop {
	g := f.q.Graph
	h := Hop{From: f.id(a), To: f.id(b), Direction: Undirected}
	var e edge
	f.addLinks(&e, a, b)
	f.addBridges(&e, a, b)
	if i, j := f.w.scratch.table.find(a), f.w.scratch.table.find(b); i >= 0 && j >= 0 && slices.Contains(f.w.episodePeers(i), b) {
		e.add(graphstore.Episode, f.r.settings.EpisodeWeight, false)
		e.add(graphstore.Episode, f.r.settings.EpisodeWeight, true)
	}
	h.Weight = min(1-missOf(e.mask, e.weights[:], &f.r.paths), f.r.settings.WeightMax)
	h.Type = topOf(e.mask, e.weights[:], &f.r.paths)
	for mask := e.mask; mask != 0; mask &= mask - 1 {
		t := graphstore.RelationType(bits.TrailingZeros16(mask))
		x := Relation{Type: t, Weight: e.weights[t], Strength: f.r.paths[t] * e.weights[t]}
		for _, bridge := range e.over {
			if bridge.Type == t {
				x.Over = append(x.Over, g.BridgeInfo(bridge).ID)
			}
		}
		slices.Sort(x.Over)
		h.Relations = append(h.Relations, x)
	}
	if out, in := e.out[h.Type], e.in[h.Type]; h.Type.Directed() && out != in {
		h.Direction = Backward
		if out > in {
			h.Direction = Forward
		}
	}
	h.setTime()
	return h
}

// setTime names the earlier and the later fact of a temporal hop.
func (h *Hop) setTime() {
	if h.Type != graphstore.TemporalNext {
		return
	}
	switch h.Direction {
	case Forward:
		h.Earlier, h.Later = h.From, h.To
	case Backward:
		h.Earlier, h.Later = h.To, h.From
	}
}

// edge is everything between two facts, by type.
type edge struct {
	mask    uint16
	weights [typeSlots]float64 // the best of either direction
	out, in [typeSlots]float64 // the best of each
	over    []graphstore.Bridge
}

func (e *edge) add(t graphstore.RelationType, weight float64, out bool) {
	if !(weight > 0) { // also NaN
		return
	}
	weight = min(weight, 1)
	e.mask |= 1 << t
	e.weights[t] = max(e.weights[t], weight)
	if out {
		e.out[t] = max(e.out[t], weight)
	} else {
		e.in[t] = max(e.in[t], weight)
	}
}

// addLinks reads the links at the end that has fewer.
func (f *pathFinder) addLinks(e *edge, a, b graphstore.Node) {
	g := f.q.Graph
	from, to := a, b
	if len(g.Links(b)) < len(g.Links(a)) {
		from, to = b, a
	}
	for _, l := range g.Links(from) {
		if l.To == to && f.r.paths[l.Type] != 0 && !f.stale(from, l) {
			e.add(l.Type, l.Weight, l.Out() == (from == a))
		}
	}
}

func (f *pathFinder) addBridges(e *edge, a, b graphstore.Node) {
	v := &f.w.vicinity
	v.findBridges(f.r, f.q, a, &f.r.paths)
	for _, use := range v.bridges {
		if !slices.Contains(f.q.Graph.BridgeFacts(use.bridge), b) {
			continue
		}
		t := use.bridge.Type
		e.mask |= 1 << t
		e.weights[t] = 1 - (1-e.weights[t])*(1-use.damp)
		e.over = append(e.over, use.bridge)
	}
}
