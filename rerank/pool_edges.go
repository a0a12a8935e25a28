package rerank

import (
	"cmp"
	"math/bits"
	"slices"
)

// MaxPoolEdges is how many edges among the members of a pool support is passed over: an edge is everything of one type
// between two members. Of more the strongest (prior times weight) count, then those of the smaller ids, then those of the
// type that comes first. A pool of 200 facts has some hundred as a rule. Ties of episodes are not among them.
const MaxPoolEdges = 4_000

// poolEdge is everything of one type between two members.
type poolEdge struct {
	strength  float64
	low, high int32
	kind      uint8
}

// keepStrongest folds the pairs again, over the strongest edges alone.
func (f *folding) keepStrongest() {
	s := f.s
	keep := f.r.poolEdges
	s.strongest = s.strongest[:0]
	s.eachPair(f.r, f.q, func(u, v int32, mask uint16, weights []float64) {
		s.row.takeWays(v)
		for mask &^= episodeBit; mask != 0; mask &= mask - 1 {
			t := bits.TrailingZeros16(mask)
			s.strongest = append(s.strongest, poolEdge{f.r.support[t] * weights[t], u, v, uint8(t)})
		}
		if len(s.strongest) > 4*keep { // so that the memory is bounded too
			s.cutStrongest(keep)
		}
	})
	s.cutStrongest(keep)
	slices.SortFunc(s.strongest, comparePlaces)
	*f = folding{s: s, r: f.r, q: f.q}
	s.pairs, s.relations = s.pairs[:0], s.relations[:0]
	for i := range s.members {
		s.members[i].degree = 0
	}
	left := s.strongest
	s.eachPair(f.r, f.q, func(u, v int32, mask uint16, weights []float64) {
		kept := mask & episodeBit
		for len(left) > 0 && left[0].low == u && left[0].high == v {
			kept |= 1 << left[0].kind
			left = left[1:]
		}
		if kept != 0 {
			f.emit(u, v, kept, weights)
		}
	})
}

func (s *scratch) cutStrongest(keep int) {
	slices.SortFunc(s.strongest, func(a, b poolEdge) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), comparePlaces(a, b))
	})
	s.strongest = s.strongest[:min(keep, len(s.strongest))]
}

// comparePlaces orders by the two members, which are numbered in the order of their ids, then by type.
func comparePlaces(a, b poolEdge) int {
	return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high), cmp.Compare(a.kind, b.kind))
}
