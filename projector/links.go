package projector

import (
	"cmp"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// scoreEpsilon is added on the permissive side of the score threshold: a score of exactly the threshold passes however
// it was rounded.
const scoreEpsilon = 1e-9

// relationType returns the type of a relation between facts that a producer may state, and what must be kept of a name
// that is none. The other types are derived or have fields of their own; a relation that claims one is an unknown one.
func relationType(name string) (t graphstore.RelationType, raw string) {
	t, err := graphstore.ParseRelationType(name)
	if err != nil {
		return graphstore.Related, name
	}
	switch t {
	case graphstore.Causes, graphstore.Elaborates, graphstore.Contrasts, graphstore.SameSeries, graphstore.Related:
		return t, ""
	default:
		return graphstore.Related, name
	}
}

// relationEdges returns the edges that a fact's relations are. Relations that come to the same edge fold to the one with
// the greatest weight, of equal ones the one with the bytewise smallest name.
func (d *draft) relationEdges(id string, refs []RelationRef) []graphstore.Edge {
	best := map[graphstore.Key]graphstore.Edge{}
	for _, ref := range refs {
		t, raw := relationType(ref.Type)
		stated := 1.0
		if ref.Weight.Set {
			stated = ref.Weight.Value
		}
		weight, ok := graphstore.ClampWeight(stated)
		if !ok {
			d.report.BadWeights++
			continue
		}
		to := graphstore.CanonicalFactID(ref.To)
		if to == id {
			d.report.SelfLinks++
			continue
		}
		if t == graphstore.Related && ref.Type != graphstore.Related.String() {
			d.report.UnknownRelations++
		}
		e := graphstore.Edge{Source: id, Target: to, Type: t, Weight: weight, Detail: raw,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: id}}.Normalized()
		d.keepBest(best, e)
	}
	return values(best)
}

// neighborEdges returns the edges that a fact's best neighbours are.
func (d *draft) neighborEdges(id string, refs []NeighborRef) []graphstore.Edge {
	best := map[graphstore.Key]graphstore.Edge{}
	for _, ref := range refs {
		score, ok := graphstore.ClampWeight(ref.Score)
		to := graphstore.CanonicalFactID(ref.ID)
		switch {
		case !ok:
			d.report.BadWeights++
		case to == id:
			d.report.SelfLinks++
		case score+scoreEpsilon < d.cfg.EdgeMinScore:
			d.report.LowScores++
		default:
			d.keepBest(best, graphstore.Edge{Source: id, Target: to, Type: graphstore.SemanticNeighbor, Weight: score,
				Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: id}}.Normalized())
		}
	}
	edges := values(best)
	slices.SortFunc(edges, func(a, b graphstore.Edge) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(far(a, id), far(b, id)))
	})
	if over := len(edges) - d.cfg.MaxNeighbors; over > 0 {
		d.report.ExcessNeighbors += over
		edges = edges[:d.cfg.MaxNeighbors]
	}
	return edges
}

// keepBest folds an edge into those of one fact.
func (d *draft) keepBest(best map[graphstore.Key]graphstore.Edge, e graphstore.Edge) {
	had, folds := best[e.Key()]
	if folds {
		d.report.Folded++
		if had.Weight > e.Weight || (had.Weight == e.Weight && had.Detail <= e.Detail) {
			return
		}
	}
	best[e.Key()] = e
}

// far returns the end of an edge that is not id.
func far(e graphstore.Edge, id string) string {
	if e.Source == id {
		return e.Target
	}
	return e.Source
}

// values returns the edges of a map in no promised order.
func values(edges map[graphstore.Key]graphstore.Edge) []graphstore.Edge {
	list := make([]graphstore.Edge, 0, len(edges))
	for _, e := range edges {
		list = append(list, e)
	}
	return list
}
