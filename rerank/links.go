package rerank

import "github.com/kithgraph/kith/graphstore"

// maxLinkReads bounds the links one ranking reads, at about a nanosecond each. Members beyond it are hubs whose links
// are found from their other ends.
const maxLinkReads = 250_000

// unevenLinks is the size from which one member's links are not read if all others together have fewer.
const unevenLinks = 256

// lateLink is a link of a hub that was found at its other end.
type lateLink struct {
	hub, other int32 // hub < other
	kind       graphstore.RelationType
	weight     float64
}

// splitHubs marks members whose links are read only from the other end, and returns how many: the largest one if it
// outweighs all others, and as many of the largest as it takes to stay within linkReads. Which they are depends on
// degrees and ids alone. A marked member has links < 0. Edges between two of them are not read.
func (s *scratch) splitHubs(linkReads int) int {
	total := 0
	for i := range s.members {
		total += int(s.members[i].links)
	}
	hubs := 0
	for {
		big := s.biggest()
		if big == nil {
			return hubs
		}
		uneven := hubs == 0 && big.links > unevenLinks && 2*int(big.links) > total
		if !uneven && total <= linkReads {
			return hubs
		}
		total -= int(big.links)
		big.links = -big.links
		hubs++
	}
}

func (s *scratch) biggest() *member {
	var big *member
	for i := range s.members {
		if m := &s.members[i]; m.links > 0 && (big == nil || m.links > big.links) {
			big = m
		}
	}
	return big
}

// readLate finds the links of hubs at the other ends.
func (s *scratch) readLate(r *Ranker, g *graphstore.Snapshot) {
	s.late = s.late[:0]
	for i := range s.members {
		m := &s.members[i]
		if m.links <= 0 {
			continue
		}
		for _, l := range g.Links(m.node) {
			if r.support[l.Type] == 0 {
				continue
			}
			if h := s.table.find(l.To); h >= 0 && h < int32(i) && s.members[h].links < 0 {
				s.late = append(s.late, lateLink{h, int32(i), l.Type, l.Weight})
			}
		}
	}
}

// readLinks adds the fact-to-fact edges between member u and later ones to the row.
func (s *scratch) readLinks(r *Ranker, g *graphstore.Snapshot, u int32) {
	m := &s.members[u]
	if m.links < 0 {
		for _, l := range s.late {
			if l.hub == u {
				s.row.add(l.other, l.kind, l.weight)
			}
		}
		return
	}
	for _, l := range g.Links(m.node) {
		if v := s.table.find(l.To); v > u && r.support[l.Type] != 0 {
			s.row.add(v, l.Type, l.Weight)
		}
	}
}
