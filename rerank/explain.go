package rerank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// explain accounts for every member's boost: who gave how much of it, over which edges.
func (s *scratch) explain(r *Ranker, q *Request) []*Explanation {
	all := make([]*Explanation, len(s.members))
	for v := range all {
		all[v] = &Explanation{CapBound: s.members[v].capped}
	}
	for i := range s.pairs {
		p := &s.pairs[i]
		if p.toLow > 0 {
			all[p.low].Supporters = append(all[p.low].Supporters, s.supporter(r, q, p, p.low, p.high, p.toLow))
		}
		if p.toHigh > 0 {
			all[p.high].Supporters = append(all[p.high].Supporters, s.supporter(r, q, p, p.high, p.low, p.toHigh))
		}
	}
	for _, x := range all {
		slices.SortFunc(x.Supporters, func(a, b Supporter) int {
			return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.ID, b.ID))
		})
	}
	return all
}

// supporter accounts for what v gets of u over pair p.
func (s *scratch) supporter(r *Ranker, q *Request, p *pair, v, u int32, weight float64) Supporter {
	m := &s.members[v]
	scale := r.settings.Beta / math.Sqrt(float64(m.degree))
	if m.capped {
		scale *= r.settings.SupportCap / m.raw
	}
	relations := s.relationsTo(v, p)
	for i := range relations {
		if t := relations[i].Type; t == graphstore.Mentions || t == graphstore.TaggedWith {
			relations[i].Over = s.bridges.shared(q.Graph, t, v, u)
		}
	}
	return Supporter{
		ID: q.Pool[s.members[u].index].ID, Relations: relations, Top: strongest(relations),
		Weight: weight, Sent: s.step[u], Share: scale * weight * s.step[u],
	}
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
