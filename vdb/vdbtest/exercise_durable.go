package vdbtest

import (
	"errors"

	"github.com/kithgraph/kith/vdb"
)

var durableParts = []part{
	{"Durable/points outlive the handle", durablePoints},
	{"Durable/cursors outlive the handle", durableCursor},
	{"Durable/the dimension outlives the handle", durableDimension},
}

// reopen returns a new handle, closed at the end of the subtest.
func (e *env) reopen(st vdb.Store) vdb.Store {
	e.Helper()
	st = e.h.Reopen(e.T, st)
	e.Cleanup(func() {
		if err := st.Close(); err != nil {
			e.Errorf("close: %v", err)
		}
	})
	return st
}

func durablePoints(e *env) {
	st, u, v := e.open(6), e.space("u"), e.space("v")
	points, others := Points(53, u, 40, 6), Points(54, v, 40, 6)
	e.upsert(st, append(points, others...)...)
	e.delete(st, u, pointIDs(points[30:])...)
	q := vdb.Query{Space: u, Vector: Vector(3, 6)}
	before := e.search(st, q)
	words := vdb.KeywordQuery{Space: u, Text: "coffee 咖啡"}
	var found []string
	if e.h.Features.Keyword {
		found = matchIDs(e.keyword(st, words))
	}
	for range 2 {
		st = e.reopen(st)
		samePoints(e.T, "u", points[:30], e.get(st, u, pointIDs(points)...))
		samePoints(e.T, "v", others, e.get(st, v, pointIDs(others)...))
		sameIDs(e.T, "search", matchIDs(before), matchIDs(e.search(st, q)))
		if e.h.Features.Keyword {
			sameIDs(e.T, "keyword search", found, matchIDs(e.keyword(st, words)))
		}
		if n := e.count(st); n != 70 {
			e.Errorf("%d points, want 70", n)
		}
	}
}

func durableCursor(e *env) {
	st, u := e.open(4), e.space("u")
	points := Points(59, u, 25, 4)
	e.upsert(st, points...)
	page, err := st.Scroll(e.Context(), vdb.ScrollQuery{Space: u, Limit: 10, WithVectors: true})
	if err != nil {
		e.Fatal(err)
	}
	st = e.reopen(st)
	rest := e.scrollAll(st, vdb.ScrollQuery{Space: u, Limit: 10, WithVectors: true, After: page.Next})
	samePoints(e.T, "both halves", byID(points), byID(append(page.Points, rest...)))
}

func durableDimension(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	st = e.reopen(st)
	info, err := st.Info(e.Context())
	if err != nil || info.Dimension != 2 {
		e.Errorf("got dimension %d, error %v, want 2", info.Dimension, err)
	}
	want := &vdb.DimensionError{Got: 3, Want: 2}
	three := []float32{1, 2, 3}
	checkRefused(e.T, st.Upsert(e.Context(), []vdb.Point{{Space: u, ID: "y", Vector: three}}), vdb.ErrBadPoint, want)
	_, err = st.Search(e.Context(), vdb.Query{Space: u, Vector: three, Limit: 1})
	checkRefused(e.T, err, vdb.ErrBadQuery, want)
	if errors.Is(err, vdb.ErrBadPoint) {
		e.Errorf("a query is not a point: %v", err)
	}
}
