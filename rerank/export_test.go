package rerank

import "github.com/kithgraph/kith/graphstore"

// SetLinkReads lowers the bound on links read, so that a test needs no graph with a quarter of a million of them.
func SetLinkReads(r *Ranker, n int) { r.linkReads = n }

// SetPoolEdges lowers the bound on edges among the members of a pool.
func SetPoolEdges(r *Ranker, n int) { r.poolEdges = n }

// SetWalkReads lowers the bound on what one walk looks at.
func SetWalkReads(r *Ranker, n int) { r.walkReads = n }

// Walk is the plain walk that ranking is measured against: look at every link of every pool member, and at every fact on
// its entities and topics if bridges is set, and count those that lead to another member. It has the same membership
// table as the ranking, so it is a fair floor.
func Walk(g *graphstore.Snapshot, nodes []graphstore.Node, bridges bool) int {
	t := nodeTable{slots: walkSlots}
	t.reset(len(nodes))
	for i, n := range nodes {
		t.put(n, int32(i))
	}
	inside := 0
	for _, n := range nodes {
		for _, l := range g.Links(n) {
			if t.find(l.To) >= 0 {
				inside++
			}
		}
		if !bridges {
			continue
		}
		for b := range g.Bridges(n) {
			for _, f := range g.BridgeFacts(b) {
				if t.find(f) >= 0 {
					inside++
				}
			}
		}
	}
	return inside
}

var walkSlots = make([]nodeSlot, 0, 1<<16)
