package sqlite

import "slices"

// seekerSlack is how many candidates beyond twice its limit a seeker holds.
const seekerSlack = 256

// seeker collects the points that may be in the answer to one query, from rough scores that come one by one. It holds at
// most 2*limit+seekerSlack candidates, however many points look alike. For the rule by which a point may be in the answer see
// matrix.nearest.
type seeker struct {
	vector []float32
	unit   []float32
	length float64
	limit  int
	margin float32 // how far below the last rough score wanted a point may be better than it
	floor  float32 // points below it are not in the answer
	rough  []float32
	found  []candidate
}

// candidate is a point with its rough score; the score of the hit counts once it is settled.
type candidate struct {
	hit
	rough   float32
	settled bool
}

func newSeeker(vector []float32, limit int) seeker {
	unit, norm := normalise(vector)
	return seeker{vector: vector, unit: unit, length: norm, limit: limit, margin: 2 * dotSlack(len(vector)), floor: belowAll}
}

// add takes in a point that is not below the floor.
func (s *seeker) add(p place, rough float32) {
	s.rank(rough)
	if len(s.found) >= 2*s.limit+seekerSlack {
		s.compact()
	}
	s.found = append(s.found, candidate{hit: hit{place: p}, rough: rough})
}

// rank raises the floor by one more rough score.
func (s *seeker) rank(rough float32) {
	switch {
	case len(s.rough) < s.limit:
		s.rough = append(s.rough, rough)
		siftUp(s.rough)
	case rough > s.rough[0]:
		s.rough[0] = rough
		siftDown(s.rough)
	}
	if len(s.rough) == s.limit {
		s.floor = s.rough[0] - s.margin
	}
}

// compact leaves at most limit+seekerSlack/2 candidates: those that are not below the floor and, where these are more, the
// best of them by exact score.
func (s *seeker) compact() {
	s.dropBelow()
	if len(s.found) > s.limit+seekerSlack/2 {
		s.settle()
	}
}

func (s *seeker) dropBelow() {
	s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return c.rough < s.floor })
}

// settle leaves the limit best candidates by exact score, best first.
func (s *seeker) settle() {
	for i := range s.found {
		if c := &s.found[i]; !c.settled {
			c.score, c.settled = cosine(s.vector, s.length, c.unit(c.i, len(s.vector))), true
		}
	}
	slices.SortFunc(s.found, func(a, b candidate) int { return compareHits(a.hit, b.hit) })
	s.found = s.found[:min(s.limit, len(s.found))]
}

// merge takes in what another seeker of the same query has found among other points.
func (s *seeker) merge(o *seeker) {
	for _, rough := range o.rough {
		s.rank(rough)
	}
	s.found = append(s.found, o.found...)
}

// hits returns the answer.
func (s *seeker) hits() []hit {
	s.dropBelow()
	s.settle()
	hits := make([]hit, len(s.found))
	for i, c := range s.found {
		hits[i] = c.hit
	}
	return hits
}
