package vdbtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var tenantParts = []part{
	{"Tenants/users that share ids, vectors and contents", tenantsShared},
	{"Tenants/similar user ids are different users", tenantsSimilar},
	{"Tenants/unknown user: no matches and no error", tenantsUnknown},
	{"Tenants/no user: refused everywhere", tenantsNone},
}

func tenantsShared(e *env) {
	st, a, b := e.open(4), e.space("a"), e.space("b")
	mine, theirs := Points(3, a, 40, 4), Points(3, b, 40, 4)
	e.upsert(st, append(mine, theirs...)...)
	q := vdb.Query{Space: a, Vector: Vector(1, 4), WithVectors: true}
	before := e.search(st, q)
	if len(before) != len(mine) {
		e.Fatalf("%d matches, want the %d of a", len(before), len(mine))
	}
	for _, m := range before {
		if m.Space != a {
			e.Fatalf("match %q of user %q", m.ID, m.Space)
		}
	}
	samePoints(e.T, "Score", mine[:1], pointsOf(e.score(st, q, mine[0].ID)))

	// Whatever b does, a's answers stay as they are.
	for i := range theirs {
		theirs[i].Payload.Content, theirs[i].Vector = "rewritten", q.Vector
	}
	e.upsert(st, theirs...)
	e.upsert(st, sample(b, "only of b", 4, 0, vdb.Payload{}))
	e.delete(st, b, pointIDs(theirs[:20])...)
	after := e.search(st, q)
	sameIDs(e.T, "a's search after b's writes", matchIDs(before), matchIDs(after))
	samePoints(e.T, "a's points after b's writes", pointsOf(before), pointsOf(after))
	sameIDs(e.T, "a's scroll", sorted(pointIDs(mine)), sorted(pointIDs(e.scrollAll(st, vdb.ScrollQuery{Space: a, Limit: 9}))))
	samePoints(e.T, "a does not see b's own", nil, e.get(st, a, "only of b"))
	if m := e.score(st, q, "only of b"); len(m) != 0 {
		e.Errorf("a scores b's point: %v", matchIDs(m))
	}
	e.delete(st, a, "only of b")
	sameIDs(e.T, "b's own after a deleted that id", []string{"only of b"}, pointIDs(e.get(st, b, "only of b")))
}

func tenantsSimilar(e *env) {
	users := []string{"u", "U", "u ", " u", "u1", "u11", "1", "01", "u*", "u%", "_", "u'", `u"`, "u\\", "a/b", "a' OR '1'='1", "*",
		"caf\u00e9", "cafe\u0301", "咖啡", "咖", "🍕", "null", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		strings.Repeat("x", 512), strings.Repeat("x", 511)}
	st := e.open(2)
	for _, user := range users {
		e.upsert(st, sample(e.space(user), "x", 2, 0, vdb.Payload{Content: "word of " + user}))
	}
	for i, user := range users {
		e.Run(fmt.Sprintf("%02d", i), func(t *testing.T) {
			e := &env{T: t, h: e.h}
			want := []vdb.Point{sample(e.space(user), "x", 2, 0, vdb.Payload{Content: "word of " + user})}
			q := vdb.Query{Space: e.space(user), Vector: []float32{1, 0}}
			samePoints(t, "Search", want, pointsOf(e.search(st, q)))
			samePoints(t, "Score", want, pointsOf(e.score(st, q, "x")))
			samePoints(t, "Get", want, e.get(st, q.Space, "x"))
			samePoints(t, "Scroll", want, e.scrollAll(st, vdb.ScrollQuery{Space: q.Space, Limit: 2}))
			if e.h.Features.Keyword {
				samePoints(t, "Keyword", want, pointsOf(e.keyword(st, vdb.KeywordQuery{Space: q.Space, Text: "word"})))
			}
		})
	}
}

func tenantsUnknown(e *env) {
	st, nobody := e.open(2), e.space("nobody")
	e.upsert(st, sample(e.space("u"), "x", 2, 0, vdb.Payload{Content: "coffee"}))
	q := vdb.Query{Space: nobody, Vector: []float32{1, 0}}
	if m := e.search(st, q); len(m) != 0 {
		e.Errorf("Search: %v", matchIDs(m))
	}
	if m := e.score(st, q, "x"); len(m) != 0 {
		e.Errorf("Score: %v", matchIDs(m))
	}
	samePoints(e.T, "Get", nil, e.get(st, nobody, "x"))
	samePoints(e.T, "Scroll", nil, e.scrollAll(st, vdb.ScrollQuery{Space: nobody, Limit: 2}))
	if e.h.Features.Keyword {
		if m := e.keyword(st, vdb.KeywordQuery{Space: nobody, Text: "coffee"}); len(m) != 0 {
			e.Errorf("Keyword: %v", matchIDs(m))
		}
	}
	e.delete(st, nobody, "x")
	if n := e.count(st); n != 1 {
		e.Errorf("%d points, want 1", n)
	}
}

func tenantsNone(e *env) {
	st := e.open(2)
	e.upsert(st, sample(e.space("u"), "common-1", 2, 0, vdb.Payload{Content: "coffee"}))
	for name, call := range calls(graphstore.Space{}, 2, e.h.Features.Keyword) {
		if name == "Info" {
			continue
		}
		if err := call(e.Context(), st); !errors.Is(err, graphstore.ErrNoSpace) {
			e.Errorf("%s: got error %v, want ErrNoSpace", name, err)
		}
	}
	if err := st.Delete(e.Context(), graphstore.Space{}, nil); !errors.Is(err, graphstore.ErrNoSpace) {
		e.Errorf("Delete of nothing: got error %v, want ErrNoSpace", err)
	}
	if n := e.count(st); n != 1 {
		e.Errorf("%d points, want 1", n)
	}
}
