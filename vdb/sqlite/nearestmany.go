package sqlite

import (
	"context"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/kithgraph/kith/vdb"
)

const (
	// tileBytes is how many bytes of vectors are scored for all queries before the next ones are: three quarters of the
	// smallest first-level cache in use, so that they stay there beside the vector of one query.
	tileBytes = 24 << 10

	// soloDots is how many dot products are not worth a second goroutine: about 50 microseconds.
	soloDots = 4096
)

// nearestMany returns for each query what nearest does, bit for bit. It goes through the points once: a few of them, which then are
// in the processor's cache, are scored for every query before the next few are. Its memory grows with the limits and not with
// the points. The error is that of the context.
func (m *matrix) nearestMany(ctx context.Context, h helpers, queries []vdb.Query, take func(place) bool) ([][]hit, error) {
	most := math.MaxInt
	if m.points()*len(queries) < soloDots {
		most = 1
	}
	workers := [][]seeker{newSeekers(queries)} // by worker, by query
	for range min(1+cap(h), len(m.blocks), most) - 1 {
		workers = append(workers, slices.Clone(workers[0]))
	}
	err := h.spread(ctx, len(m.blocks), len(workers), func(worker, i int) { m.seek(workers[worker], m.blocks[i], take) })
	if err != nil {
		return nil, err
	}
	hits := make([][]hit, len(queries))
	err = h.spread(ctx, len(queries), most, func(_, i int) {
		for _, other := range workers[1:] {
			workers[0][i].merge(&other[i])
		}
		hits[i] = workers[0][i].hits()
	})
	return hits, err
}

func newSeekers(queries []vdb.Query) []seeker {
	seekers := make([]seeker, len(queries))
	for i, q := range queries {
		seekers[i] = newSeeker(q.Vector, q.Limit)
	}
	return seekers
}

// seek scores the points of a block for every seeker.
func (m *matrix) seek(seekers []seeker, b *block, take func(place) bool) {
	taken := make([]int, 0, b.len())
	for i := range b.len() {
		if take == nil || take(place{b, i}) {
			taken = append(taken, i)
		}
	}
	for tile := range slices.Chunk(taken, max(1, tileBytes/(4*m.dim))) {
		for q := range seekers {
			s := &seekers[q]
			for _, i := range tile {
				if rough := vek32.Dot(s.unit, b.unit(i, m.dim)); rough >= s.floor {
					s.add(place{b, i}, rough)
				}
			}
		}
	}
}
