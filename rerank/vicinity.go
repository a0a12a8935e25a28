package rerank

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// vicinity folds everything around one fact: its links of all types in both directions, and the facts it shares
// entities and topics with, which count as one hop.
type vicinity struct {
	table   nodeTable
	nodes   []graphstore.Node
	stamps  []int32 // latest bridge counted, per node
	row     row
	bridges []bridgeUse
	reads   int // links and facts on bridges looked at so far
}

// bridgeUse is a bridge of a fact that is specific enough to tie it to others.
type bridgeUse struct {
	bridge graphstore.Bridge
	facts  int
	damp   float64
}

// tied is a neighbour with its folded edge.
type tied struct {
	weight float64
	node   graphstore.Node
	top    graphstore.RelationType
}

// compareTied orders by weight, largest first, then by id.
func compareTied(g *graphstore.Snapshot, a, b tied) int {
	switch {
	case a.weight > b.weight:
		return -1
	case a.weight < b.weight:
		return 1
	default:
		return strings.Compare(g.ID(a.node), g.ID(b.node))
	}
}

// read gathers the edges of a fact under priors. peers are the facts that episode recall ties to it; links that skip
// reports are left out, nil for none.
func (c *vicinity) read(r *Ranker, q *Request, n graphstore.Node, priors *priorTable, peers []graphstore.Node, skip func(graphstore.Node, graphstore.Link) bool) {
	g := q.Graph
	c.findBridges(r, q, n, priors)
	size := c.cost(g, n) + len(peers)
	c.reads += size
	c.table.reset(size)
	c.nodes = c.nodes[:0]
	c.row.reset(size)
	c.stamps = grown(c.stamps, size)
	clear(c.stamps)
	for _, l := range g.Links(n) {
		if l.To != n && priors[l.Type] != 0 && (skip == nil || !skip(n, l)) {
			c.row.add(c.number(l.To), l.Type, l.Weight)
		}
	}
	for _, m := range peers {
		c.row.add(c.number(m), graphstore.Episode, r.settings.EpisodeWeight)
	}
	for i, use := range c.bridges {
		for _, m := range g.BridgeFacts(use.bridge) {
			if m == n {
				continue
			}
			if v := c.number(m); c.stamps[v] != int32(i+1) {
				c.stamps[v] = int32(i + 1)
				c.row.addBridge(v, use.bridge.Type, use.damp)
			}
		}
	}
}

// cost returns how many links and facts on bridges reading the fact looks at; findBridges comes first.
func (c *vicinity) cost(g *graphstore.Snapshot, n graphstore.Node) int {
	size := len(g.Links(n))
	for _, use := range c.bridges {
		size += len(g.BridgeFacts(use.bridge))
	}
	return size
}

// findBridges lists the bridges of a fact that may tie it to others, each once, in an order that does not depend on how
// they arrived: those equal in it are equal factors of a product.
func (c *vicinity) findBridges(r *Ranker, q *Request, n graphstore.Node, priors *priorTable) {
	c.bridges = c.bridges[:0]
	for b := range q.Graph.Bridges(n) {
		facts, damp := r.damp(q.Graph, b)
		if priors[b.Type] == 0 || damp == 0 || slices.ContainsFunc(c.bridges, func(u bridgeUse) bool { return u.bridge == b }) {
			continue
		}
		if !r.named(q.Graph, b, q.Speakers) {
			c.bridges = append(c.bridges, bridgeUse{b, facts, damp})
		}
	}
	slices.SortFunc(c.bridges, func(a, b bridgeUse) int {
		return cmp.Or(cmp.Compare(a.bridge.Type, b.bridge.Type), cmp.Compare(a.facts, b.facts))
	})
}

// number returns the place of a neighbour in c.nodes.
func (c *vicinity) number(n graphstore.Node) int32 {
	if v := c.table.find(n); v >= 0 {
		return v
	}
	v := int32(len(c.nodes))
	c.table.put(n, v)
	c.nodes = append(c.nodes, n)
	return v
}

// strongest appends the limit strongest neighbours that pass the test, by weight, then by id. It keeps the best as it
// goes, so that a fact with ten thousand neighbours costs one look at each.
func (c *vicinity) strongest(into []tied, r *Ranker, g *graphstore.Snapshot, priors *priorTable, limit int, pass func(tied) bool) []tied {
	from := len(into)
	c.row.drain(func(v int32, mask uint16, weights []float64) {
		t := tied{node: c.nodes[v], weight: min(1-missOf(mask, weights, priors), r.settings.WeightMax)}
		best := into[from:]
		full := len(best) == limit
		if t.weight <= 0 || full && t.weight < best[limit-1].weight {
			return // most of a hub's neighbours: decided without a look at the fact
		}
		if full && compareTied(g, best[limit-1], t) < 0 || !pass(t) {
			return
		}
		t.top = topOf(mask, weights, priors)
		if !full {
			into = append(into, t)
		}
		at := len(into) - 1
		for ; at > from && compareTied(g, into[at-1], t) > 0; at-- {
			into[at] = into[at-1]
		}
		into[at] = t
	})
	return into
}

// topOf returns the type with the largest prior*weight, the first of the tie-break order among equals.
func topOf(mask uint16, weights []float64, priors *priorTable) graphstore.RelationType {
	var top graphstore.RelationType
	best := 0.0
	for ; mask != 0; mask &= mask - 1 {
		t := bits.TrailingZeros16(mask)
		if e := priors[t] * weights[t]; e > best {
			top, best = graphstore.RelationType(t), e
		}
	}
	return top
}
