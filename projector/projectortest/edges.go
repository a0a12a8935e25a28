package projectortest

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// contribute keeps, of what one asserter says of one edge, the best weight and then the smaller detail.
func (g *graph) contribute(e graphstore.Edge) {
	if e.Source == e.Target {
		return
	}
	switch e.Type {
	case graphstore.CoOccurs, graphstore.SemanticNeighbor, graphstore.Contrasts, graphstore.SameSeries, graphstore.Related: // undirected
		e.Source, e.Target = min(e.Source, e.Target), max(e.Source, e.Target)
	}
	key := graphstore.Key{Relation: e.Type, Node: e.Source, Target: e.Target, Asserter: e.Asserter}
	if had, ok := g.edges[key]; !ok || e.Weight > had.Weight || (e.Weight == had.Weight && e.Detail < had.Detail) {
		g.edges[key] = e
	}
}

func byFact(f *fact) graphstore.Asserter {
	return graphstore.Asserter{Kind: graphstore.ByFact, ID: f.ID}
}

// batches joins the present facts of each batch: all of a small one, near ones of a large one.
func (g *graph) batches() {
	members := map[string][]*fact{}
	for _, f := range g.facts {
		if f.BatchID != "" && f.Present() {
			members[f.BatchID] = append(members[f.BatchID], f)
		}
	}
	for batch, list := range members {
		slices.SortFunc(list, func(a, b *fact) int { return cmp.Or(cmp.Compare(a.BatchSeq, b.BatchSeq), cmp.Compare(a.ID, b.ID)) })
		for i, a := range list {
			for j, b := range list {
				near := len(list) <= g.shape.MaxCoOccurs || j-i <= (g.shape.MaxCoOccurs-1)/2
				if i < j && near {
					g.contribute(graphstore.Edge{Source: a.ID, Target: b.ID, Type: graphstore.CoOccurs, Weight: 1,
						Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch}})
				}
			}
		}
	}
}

func (g *graph) relations(f *fact) {
	for _, r := range f.relations {
		w := 1.0
		if r.Weight.Set {
			w = r.Weight.Value
		}
		if math.IsNaN(w) || w <= 0 {
			continue
		}
		typ, detail := graphstore.Related, r.Type
		switch r.Type {
		case "causes":
			typ, detail = graphstore.Causes, ""
		case "elaborates":
			typ, detail = graphstore.Elaborates, ""
		case "contrasts":
			typ, detail = graphstore.Contrasts, ""
		case "same_series":
			typ, detail = graphstore.SameSeries, ""
		case "related":
			detail = ""
		}
		g.contribute(graphstore.Edge{Source: f.ID, Target: g.forms.factID(r.To), Type: typ, Weight: min(w, 1), Detail: detail, Asserter: byFact(f)})
	}
}

func (g *graph) neighbors(f *fact) {
	score := map[string]float64{}
	for _, n := range f.neighbors {
		if id := g.forms.factID(n.ID); n.Score >= g.shape.EdgeMinScore && id != f.ID {
			score[id] = max(score[id], min(n.Score, 1))
		}
	}
	best := slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b))
	})
	for _, id := range best[:min(len(best), g.shape.MaxNeighbors)] {
		g.contribute(graphstore.Edge{Source: f.ID, Target: id, Type: graphstore.SemanticNeighbor, Weight: score[id], Asserter: byFact(f)})
	}
}

const dayMicros = 24 * 60 * 60 * 1_000_000

// spine joins the active facts that have a time, each to the next one.
func (g *graph) spine() {
	var line []*fact
	for _, f := range g.facts {
		if f.State == graphstore.StateActive && f.MemoryAt.Present() {
			line = append(line, f)
		}
	}
	slices.SortFunc(line, func(a, b *fact) int {
		recorded := cmp.Compare(a.RecordedAt.Micros(), b.RecordedAt.Micros())
		switch {
		case !a.RecordedAt.Present() && !b.RecordedAt.Present():
			recorded = 0
		case !a.RecordedAt.Present():
			recorded = -1
		case !b.RecordedAt.Present():
			recorded = 1
		}
		return cmp.Or(cmp.Compare(a.MemoryAt.Micros(), b.MemoryAt.Micros()), recorded, cmp.Compare(a.ID, b.ID))
	})
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		gap := b.MemoryAt.Micros() - a.MemoryAt.Micros()
		weight := max(.1, math.Exp2(-float64(gap)/dayMicros/30))
		if gap <= dayMicros || (a.EpisodeID != "" && a.EpisodeID == b.EpisodeID) {
			weight = 1
		}
		g.contribute(graphstore.Edge{Source: a.ID, Target: b.ID, Type: graphstore.TemporalNext, Weight: weight,
			Asserter: graphstore.Asserter{Kind: graphstore.BySpine}})
	}
}
