package vdbtest

import (
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var eraseParts = []part{
	{"Erase/all points of the user and nobody else's", eraseUser},
	{"Erase/a user that comes again", eraseAgain},
}

func eraseUser(e *env) {
	st, a, b := e.open(4), e.space("a"), e.space("b")
	mine, theirs := Points(3, a, 300, 4), Points(3, b, 40, 4) // the same ids, vectors and contents as far as they go
	e.upsert(st, append(mine, theirs...)...)
	samePoints(e.T, "what both have", mine[:1], e.get(st, a, mine[0].ID))
	e.delete(st, a, mine[0].ID)
	q := vdb.Query{Space: b, Vector: Vector(1, 4), WithVectors: true}
	before := e.search(st, q)
	if n := e.countOf(st, a); n != 299 {
		e.Errorf("%d points of a counted, want the 300 stored without the one deleted", n)
	}
	if n := e.erase(st, a); n != 299 {
		e.Errorf("%d points erased, want 299", n)
	}
	if n, all := e.countOf(st, a), e.count(st); n != 0 || all != 40 {
		e.Errorf("%d points of a and %d in all, want 0 and b's 40", n, all)
	}
	q.Space = a
	samePoints(e.T, "a's search", nil, pointsOf(e.search(st, q)))
	samePoints(e.T, "a's points", nil, e.get(st, a, pointIDs(mine)...))
	samePoints(e.T, "a's scroll", nil, e.scrollAll(st, vdb.ScrollQuery{Space: a, Limit: 100}))
	q.Space = b
	samePoints(e.T, "b's search", pointsOf(before), pointsOf(e.search(st, q)))
	sameIDs(e.T, "everybody's scroll", sorted(pointIDs(theirs)), sorted(pointIDs(e.scrollAll(st, vdb.ScrollQuery{AllSpaces: true, Limit: 9}))))
	if e.h.Features.Keyword {
		text := theirs[7].Payload.Content
		if m := e.keyword(st, vdb.KeywordQuery{Space: a, Text: text}); len(m) != 0 {
			e.Errorf("a's words are found: %v", matchIDs(m))
		}
		if m := e.keyword(st, vdb.KeywordQuery{Space: b, Text: text}); len(m) == 0 {
			e.Error("b's words are gone")
		}
	}
	for _, nobody := range []graphstore.Space{a, e.space("nobody")} {
		if n := e.erase(st, nobody); n != 0 {
			e.Errorf("%d points erased of %s, who has none", n, nobody.UserID())
		}
	}
}

// What comes after an erasure has nothing of before, whatever a store remembers of the user.
func eraseAgain(e *env) {
	st, a := e.open(4), e.space("a")
	for round := range 3 {
		points := Points(uint64(round), a, 20+round, 4)
		e.upsert(st, points...)
		q := vdb.Query{Space: a, Vector: Vector(2, 4), WithVectors: true}
		q.Limit = vdb.MaxLimit
		checkNearest(e.T, "round's points", points, q, e.search(st, q))
		samePoints(e.T, "points by id", points[:3], e.get(st, a, pointIDs(points[:3])...))
		if n := e.erase(st, a); n != int64(len(points)) {
			e.Errorf("%d points erased, want %d", n, len(points))
		}
	}
}

func (e *env) erase(st vdb.Store, sp graphstore.Space) int64 {
	e.Helper()
	n, err := st.Erase(e.Context(), sp)
	if err != nil {
		e.Fatalf("erase: %v", err)
	}
	return n
}

func (e *env) countOf(st vdb.Store, sp graphstore.Space) int64 {
	e.Helper()
	n, err := st.Count(e.Context(), sp)
	if err != nil {
		e.Fatalf("count: %v", err)
	}
	return n
}
