package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// The answers to many queries are those of Search to each, payloads and every bit of the scores included.
func TestSearchMany_equalsSearch(t *testing.T) {
	const dim = 48
	st := open(t, filepath.Join(t.TempDir(), "vectors.db"), sqlite.Config{})
	spaces := []graphstore.Space{mustSpace("a"), mustSpace("b"), mustSpace("nobody")}
	for i, n := range []int{600, 130} {
		if err := st.Upsert(t.Context(), vdbtest.Points(uint64(i), spaces[i], n, dim)); err != nil {
			t.Fatal(err)
		}
	}
	filters := []vdb.Filter{
		{}, {Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}},
		{Match: []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"coffee", "tea", "likes"}}}},
	}
	drawQuery := rapid.Custom(func(t *rapid.T) vdb.Query {
		return vdb.Query{
			Space: rapid.SampledFrom(spaces).Draw(t, "space"), Filter: rapid.SampledFrom(filters).Draw(t, "filter"),
			Vector: vdbtest.Vector(rapid.Uint64Range(0, 1000).Draw(t, "vector"), dim), Limit: rapid.SampledFrom([]int{1, 6, 50, 200}).Draw(t, "limit"),
			NoPayload: rapid.Bool().Draw(t, "no payload"), WithVectors: rapid.Bool().Draw(t, "vectors"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		queries := rapid.SliceOfN(drawQuery, 1, 12).Draw(rt, "queries")
		got, err := st.SearchMany(context.Background(), queries)
		if err != nil {
			rt.Fatal(err)
		}
		for i, q := range queries {
			want, err := st.Search(context.Background(), q)
			if err != nil {
				rt.Fatal(err)
			}
			sameSpace := cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })
			if diff := cmp.Diff(want, got[i], sameSpace, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("query %d (-Search +SearchMany):\n%s", i, diff)
			}
		}
	})
}

// While another handle turns all points of a user together, every answer of a call is of one state, and payloads are those
// of the vectors.
func TestSearchMany_duringWrites(t *testing.T) {
	const n = 40
	path := filepath.Join(t.TempDir(), "vectors.db")
	reader, writer := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	u := mustSpace("u")
	state := func(round int) []vdb.Point { // of version 1 on one axis, of version 2 on the other
		points := make([]vdb.Point, n)
		for i := range points {
			v := []float32{1, 0}
			if round%2 == 1 {
				v = []float32{0, 1}
			}
			points[i] = vdb.Point{Space: u, ID: fmt.Sprint("p", i), Vector: v, Payload: vdb.Payload{Version: int64(1 + round%2)}}
		}
		return points
	}
	if err := writer.Upsert(t.Context(), state(0)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for round := 1; ctx.Err() == nil; round++ {
			if err := writer.Upsert(t.Context(), state(round)); err != nil {
				t.Errorf("upsert: %v", err)
				return
			}
		}
	})
	defer wg.Wait()
	defer stop()
	versions := map[int64]bool{}
	for i := 0; i < 300 || len(versions) < 2; i++ {
		q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: n}
		bare := q
		bare.NoPayload = true
		got, err := reader.SearchMany(t.Context(), []vdb.Query{q, bare})
		if err != nil {
			t.Fatal(err)
		}
		for _, matches := range got {
			if len(matches) != n {
				t.Fatalf("%d matches, want %d", len(matches), n)
			}
			for _, m := range matches {
				version := got[0][0].Payload.Version
				versions[version] = true
				if m.Score != float64(2-version) || m.Payload.Version != 0 && m.Payload.Version != version {
					t.Fatalf("%s of version %d has score %v beside version %d", m.ID, m.Payload.Version, m.Score, version)
				}
			}
		}
	}
}
