package vdbtest

import (
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// env is what one subtest works with: small wrappers that fail the test on an unexpected error.
type env struct {
	*testing.T
	h Harness
}

// open returns an empty store that is closed at the end of the subtest.
func (e *env) open(dim int) vdb.Store {
	e.Helper()
	st := e.h.Open(e.T, dim)
	e.Cleanup(func() {
		if err := st.Close(); err != nil {
			e.Errorf("close: %v", err)
		}
	})
	return st
}

func (e *env) space(user string) graphstore.Space {
	e.Helper()
	sp, err := graphstore.NewSpace(user)
	if err != nil {
		e.Fatal(err)
	}
	return sp
}

func (e *env) upsert(st vdb.Store, points ...vdb.Point) {
	e.Helper()
	if err := st.Upsert(e.Context(), points); err != nil {
		e.Fatalf("upsert: %v", err)
	}
}

func (e *env) delete(st vdb.Store, sp graphstore.Space, ids ...string) {
	e.Helper()
	if err := st.Delete(e.Context(), sp, ids); err != nil {
		e.Fatalf("delete: %v", err)
	}
}

func (e *env) get(st vdb.Store, sp graphstore.Space, ids ...string) []vdb.Point {
	e.Helper()
	points, err := st.Get(e.Context(), sp, ids, true)
	if err != nil {
		e.Fatalf("get: %v", err)
	}
	return points
}

func (e *env) search(st vdb.Store, q vdb.Query) []vdb.Match {
	e.Helper()
	if q.Limit == 0 {
		q.Limit = vdb.MaxLimit
	}
	matches, err := st.Search(e.Context(), q)
	if err != nil {
		e.Fatalf("search: %v", err)
	}
	checkOrder(e.T, matches)
	return matches
}

func (e *env) score(st vdb.Store, q vdb.Query, ids ...string) []vdb.Match {
	e.Helper()
	matches, err := st.Score(e.Context(), q, ids)
	if err != nil {
		e.Fatalf("score: %v", err)
	}
	checkOrder(e.T, matches)
	return matches
}

func (e *env) keyword(st vdb.Store, q vdb.KeywordQuery) []vdb.Match {
	e.Helper()
	if q.Limit == 0 {
		q.Limit = vdb.MaxLimit
	}
	matches, err := st.Keyword(e.Context(), q)
	if err != nil {
		e.Fatalf("keyword search for %q: %v", q.Text, err)
	}
	checkOrder(e.T, matches)
	return matches
}

func (e *env) count(st vdb.Store) int64 {
	e.Helper()
	info, err := st.Info(e.Context())
	if err != nil {
		e.Fatalf("info: %v", err)
	}
	return info.Points
}

// scrollAll follows the cursors from one page on and returns all points.
func (e *env) scrollAll(st vdb.Store, q vdb.ScrollQuery) []vdb.Point {
	e.Helper()
	var points []vdb.Point
	for range 10_000 {
		page, err := st.Scroll(e.Context(), q)
		if err != nil {
			e.Fatalf("scroll: %v", err)
		}
		if len(page.Points) > q.Limit {
			e.Fatalf("page of %d points, limit %d", len(page.Points), q.Limit)
		}
		if len(page.Skipped) > 0 {
			e.Fatalf("skipped: %q", page.Skipped)
		}
		points = append(points, page.Points...)
		if page.Next == "" {
			return points
		}
		q.After = page.Next
	}
	e.Fatal("scroll does not end")
	return nil
}
