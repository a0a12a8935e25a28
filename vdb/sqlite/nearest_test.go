package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// matrixOf returns a matrix of vectors with the ids p0, p1, ... in blocks as a load makes them.
func matrixOf(vectors [][]float32) *matrix {
	m := &matrix{userNo: 1, rev: 1, dim: len(vectors[0])}
	l := loader{dim: m.dim, expect: len(vectors)}
	for i, v := range vectors {
		unit, norm := normalise(v)
		b := l.last()
		b.addMeta(1<<32+int64(i), fmt.Sprint("p", i), nil, instants{})
		b.addVector(norm, encodeVector(unit))
	}
	m.blocks = l.blocks
	return m
}

// naive scores every point in float64 and sorts all of them.
func naive(m *matrix, vector []float32, limit int, take func(place) bool) []string {
	var hits []hit
	for _, b := range m.blocks {
		for i := range b.rows {
			if p := (place{b, i}); take == nil || take(p) {
				hits = append(hits, hit{p, cosine(vector, length(vector), b.unit(i, m.dim))})
			}
		}
	}
	slices.SortFunc(hits, compareHits)
	return describe(hits[:min(limit, len(hits))])
}

func describe(hits []hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = fmt.Sprint(h.id(), " ", h.score)
	}
	return out
}

// The answer is exact also among vectors so alike that float32 puts them in another order.
func TestNearest_exactAmongNearTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, spread := range []float32{1, 1e-2, 1e-4, 1e-6, 1e-7, 0} {
		const dim = 96
		base := make([]float32, dim)
		for i := range base {
			base[i] = rng.Float32() - 0.5
		}
		vectors := make([][]float32, 700)
		for i := range vectors {
			vectors[i] = slices.Clone(base)
			for j := range vectors[i] {
				vectors[i][j] += spread * (rng.Float32() - 0.5)
			}
		}
		m := matrixOf(vectors)
		half := func(p place) bool { return p.row()%2 == 0 }
		for _, limit := range []int{1, 2, 50, 349, 350, 351, 699, 700, 10_000} {
			for name, take := range map[string]func(place) bool{"all": nil, "half": half} {
				if diff := cmp.Diff(naive(m, base, limit, take), describe(m.nearest(base, limit, take))); diff != "" {
					t.Errorf("spread %v, limit %d, %s (-naive +nearest):\n%s", spread, limit, name, diff)
				}
			}
		}
	}
}

func TestNormalise_restoresEveryFiniteVector(t *testing.T) {
	const big, tiny = 3.4028234663852886e38, 1.401298464324817e-45 // the largest and the smallest float32
	for _, v := range [][]float32{{1, 2, 3}, {big, big}, {big, -big, tiny}, {tiny}, {-big}, {0, 1e-30, 0}} {
		unit, norm := normalise(v)
		got := restore(unit, norm)
		for i := range v {
			if d := float64(got[i]) - float64(v[i]); d > 1e-6*norm || d < -1e-6*norm || got[i]-got[i] != 0 {
				t.Errorf("%v came back as %v", v, got)
			}
		}
	}
}
