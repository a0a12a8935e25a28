package vdbtest

import (
	"fmt"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

var lookupParts = []part{
	{"Get/order of the ids, a repeated id once, unknown ids left out", getOrder},
	{"Score/known points with their cosines, ordered", scoreByID},
	{"Score/at most MaxLimit ids", scoreTooMany},
	{"Delete/known, unknown, repeated and no ids", deleteByID},
}

func getOrder(e *env) {
	st, u := e.open(4), e.space("u")
	points := Points(13, u, 30, 4)
	e.upsert(st, points...)
	want := []vdb.Point{points[20], points[3], points[0], points[29]}
	ids := []string{want[0].ID, "unknown", want[1].ID, want[2].ID, want[0].ID, want[3].ID, want[3].ID, "unknown"}
	samePoints(e.T, "Get", want, e.get(st, u, ids...))
	samePoints(e.T, "Get of nothing", nil, e.get(st, u))
	samePoints(e.T, "Get of unknown ids", nil, e.get(st, u, "unknown", "also unknown"))

	many := slices.Clone(points)
	slices.Reverse(many)
	var padded []string
	for i, p := range many {
		for j := range 100 {
			padded = append(padded, fmt.Sprintf("unknown %d %d", i, j))
		}
		padded = append(padded, p.ID)
	}
	samePoints(e.T, "Get of 3030 ids", many, e.get(st, u, padded...))
}

func scoreByID(e *env) {
	const dim = 32
	st, u := e.open(dim), e.space("u")
	points := Points(17, u, 60, dim)
	e.upsert(st, points...)
	q := vdb.Query{Space: u, Vector: Vector(4, dim)}
	some := points[10:30]
	got := e.score(st, q, append(append([]string{"unknown"}, pointIDs(some)...), some[0].ID)...)
	all := q
	all.Limit = len(some)
	checkNearest(e.T, "Score", some, all, got)
	if m := e.score(st, q); len(m) != 0 {
		e.Errorf("score of no ids: %v", matchIDs(m))
	}
	q.Limit = -1 // ignored
	if m := e.score(st, q, pointIDs(some)...); len(m) != len(some) {
		e.Errorf("%d matches with the limit -1, want %d", len(m), len(some))
	}
	// The two methods give one point one score.
	byID := make(map[string]float64)
	for _, m := range got {
		byID[m.ID] = m.Score
	}
	all.Limit = vdb.MaxLimit
	for _, m := range e.search(st, all) {
		if score, ok := byID[m.ID]; ok && score != m.Score {
			e.Errorf("score of %s: Score says %v, Search says %v", m.ID, score, m.Score)
		}
	}
}

func scoreTooMany(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "id 5", 2, 0, vdb.Payload{}))
	ids := make([]string, vdb.MaxLimit+1)
	for i := range ids {
		ids[i] = fmt.Sprint("id ", i)
	}
	q := vdb.Query{Space: u, Vector: []float32{1, 0}}
	_, err := st.Score(e.Context(), q, ids)
	checkRefused(e.T, err, vdb.ErrBadQuery, nil)
	sameIDs(e.T, "MaxLimit ids", []string{"id 5"}, matchIDs(e.score(st, q, ids[:vdb.MaxLimit]...)))
}

func deleteByID(e *env) {
	st, u := e.open(4), e.space("u")
	points := Points(19, u, 12, 4)
	e.upsert(st, points...)
	e.delete(st, u)
	e.delete(st, u, "unknown")
	if n := e.count(st); n != 12 {
		e.Fatalf("%d points, want 12", n)
	}
	e.delete(st, u, points[0].ID, "unknown", points[5].ID, points[0].ID)
	e.delete(st, u, points[0].ID) // again
	rest := slices.Concat(points[1:5], points[6:])
	if n := e.count(st); n != int64(len(rest)) {
		e.Errorf("%d points, want %d", n, len(rest))
	}
	samePoints(e.T, "Get of the deleted", nil, e.get(st, u, points[0].ID, points[5].ID))
	q := vdb.Query{Space: u, Vector: Vector(1, 4), Limit: 100}
	checkNearest(e.T, "Search", rest, q, e.search(st, q))
	sameIDs(e.T, "Score", nil, matchIDs(e.score(st, q, points[0].ID, points[5].ID)))

	e.upsert(st, points[0]) // a deleted id can come back
	samePoints(e.T, "Get of the revived", points[:1], e.get(st, u, points[0].ID))
	e.delete(st, u, pointIDs(points)...)
	if m := e.search(st, q); len(m) != 0 {
		e.Errorf("matches of an emptied user: %v", matchIDs(m))
	}
}
