package rerank

import (
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

// damp returns the number of facts on a bridge and how much sharing it says, 0 if it must not be used for its size.
func (r *Ranker) damp(g *graphstore.Snapshot, b graphstore.Bridge) (facts int, damp float64) {
	facts = g.BridgeDegree(b)
	if facts >= len(r.damping) || facts > hubShareMin && facts*hubShare > g.Present() {
		return facts, 0
	}
	return facts, r.damping[facts]
}

// named reports whether the bridge is an entity that is never bridged over: the owner of the space or a speaker.
func (r *Ranker) named(g *graphstore.Snapshot, b graphstore.Bridge, speakers []string) bool {
	if b.Type != graphstore.Mentions {
		return false
	}
	info := g.BridgeInfo(b)
	return slices.Contains(r.owners, info.Name) || slices.Contains(speakers, info.Name) || slices.Contains(speakers, info.ID)
}
