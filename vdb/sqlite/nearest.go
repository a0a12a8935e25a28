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

// Scores of the first pass are cosines, off by rounding; a point that the filter refuses has none of them.
const (
	refused   = float32(-4)
	belowAll  = float32(-2)
	poolLimit = 1 << 20 // numbers; a larger buffer is left to the garbage collector
)

var scorePool = sync.Pool{New: func() any { return new([]float32) }}

// nearest returns the limit points nearest to the vector among those that take accepts (nil: all), nearest first.
//
// The first pass computes the dot products of unit vectors in float32. Its results are off by at most slack, so whatever
// lies less than two slacks below the last one of the answer may belong to it, and is computed again in float64.
func (m *matrix) nearest(vector []float32, limit int, take func(place) bool) []hit {
	pooled := scorePool.Get().(*[]float32)
	scores := m.roughScores((*pooled)[:0], vector, take)
	floor := limitFloor(scores, limit) - 2*dotSlack(m.dim)
	queryLength := length(vector)
	var hits []hit
	rest := scores
	for _, b := range m.blocks {
		for i, score := range rest[:b.len()] {
			if score >= floor {
				hits = append(hits, hit{place{b, i}, cosine(vector, queryLength, b.unit(i, m.dim))})
			}
		}
		rest = rest[b.len():]
	}
	if *pooled = scores; cap(scores) <= poolLimit {
		scorePool.Put(pooled)
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(limit, len(hits))]
}

// roughScores appends a score for every point, in their order.
func (m *matrix) roughScores(scores []float32, vector []float32, take func(place) bool) []float32 {
	unit, _ := normalise(vector)
	for _, b := range m.blocks {
		for i := range b.rows {
			score := refused
			if take == nil || take(place{b, i}) {
				score = vek32.Dot(unit, b.unit(i, m.dim))
			}
			scores = append(scores, score)
		}
	}
	return scores
}

// dotSlack bounds the error of a float32 dot product of two unit vectors, which are themselves rounded: n+2 roundings of
// at most 2^-24 each, of terms whose absolute values sum to at most 1 (Cauchy and Schwarz). Doubled, for the terms of
// second order.
func dotSlack(dim int) float32 { return float32(dim+2) / (1 << 23) }

// limitFloor returns the limit-th largest score, or one below all when there are not more than limit.
func limitFloor(scores []float32, limit int) float32 {
	heap := make([]float32, 0, min(limit, len(scores))) // the smallest of the largest on top
	more := false
	for _, score := range scores {
		switch {
		case score == refused:
		case len(heap) < limit:
			heap = append(heap, score)
			siftUp(heap)
		default:
			more = true
			if score > heap[0] {
				heap[0] = score
				siftDown(heap)
			}
		}
	}
	if !more {
		return belowAll
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
