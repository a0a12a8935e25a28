package rerank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// explain accounts for the boost of member v: who gave how much of it, over which edges.
func (s *scratch) explain(r *Ranker, q *Request, v int32) *Explanation {
	m := &s.members[v]
	x := &Explanation{CapBound: m.capped}
	if m.raw == 0 {
		return x
	}
	rows := &s.neighbours
	scale := r.settings.Beta / math.Sqrt(float64(rows.degree(v)))
	if m.capped {
		scale *= r.settings.SupportCap / m.raw
	}
	for at := rows.start[v]; at < rows.start[v+1]; at++ {
		u := rows.from[at]
		relations := s.relationsTo(v, &s.pairs[rows.pair[at]])
		for i := range relations {
			relations[i].Over = r.sharedBridges(q, relations[i].Type, m.node, s.members[u].node)
		}
		x.Supporters = append(x.Supporters, Supporter{
			ID: s.members[u].id, Relations: relations, Top: strongest(relations),
			Weight: rows.weight[at], Sent: s.step[u], Share: scale * rows.weight[at] * s.step[u],
		})
	}
	slices.SortFunc(x.Supporters, func(a, b Supporter) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.ID, b.ID))
	})
	return x
}

// relationsTo copies the relations of a pair that work towards member v.
func (s *scratch) relationsTo(v int32, p *pair) []Relation {
	relations := slices.Clone(s.relations[p.relations[0]:p.relations[1]])
	way := lowSupportsHigh
	if v == p.low {
		way = highSupportsLow
	}
	if p.ways&way == 0 {
		relations = slices.DeleteFunc(relations, func(x Relation) bool { return x.Type == graphstore.Episode })
	}
	return relations
}

// strongest returns the type with the largest strength, the first of the tie-break order among equals.
func strongest(relations []Relation) graphstore.RelationType {
	var top Relation
	for _, x := range relations {
		if x.Strength > top.Strength {
			top = x
		}
	}
	return top.Type
}

// sharedBridges returns the ids of the usable bridges of kind t that two facts share, sorted.
func (r *Ranker) sharedBridges(q *Request, t graphstore.RelationType, a, b graphstore.Node) []string {
	if t != graphstore.Mentions && t != graphstore.TaggedWith {
		return nil
	}
	var ids []string
	for _, use := range r.usableBridges(nil, q.Graph, a, &r.support) {
		if use.bridge.Type != t || r.named(q.Graph, use.bridge, q.Speakers) {
			continue
		}
		if slices.Contains(q.Graph.BridgeFacts(use.bridge), b) {
			ids = append(ids, q.Graph.BridgeInfo(use.bridge).ID)
		}
	}
	slices.Sort(ids)
	return ids
}
