package rerank_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// naiveEdge is everything of one type between two facts.
type naiveEdge struct {
	low, high string
	kind      graphstore.RelationType
	strength  float64
}

// naiveStrongest lists all edges of a pool that carry support, the strongest first.
func (w world) naiveStrongest(pool []rerank.Candidate, s rerank.Settings) []naiveEdge {
	var all []naiveEdge
	for _, u := range pool {
		for _, v := range pool {
			if u.ID >= v.ID {
				continue
			}
			for kind, weight := range w.naiveEdges(u, v, s, nil) {
				if strength := s.Priors[kind] * weight; strength > 0 && !slices.Contains(s.SupportExclude, kind) {
					all = append(all, naiveEdge{u.ID, v.ID, kind, strength})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b naiveEdge) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), strings.Compare(a.low, b.low), strings.Compare(a.high, b.high), cmp.Compare(a.kind, b.kind))
	})
	return all
}

// TestPropertyStrongestEdgesCount: of more edges than the bound the strongest count, ties by ids and types, and the
// diagnostics say how many do not.
func TestPropertyStrongestEdgesCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		for i := range w.links { // so that there are ties
			w.links[i].weight = math.Ceil(w.links[i].weight*4) / 4
		}
		pool := drawPool(rt, w, true)
		s := drawSettings(rt)
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		keep := rapid.IntRange(1, 12).Draw(rt, "bound")
		rerank.SetPoolEdges(r, keep)
		all := w.naiveStrongest(pool, s)
		kept := all[:min(keep, len(all))]
		want := naiveOver(pool, s, func(u, v rerank.Candidate, base map[string]float64) float64 {
			best := map[graphstore.RelationType]float64{}
			for _, e := range kept {
				if e.low == min(u.ID, v.ID) && e.high == max(u.ID, v.ID) {
					best[e.kind] = e.strength / s.Priors[e.kind]
				}
			}
			if s.EpisodeRecall && slices.Contains(naivePeers(v, pool, base), u.ID) {
				best[graphstore.Episode] = s.EpisodeWeight
			}
			return naiveFold(best, s)
		})
		res := mustRank(t, r, requestOf(t, pool, w.snapshot(t)))
		for _, item := range res.Items {
			if math.Abs(item.GraphScore-want[item.ID]) > 1e-12 {
				rt.Fatalf("%s: graph score %v, the %d strongest of %d edges give %v", item.ID, item.GraphScore, keep, len(all), want[item.ID])
			}
			sum := 0.0
			for _, u := range item.Explanation.Supporters {
				sum += u.Share
			}
			if math.Abs(sum-item.Boost()) > 1e-9 {
				rt.Fatalf("%s: shares sum to %v, boost is %v", item.ID, sum, item.Boost())
			}
		}
		edges := 0
		for _, n := range res.Diagnostics.Edges {
			if n.Type != graphstore.Episode {
				edges += n.N
			}
		}
		if s.Beta > 0 && (res.Diagnostics.EdgesTruncated != len(all)-len(kept) || edges != len(kept)) {
			rt.Fatalf("%+v: want %d edges, %d left out", res.Diagnostics, len(kept), len(all)-len(kept))
		}
	})
}
