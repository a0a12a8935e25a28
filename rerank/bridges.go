package rerank

import (
	"cmp"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// bridgeSet is the entities and topics on a pool's members. It is read from the members' side, once per member and
// bridge, so its cost does not depend on how many facts outside the pool are on a bridge.
type bridgeSet struct {
	numbers map[graphstore.Bridge]int32 // in bridges
	bridges []poolBridge
	uses    []int32 // numbers of bridges, by member: those of member v are uses[start[v]:start[v+1]]
	start   []int32
	on      []int32 // members, by bridge
}

// poolBridge is a bridge specific enough to tie facts to each other.
type poolBridge struct {
	bridge graphstore.Bridge
	facts  int
	damp   float64
	last   int32 // latest member on it
	count  int32 // members on it; 0 for a bridge that is not used
	first  int32 // place of its members in bridgeSet.on
	done   int32 // members whose row has been made
}

// read collects the bridges of all members.
func (s *bridgeSet) read(r *Ranker, q *Request, members []member) {
	if s.numbers == nil {
		s.numbers = map[graphstore.Bridge]int32{}
	}
	clear(s.numbers)
	s.bridges, s.uses = s.bridges[:0], s.uses[:0]
	s.start = grown(s.start, len(members)+1)
	for i := range members {
		s.start[i] = int32(len(s.uses))
		if members[i].known {
			s.readMember(r, q.Graph, int32(i), members[i].node)
		}
	}
	s.start[len(members)] = int32(len(s.uses))
	s.place(r, q)
	for i := range members {
		s.sortUses(s.of(int32(i)))
	}
}

func (s *bridgeSet) readMember(r *Ranker, g *graphstore.Snapshot, v int32, n graphstore.Node) {
	for b := range g.Bridges(n) {
		if r.support[b.Type] == 0 {
			continue
		}
		facts, damp := r.damp(g, b)
		if damp == 0 {
			continue
		}
		number, seen := s.numbers[b]
		if !seen {
			number = int32(len(s.bridges))
			s.numbers[b] = number
			s.bridges = append(s.bridges, poolBridge{bridge: b, facts: facts, damp: damp, last: -1})
		}
		if at := &s.bridges[number]; at.last != v { // a second contribution to the same bridge counts once
			at.last = v
			at.count++
			s.uses = append(s.uses, number)
		}
	}
}

// place lists the members of every bridge that at least two are on, in ascending order.
func (s *bridgeSet) place(r *Ranker, q *Request) {
	total := int32(0)
	for i := range s.bridges {
		b := &s.bridges[i]
		if b.count < 2 || r.named(q.Graph, b.bridge, q.Speakers) {
			b.count = 0
		}
		b.first = total
		total += b.count
	}
	s.on = grown(s.on, int(total))
	for v := range int32(len(s.start) - 1) {
		for _, number := range s.of(v) {
			if b := &s.bridges[number]; b.count > 0 {
				s.on[b.first+b.done] = v
				b.done++
			}
		}
	}
}

// rewind readies the set for rows from the first member on.
func (s *bridgeSet) rewind() {
	for i := range s.bridges {
		s.bridges[i].done = 0
	}
}

// sortUses puts the bridges of one member in an order that does not depend on how they arrived: by type and number of
// facts. Bridges equal in both are equal factors of a product.
func (s *bridgeSet) sortUses(uses []int32) {
	slices.SortFunc(uses, func(a, b int32) int {
		x, y := &s.bridges[a], &s.bridges[b]
		return cmp.Or(cmp.Compare(x.bridge.Type, y.bridge.Type), cmp.Compare(x.facts, y.facts))
	})
}

// of returns the numbers of the bridges of member v.
func (s *bridgeSet) of(v int32) []int32 { return s.uses[s.start[v]:s.start[v+1]] }

// addTo adds what member u shares with later members to its row. Rows are made in ascending order of u.
func (s *bridgeSet) addTo(w *row, u int32) {
	for _, number := range s.of(u) {
		b := &s.bridges[number]
		if b.count == 0 {
			continue
		}
		b.done++ // members up to and including u
		for _, v := range s.on[b.first+b.done : b.first+b.count] {
			w.addBridge(v, b.bridge.Type, b.damp)
		}
	}
}

// shared returns the ids of the bridges of one type that two members share, sorted.
func (s *bridgeSet) shared(g *graphstore.Snapshot, t graphstore.RelationType, u, v int32) []string {
	var ids []string
	for _, number := range s.of(u) {
		if b := &s.bridges[number]; b.bridge.Type == t && b.count > 0 && slices.Contains(s.of(v), number) {
			ids = append(ids, g.BridgeInfo(b.bridge).ID)
		}
	}
	slices.Sort(ids)
	return ids
}
