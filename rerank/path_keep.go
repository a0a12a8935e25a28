package rerank

import (
	"cmp"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// connection is the strongest way between two ends, before it is spelled out: most are never shown.
type connection struct {
	a, b     *pathEnd
	middle   graphstore.Node // -1: none
	hops     int
	strength float64
	score    float64
	newest   graphstore.Instant
	path     *Path // once it was needed
}

func (f *pathFinder) connection(a, b *pathEnd, middle graphstore.Node, strength float64) connection {
	c := connection{a: a, b: b, middle: middle, hops: 1, strength: strength, score: strength * math.Sqrt(a.base*b.base)}
	if middle >= 0 {
		c.hops = 2
	}
	nodes := c.nodes()
	for _, n := range nodes[:c.hops+1] {
		if m := f.memoryAt(n); compareNewest(m, c.newest) > 0 {
			c.newest = m
		}
	}
	return c
}

// nodes returns the hops+1 facts from a to b.
func (c *connection) nodes() [3]graphstore.Node {
	if c.middle < 0 {
		return [3]graphstore.Node{c.a.node, c.b.node, -1}
	}
	return [3]graphstore.Node{c.a.node, c.middle, c.b.node}
}

// find looks at all pairs and keeps the best paths.
func (f *pathFinder) find(ends []pathEnd) PathResult {
	f.read(ends)
	all := make([]connection, 0, len(ends)*len(ends)/2)
	for i := range ends {
		for j := i + 1; j < len(ends); j++ {
			if c := f.strongest(&ends[i], &ends[j]); c.strength > 0 {
				all = append(all, c)
			}
		}
	}
	order := make([]*connection, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortFunc(order, f.compare)
	res := PathResult{Truncated: f.truncated}
	for _, c := range f.keep(order) {
		res.Paths = append(res.Paths, *f.path(c))
		nodes := c.nodes()
		for _, n := range nodes[:c.hops+1] {
			if f.candidate(n) == nil {
				res.Unconfirmed = append(res.Unconfirmed, f.id(n))
			}
		}
	}
	slices.Sort(res.Unconfirmed)
	res.Unconfirmed = slices.Compact(res.Unconfirmed)
	return res
}

// compare orders by score, then fewer hops, then the newer newest fact, then the ids along the path as it reads.
func (f *pathFinder) compare(a, b *connection) int {
	if c := cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.hops, b.hops), compareNewest(b.newest, a.newest)); c != 0 || a == b {
		return c
	}
	return slices.Compare(f.path(a).IDs(), f.path(b).IDs())
}

// compareNewest compares instants; an absent one is before all.
func compareNewest(a, b graphstore.Instant) int {
	if a.Present() != b.Present() {
		return one(a.Present()) - one(b.Present())
	}
	return cmp.Compare(a, b)
}

// keep takes connections in order while they show a hop that none before them shows, and their ends have room.
func (f *pathFinder) keep(order []*connection) []*connection {
	limits := &f.r.settings.Paths
	var kept []*connection
	var shown [][2]graphstore.Node
	for _, c := range order {
		nodes := c.nodes()
		news := false
		for i := range c.hops {
			news = news || !slices.Contains(shown, hopBetween(nodes[i], nodes[i+1]))
		}
		if !news || c.a.kept >= limits.PerNode || c.b.kept >= limits.PerNode {
			continue
		}
		for i := range c.hops {
			shown = append(shown, hopBetween(nodes[i], nodes[i+1]))
		}
		c.a.kept++
		c.b.kept++
		if kept = append(kept, c); len(kept) == limits.Max {
			break
		}
	}
	return kept
}

// hopBetween names a hop whichever way it is seen.
func hopBetween(a, b graphstore.Node) [2]graphstore.Node {
	return [2]graphstore.Node{min(a, b), max(a, b)}
}

// path spells a connection out, in reading order.
func (f *pathFinder) path(c *connection) *Path {
	if c.path != nil {
		return c.path
	}
	p := &Path{Strength: c.strength, Score: c.score, Newest: c.newest, Hops: make([]Hop, c.hops)}
	nodes := c.nodes()
	for i := range p.Hops {
		p.Hops[i] = f.hop(nodes[i], nodes[i+1])
	}
	if turned(p.Hops) {
		slices.Reverse(p.Hops)
		for i := range p.Hops {
			p.Hops[i] = p.Hops[i].reversed()
		}
	}
	c.path = p
	return p
}
