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
	id     string
	index  int32 // in the request's pool
	before int32 // from 0: place among the members in the incoming order
	node   graphstore.Node
	links  int32 // contributions at the node; 0 without a node
	known  bool  // has a node in the graph
	sender bool  // good enough to support others
	capped bool
	base   float64
	tie    float64 // cosine that orders equal scores
	score  float64 // graph score
	raw    float64 // support before the cap
}

// idPlace sorts members by id; the first bytes of the id, as a number, decide most comparisons without a string
// compare.
type idPlace struct {
	prefix uint64
	id     string
	index  int32
}

// gather fills members from the request's pool and returns who was removed: the ineligible, then repeats of an id.
func (s *scratch) gather(r *Ranker, q *Request) []Removed {
	removed := s.sortEligible(q)
	s.members = s.members[:0]
	for _, place := range s.order {
		last := len(s.members) - 1
		if last >= 0 && s.members[last].id == place.id {
			removed = append(removed, Removed{ID: place.id, Index: int(place.index), Reason: ReasonDuplicate})
			continue
		}
		c := &q.Pool[place.index]
		m := member{id: c.ID, index: place.index}
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
		s.order = append(s.order, idPlace{prefixOf(c.ID), c.ID, int32(i)})
	}
	slices.SortFunc(s.order, func(a, b idPlace) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
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
	s.ranking = grown(s.ranking, len(s.members))
	for i := range s.ranking {
		s.ranking[i] = int32(i)
	}
	slices.SortFunc(s.ranking, func(a, b int32) int { return cmp.Compare(s.members[a].index, s.members[b].index) })
	tie := firstFinite(q, s.members, s.ranking)
	for place, i := range s.ranking {
		m := &s.members[i]
		if c := q.Pool[m.index].Cosine; isFinite(c) {
			tie = c
		}
		m.before, m.tie = int32(place), tie
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
func (s *scratch) resolve(g *graphstore.Snapshot) {
	s.table.reset(len(s.members))
	for i := range s.members {
		m := &s.members[i]
		if m.node, m.known = g.Node(m.id); m.known {
			m.links = int32(len(g.Links(m.node)))
			s.table.put(m.node, int32(i))
		}
	}
}
