package rerank

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// member is one eligible pool member at work.
type member struct {
	index  int32 // in the request's pool
	before int32 // from 0: place among the members in the incoming order
	node   graphstore.Node
	links  int32 // contributions at the node; 0 without a node
	known  bool  // has a node in the graph
	degree int32 // members that support it
	sender bool  // good enough to support others
	capped bool
	base   float64
	tie    float64 // cosine that orders equal scores
	score  float64 // graph score
	raw    float64 // support before the cap
}

// idPlace sorts candidates by id; the first bytes of the id, as a number, decide most comparisons without looking at
// the string.
type idPlace struct {
	prefix uint64
	index  int32
}

// gather fills members from the request's pool and returns who was removed: the ineligible, then repeats of an id.
func (s *scratch) gather(r *Ranker, q *Request) []Removed {
	removed := s.sortEligible(q)
	s.members = s.members[:0]
	for i, place := range s.order {
		c := &q.Pool[place.index]
		if i > 0 && s.order[i-1].prefix == place.prefix && q.Pool[s.order[i-1].index].ID == c.ID {
			removed = append(removed, Removed{ID: c.ID, Index: int(place.index), Reason: ReasonDuplicate})
			continue
		}
		m := member{index: place.index}
		var finite bool
		m.base, finite = r.calibration.base(c)
		m.sender = finite && atLeast(m.base, r.settings.SenderFloor)
		m.score = m.base
		s.members = append(s.members, m)
	}
	s.placeIncoming(q)
	slices.SortFunc(removed, func(a, b Removed) int { return cmp.Compare(a.Index, b.Index) })
	return removed
}

// sortEligible fills s.order with the eligible candidates, by id and then by pool order, and returns the others.
func (s *scratch) sortEligible(q *Request) []Removed {
	var removed []Removed
	test := q.eligibility()
	s.order = s.order[:0]
	for i := range q.Pool {
		c := &q.Pool[i]
		if why := test.refuses(c); why != "" {
			removed = append(removed, Removed{ID: c.ID, Index: i, Reason: why})
			continue
		}
		s.order = append(s.order, idPlace{prefixOf(c.ID), int32(i)})
	}
	slices.SortFunc(s.order, func(a, b idPlace) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return cmp.Or(strings.Compare(q.Pool[a.index].ID, q.Pool[b.index].ID), cmp.Compare(a.index, b.index))
	})
	return removed
}

// prefixOf packs the first eight bytes of an id so that numbers order as the ids do, bytewise.
func prefixOf(id string) uint64 {
	var head [8]byte
	copy(head[:], id)
	return binary.BigEndian.Uint64(head[:])
}

// placeIncoming numbers the members by pool order and gives each the cosine that orders equal scores. One that is not
// finite cannot be compared: its item takes the cosine of the item before it, which leaves it in its place in a pool
// that is ordered by cosine.
func (s *scratch) placeIncoming(q *Request) {
	s.incoming(len(q.Pool))
	tie := firstFinite(q, s.members, s.ranking)
	for place, i := range s.ranking {
		m := &s.members[i]
		if c := q.Pool[m.index].Cosine; isFinite(c) {
			tie = c
		}
		m.before, m.tie = int32(place), tie
	}
}

// incoming fills s.ranking with the members in pool order.
func (s *scratch) incoming(pool int) {
	s.places = grown(s.places, pool)
	for i := range s.places {
		s.places[i] = -1
	}
	for i := range s.members {
		s.places[s.members[i].index] = int32(i)
	}
	s.ranking = s.ranking[:0]
	for _, i := range s.places {
		if i >= 0 {
			s.ranking = append(s.ranking, i)
		}
	}
}

func firstFinite(q *Request, members []member, incoming []int32) float64 {
	for _, i := range incoming {
		if c := q.Pool[members[i].index].Cosine; isFinite(c) {
			return c
		}
	}
	return 0
}

// resolve looks the members up in the graph.
func (s *scratch) resolve(q *Request) {
	g := q.Graph
	s.table.reset(len(s.members))
	for i := range s.members {
		m := &s.members[i]
		if m.node, m.known = g.Node(q.Pool[m.index].ID); m.known {
			m.links = int32(len(g.Links(m.node)))
			s.table.put(m.node, int32(i))
		}
	}
}

// find is what gather and resolve come to for a walk, which needs no order among the members: those that the graph knows,
// of equal ids the first.
func (s *scratch) find(q *Request) {
	test := q.eligibility()
	s.members = s.members[:0]
	s.table.reset(len(q.Pool))
	for i := range q.Pool {
		c := &q.Pool[i]
		if test.refuses(c) != "" {
			continue
		}
		if n, known := q.Graph.Node(c.ID); known && s.table.find(n) < 0 {
			s.table.put(n, int32(len(s.members)))
			s.members = append(s.members, member{index: int32(i), node: n, known: true})
		}
	}
}
