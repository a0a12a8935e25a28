package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/vdb"
)

// drawMatrix draws vectors of which some are alike up to what float32 can tell apart, or equal.
func drawMatrix(rt *rapid.T) (m *matrix, rng *rand.Rand) {
	dim := rapid.SampledFrom([]int{1, 2, 3, 31, 384}).Draw(rt, "dim")
	n := rapid.SampledFrom([]int{1, 2, 255, 256, 257, 700, 1500}).Draw(rt, "n")
	spread := rapid.SampledFrom([]float32{1, 1e-3, 1e-6, 1e-7, 0}).Draw(rt, "spread")
	rng = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
	bases := [][]float32{randomVector(rng, dim), randomVector(rng, dim), randomVector(rng, dim)}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j, x := range bases[i%len(bases)] {
			vectors[i][j] = x + spread*(rng.Float32()-0.5)
		}
	}
	return matrixOf(vectors), rng
}

func randomVector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = rng.Float32() - 0.5
	}
	v[0] += 1e-3 // not all zero
	return v
}

// What many queries find together is what each finds by itself, to the last bit.
func TestNearestMany_equalsNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, rng := drawMatrix(rt)
		queries := make([]vdb.Query, rapid.SampledFrom([]int{1, 2, 17, 64}).Draw(rt, "queries"))
		for i := range queries {
			queries[i].Vector = randomVector(rng, m.dim)
			if i%2 == 0 { // one of the points
				b := m.blocks[rng.IntN(len(m.blocks))]
				queries[i].Vector = b.unit(rng.IntN(b.len()), m.dim)
			}
			queries[i].Limit = rapid.SampledFrom([]int{1, 6, 50, 256, 2000}).Draw(rt, "limit")
		}
		take := rapid.SampledFrom([]func(place) bool{
			nil, func(p place) bool { return p.row()%3 != 0 }, func(place) bool { return false },
		}).Draw(rt, "take")
		h := make(helpers, rapid.IntRange(0, 4).Draw(rt, "helpers"))
		got, err := m.nearestMany(t.Context(), h, queries, take)
		if err != nil {
			rt.Fatal(err)
		}
		for i, q := range queries {
			if diff := cmp.Diff(exactly(m.nearest(q.Vector, q.Limit, take)), exactly(got[i])); diff != "" {
				rt.Fatalf("query %d, limit %d (-alone +together):\n%s", i, q.Limit, diff)
			}
		}
		if len(h) != 0 {
			rt.Fatalf("%d helpers have not left", len(h))
		}
	})
}

// exactly shows scores in hexadecimal, where no bit is hidden.
func exactly(hits []hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = fmt.Sprintf("%s %x", h.id(), h.score)
	}
	return out
}

// However many points are equally near, a query holds on to few of them.
func TestSeeker_holdsFew(t *testing.T) {
	const n, dim = 20_000, 2
	vectors := make([][]float32, n)
	for name, vector := range map[string]func(i int) []float32{
		"equal":   func(int) []float32 { return []float32{1, 0} },
		"nearing": func(i int) []float32 { return []float32{1, 1 - float32(i)/n} }, // each is better than all before
	} {
		for i := range vectors {
			vectors[i] = vector(i)
		}
		m := matrixOf(vectors)
		s := newSeeker([]float32{1, 0}, 6)
		for _, b := range m.blocks {
			for i := range b.len() {
				if rough := s.unit[0]*b.unit(i, dim)[0] + s.unit[1]*b.unit(i, dim)[1]; rough >= s.floor {
					s.add(place{b, i}, rough)
				}
				if most := 2*6 + seekerSlack; len(s.found) > most || cap(s.found) > 2*most {
					t.Fatalf("%s: %d candidates in the space of %d after point %s, want at most %d", name, len(s.found), cap(s.found), b.ids[i], most)
				}
			}
		}
		if diff := cmp.Diff(naive(m, []float32{1, 0}, 6, nil), describe(s.hits())); diff != "" {
			t.Errorf("%s (-naive +seeker):\n%s", name, diff)
		}
	}
}

// 256 queries over 20,000 points need less than a byte for each pair; a number for each would be 20 MB.
func TestNearestMany_memory(t *testing.T) {
	const n, dim, asked = 20_000, 8, 256
	rng := rand.New(rand.NewPCG(3, 3))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = randomVector(rng, dim)
	}
	m := matrixOf(vectors)
	queries := make([]vdb.Query, asked)
	for i := range queries {
		queries[i] = vdb.Query{Vector: vectors[i], Limit: 6}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.nearestMany(t.Context(), make(helpers, 1), queries, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > n*asked { // in all, not only at one time
		t.Errorf("%d bytes for %d points and %d queries, want at most %d", bytes, n, asked, n*asked)
	}
}

func TestNearestMany_endsWithTheContext(t *testing.T) {
	m := matrixOf([][]float32{{1, 0}, {0, 1}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.nearestMany(ctx, make(helpers, 1), []vdb.Query{{Vector: []float32{1, 0}, Limit: 1}}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// A panic in a helper reaches the caller, and the helper's place is free again.
func TestSpread_panics(t *testing.T) {
	h := make(helpers, 3)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		helping := make(chan struct{})
		_ = h.spread(t.Context(), 2, 2, func(worker, _ int) {
			if worker == 1 {
				defer close(helping)
				panic("boom")
			}
			<-helping
		})
	}()
	if len(h) != 0 {
		t.Errorf("%d helpers have not left", len(h))
	}
}
