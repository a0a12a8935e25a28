package sqlite

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/viterin/vek/vek32"
)

// hit is a point of a matrix with its exact cosine.
type hit struct {
	place
	score float64
}

func compareHits(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id(), b.id()))
}

// rough is a point with its cosine in float32.
type rough struct {
	place
	score float32
}

var roughPool = sync.Pool{New: func() any { return new([]rough) }}

// nearest returns the limit points nearest to the vector among those that take accepts, nearest first.
//
// The first pass computes the dot products of unit vectors in float32. Its results are off by at most slack, so whatever
// lies less than two slacks below the last one of the answer may belong to it, and is computed again in float64.
func (m *matrix) nearest(vector []float32, limit int, take func(place) bool) []hit {
	unit, _ := normalise(vector)
	pooled := roughPool.Get().(*[]rough)
	all := (*pooled)[:0]
	for _, b := range m.blocks {
		for i := range b.rows {
			if p := (place{b, i}); take == nil || take(p) {
				all = append(all, rough{p, vek32.Dot(unit, b.unit(i, m.dim))})
			}
		}
	}
	floor := limitFloor(all, limit) - 2*dotSlack(m.dim)
	var hits []hit
	queryLength := length(vector)
	for _, r := range all {
		if r.score >= floor {
			hits = append(hits, hit{r.place, cosine(vector, queryLength, r.unit(r.i, m.dim))})
		}
	}
	clear(all) // the pool must not keep matrices alive
	*pooled = all[:0]
	roughPool.Put(pooled)
	slices.SortFunc(hits, compareHits)
	return hits[:min(limit, len(hits))]
}

// dotSlack bounds the error of a float32 dot product of two unit vectors, which are themselves rounded: n+2 roundings of
// at most 2^-24 each, of terms whose absolute values sum to at most 1 (Cauchy and Schwarz). Doubled, for the terms of
// second order.
func dotSlack(dim int) float32 { return float32(dim+2) / (1 << 23) }

// limitFloor returns the limit-th largest score, or one below all when there are not more than limit.
func limitFloor(all []rough, limit int) float32 {
	if len(all) <= limit {
		return -2
	}
	heap := make([]float32, 0, limit) // the smallest of the largest on top
	for _, r := range all {
		switch {
		case len(heap) < limit:
			heap = append(heap, r.score)
			siftUp(heap)
		case r.score > heap[0]:
			heap[0] = r.score
			siftDown(heap)
		}
	}
	return heap[0]
}

func siftUp(heap []float32) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if heap[parent] <= heap[i] {
			return
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
}

func siftDown(heap []float32) {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[i] <= heap[child] {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
