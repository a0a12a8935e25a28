package vdbtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
)

var idParts = []part{
	{"IDs/any id in two spaces", idsEverywhere},
	{"IDs/similar ids are different points", idsSimilar},
}

// oddIDs are canonical ids that a store might confuse, cut, parse or refuse.
func oddIDs() []string {
	return []string{
		"17", "0", "017", "+17", "-1", "18446744073709551615", "18446744073709551616", "1e3", "0x11",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c", "00000000-0000-0000-0000-000000000000",
		"msg-88/α", "事実一", "사실", "तथ्य", "עובדה", "حقيقة\u200f", "🍕", "👨‍👩‍👧", strings.Repeat("x", 512), strings.Repeat("é", 256),
		"it's", `"quoted"`, "`tick`", `back\slash`, "a/b/../c", "%", "_", "*", "?", "a b", " a", "a ", "a;b", "--", "null", "NULL", "NaN", "true",
		"{}", "[1,2]", "a|b", "a:b", "a\u00a0b", "caf\u00e9", "cafe\u0301", "X", "x",
	}
}

func idsEverywhere(e *env) {
	st, a, b := e.open(2), e.space("a"), e.space("b")
	for i, id := range oddIDs() {
		e.upsert(st, sample(a, id, 2, 0, vdb.Payload{Content: fmt.Sprint("a ", i)}), sample(b, id, 2, 1, vdb.Payload{Content: fmt.Sprint("b ", i)}))
	}
	for i, id := range oddIDs() {
		e.Run(fmt.Sprintf("%02d", i), func(t *testing.T) {
			e := &env{T: t, h: e.h}
			pa := sample(a, id, 2, 0, vdb.Payload{Content: fmt.Sprint("a ", i)})
			pb := sample(b, id, 2, 1, vdb.Payload{Content: fmt.Sprint("b ", i)})
			samePoints(t, "Get in a", []vdb.Point{pa}, e.get(st, a, id))
			samePoints(t, "Get in b", []vdb.Point{pb}, e.get(st, b, id))
			q := vdb.Query{Space: b, Vector: []float32{0, 1}, WithVectors: true}
			samePoints(t, "Score in b", []vdb.Point{pb}, pointsOf(e.score(st, q, id)))
			e.delete(st, a, id)
			samePoints(t, "Get in a after the delete", nil, e.get(st, a, id))
			samePoints(t, "Get in b after the delete in a", []vdb.Point{pb}, e.get(st, b, id))
			e.upsert(st, pa)
		})
	}
	sameIDs(e.T, "scroll", sorted(oddIDs()), sorted(pointIDs(e.scrollAll(st, vdb.ScrollQuery{Space: a, Limit: 7}))))
}

// idsSimilar gives every odd id the same vector, so that the answer's order is the order of ids: bytewise, not by number,
// language or case.
func idsSimilar(e *env) {
	st, u := e.open(2), e.space("u")
	var points []vdb.Point
	for _, id := range oddIDs() {
		points = append(points, sample(u, id, 2, 0, vdb.Payload{}))
	}
	e.upsert(st, points...)
	matches := e.search(st, vdb.Query{Space: u, Vector: []float32{1, 0}})
	sameIDs(e.T, "equal scores", sorted(oddIDs()), matchIDs(matches))
	few := e.search(st, vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5})
	sameIDs(e.T, "equal scores, cut at the limit", sorted(oddIDs())[:5], matchIDs(few))
	ids := oddIDs()
	slices.Reverse(ids)
	sameIDs(e.T, "Score", sorted(ids), matchIDs(e.score(st, vdb.Query{Space: u, Vector: []float32{1, 0}}, ids...)))
}
