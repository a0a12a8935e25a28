package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
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

// turning has a handle turn all points of a user together, again and again: of version 1 and content "one" on one axis, of version 2 and
// content "two" on the other. It returns another handle.
func turning(t *testing.T, u graphstore.Space, n int) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vectors.db")
	reader, writer := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	state := func(round int) []vdb.Point {
		points := make([]vdb.Point, n)
		for i := range points {
			p := vdb.Point{Space: u, ID: fmt.Sprint("p", i), Vector: []float32{1, 0}, Payload: vdb.Payload{Version: 1, Content: "one"}}
			if round%2 == 1 {
				p.Vector, p.Payload = []float32{0, 1}, vdb.Payload{Version: 2, Content: "two"}
			}
			points[i] = p
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
			if err := writer.Upsert(context.Background(), state(round)); err != nil {
				t.Errorf("upsert: %v", err)
				return
			}
		}
	})
	t.Cleanup(wg.Wait)
	t.Cleanup(stop)
	return reader
}

// While another handle turns all points of a user together, every answer of a call is of one state, and payloads are those
// of the vectors.
func TestSearchMany_duringWrites(t *testing.T) {
	const n = 40
	u := mustSpace("u")
	reader := turning(t, u, n)
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

// The same of contents, which are read from the file, where no payload is wanted: of "one" there are all points with score 1 and none
// with 0, and the other way round.
func TestSearchMany_contentsDuringWrites(t *testing.T) {
	const n = 40
	u := mustSpace("u")
	reader := turning(t, u, n)
	seen := map[float64]bool{}
	for i := 0; i < 300 || len(seen) < 2; i++ {
		all := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: n, NoPayload: true}
		one, two := all, all
		one.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"one"}}}
		two.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"two"}}}
		got, err := reader.SearchMany(t.Context(), []vdb.Query{all, one, two})
		if err != nil {
			t.Fatal(err)
		}
		if len(got[0]) != n {
			t.Fatalf("%d matches, want %d", len(got[0]), n)
		}
		score := got[0][0].Score
		seen[score] = true
		want := []int{n, n * int(score), n * int(1-score)}
		if have := []int{len(got[0]), len(got[1]), len(got[2])}; !slices.Equal(have, want) {
			t.Fatalf("with score %v: %v points in all, of content one, and of content two; want %v", score, have, want)
		}
	}
}
