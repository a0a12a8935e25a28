package rerank

import (
	"cmp"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// A bridge is never used when more than one in hubShare of the space's facts are on it, from hubShareMin facts on: it
// says nothing about two of them.
const (
	hubShare    = 5 // a fifth
	hubShareMin = 20
)

// damping returns how much sharing a bridge says, by the number of distinct facts on it: nothing below two facts or above
// the hub cap, and the less the more facts there are (1 for two, 1/2 for three, 1/4 for nine).
func damping(facts, hubCap int) float64 {
	if facts < 2 || facts > hubCap {
		return 0
	}
	return 1 / (1 + math.Log2(float64(facts-1)))
}

func dampingTable(hubCap int) []float64 {
	table := make([]float64, hubCap+1)
	for facts := range table {
		table[facts] = damping(facts, hubCap)
	}
	return table
}

// bridgeUse is a bridge of a fact that is specific enough to tie it to others.
type bridgeUse struct {
	bridge graphstore.Bridge
	facts  int
	damp   float64
}

// usableBridges appends the bridges of a node that may tie it to other facts under the priors, each once, most telling
// kinds and rarest bridges first. The order makes products over bridges independent of the order they arrived in: those
// with equal numbers of facts are equal factors.
func (r *Ranker) usableBridges(into []bridgeUse, g *graphstore.Snapshot, n graphstore.Node, priors *priorTable) []bridgeUse {
	into = into[:0]
	for b := range g.Bridges(n) {
		if priors[b.Type] == 0 {
			continue
		}
		facts := g.BridgeDegree(b)
		if facts >= len(r.damping) || r.damping[facts] == 0 || tooCommon(facts, g.Present()) {
			continue
		}
		if !slices.ContainsFunc(into, func(u bridgeUse) bool { return u.bridge == b }) {
			into = append(into, bridgeUse{b, facts, r.damping[facts]})
		}
	}
	slices.SortFunc(into, func(a, b bridgeUse) int {
		return cmp.Or(cmp.Compare(a.bridge.Type, b.bridge.Type), cmp.Compare(a.facts, b.facts))
	})
	return into
}

func tooCommon(facts, present int) bool { return facts > hubShareMin && facts*hubShare > present }

// named reports whether the bridge is an entity that is never bridged over: the owner of the space or a speaker.
func (r *Ranker) named(g *graphstore.Snapshot, b graphstore.Bridge, speakers []string) bool {
	if b.Type != graphstore.Mentions {
		return false
	}
	info := g.BridgeInfo(b)
	return slices.Contains(r.owners, info.Name) || slices.Contains(speakers, info.Name) || slices.Contains(speakers, info.ID)
}

// readBridges adds the bridges that member u shares with later ones to the row.
func (s *scratch) readBridges(r *Ranker, q *Request, u int32) {
	s.bridges = r.usableBridges(s.bridges, q.Graph, s.members[u].node, &r.support)
	for _, use := range s.bridges {
		if r.named(q.Graph, use.bridge, q.Speakers) {
			continue
		}
		s.row.stamp++
		for _, n := range q.Graph.BridgeFacts(use.bridge) {
			v := s.table.find(n)
			if v <= u || s.row.stamps[v] == s.row.stamp {
				continue
			}
			s.row.stamps[v] = s.row.stamp
			s.row.addBridge(v, use.bridge.Type, use.damp)
		}
	}
}
