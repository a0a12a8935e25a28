package vdbtest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// sample returns a point with the unit vector of an axis, so that its cosine to another axis is 0 and to itself 1.
func sample(sp graphstore.Space, id string, dim, axis int, payload vdb.Payload) vdb.Point {
	v := make([]float32, dim)
	v[axis] = 1
	return vdb.Point{Space: sp, ID: id, Vector: v, Payload: payload}
}

// samePoints compares what was stored with what was read: payloads exactly, with times as stores keep them, vectors by
// direction only, because a store may keep them normalised.
func samePoints(t *testing.T, what string, want, got []vdb.Point) {
	t.Helper()
	plain := func(points []vdb.Point) []vdb.Point {
		out := make([]vdb.Point, len(points))
		for i, p := range points {
			out[i] = clonePoint(p, false)
		}
		return out
	}
	if diff := cmp.Diff(plain(want), plain(got), cmpopts.EquateEmpty(), cmp.Comparer(sameSpace)); diff != "" {
		t.Errorf("%s (-stored +read):\n%s", what, diff)
		return
	}
	for i, p := range got {
		if p.Vector == nil {
			continue
		}
		if len(p.Vector) != len(want[i].Vector) || Cosine(p.Vector, want[i].Vector) < 1-1e-6 {
			t.Errorf("%s: vector of %s points elsewhere: stored %v, read %v", what, p.ID, want[i].Vector, p.Vector)
		}
	}
}

func sameSpace(a, b graphstore.Space) bool { return a == b }

// checkOrder checks the order every answer has: score descending, equal scores by id ascending bytewise.
func checkOrder(t *testing.T, matches []vdb.Match) {
	t.Helper()
	for i := 1; i < len(matches); i++ {
		if compareMatches(matches[i-1], matches[i]) >= 0 {
			t.Errorf("out of order: %q %v before %q %v", matches[i-1].ID, matches[i-1].Score, matches[i].ID, matches[i].Score)
		}
	}
}

func matchIDs(matches []vdb.Match) []string {
	ids := make([]string, len(matches))
	for i, m := range matches {
		ids[i] = m.ID
	}
	return ids
}

func pointIDs(points []vdb.Point) []string {
	ids := make([]string, len(points))
	for i, p := range points {
		ids[i] = p.ID
	}
	return ids
}

func sorted(ids []string) []string { return slices.Sorted(slices.Values(ids)) }

// sameIDs compares two lists of ids in order; sort them where order is not the question.
func sameIDs(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// calls lists every method of a store as a call with valid arguments, for what all of them have in common.
func calls(sp graphstore.Space, dim int, keyword bool) map[string]func(context.Context, vdb.Store) error {
	p := sample(sp, "common-1", dim, 0, vdb.Payload{Content: "coffee"})
	all := map[string]func(context.Context, vdb.Store) error{
		"Info": func(ctx context.Context, st vdb.Store) error { _, err := st.Info(ctx); return err },
		"Search": func(ctx context.Context, st vdb.Store) error {
			_, err := st.Search(ctx, vdb.Query{Space: sp, Vector: p.Vector, Limit: 1})
			return err
		},
		"SearchMany": func(ctx context.Context, st vdb.Store) error {
			_, err := st.SearchMany(ctx, []vdb.Query{{Space: sp, Vector: p.Vector, Limit: 1}})
			return err
		},
		"Score": func(ctx context.Context, st vdb.Store) error {
			_, err := st.Score(ctx, vdb.Query{Space: sp, Vector: p.Vector}, []string{p.ID})
			return err
		},
		"Get": func(ctx context.Context, st vdb.Store) error {
			_, err := st.Get(ctx, sp, []string{p.ID}, false)
			return err
		},
		"Scroll": func(ctx context.Context, st vdb.Store) error {
			_, err := st.Scroll(ctx, vdb.ScrollQuery{Space: sp, Limit: 1})
			return err
		},
		"Upsert": func(ctx context.Context, st vdb.Store) error { return st.Upsert(ctx, []vdb.Point{p}) },
		"Count":  func(ctx context.Context, st vdb.Store) error { _, err := st.Count(ctx, sp); return err },
		"Erase": func(ctx context.Context, st vdb.Store) error {
			if !sp.IsZero() { // not the points that the caller looks for
				sp, _ = graphstore.NewSpace("nobody at all")
			}
			_, err := st.Erase(ctx, sp)
			return err
		},
		"Delete": func(ctx context.Context, st vdb.Store) error { return st.Delete(ctx, sp, []string{"no-such"}) },
	}
	if keyword {
		all["Keyword"] = func(ctx context.Context, st vdb.Store) error {
			_, err := st.Keyword(ctx, vdb.KeywordQuery{Space: sp, Text: "coffee", Limit: 1})
			return err
		}
		all["Hybrid"] = func(ctx context.Context, st vdb.Store) error {
			_, err := st.Hybrid(ctx, vdb.HybridQuery{Query: vdb.Query{Space: sp, Vector: p.Vector, Limit: 1}, Text: "coffee"})
			return err
		}
	}
	return all
}
