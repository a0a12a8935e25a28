package vdbtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var manyParts = []part{
	{"SearchMany/each answer is that of Search", manyParity},
	{"SearchMany/answers are in the order of the queries", manyOrder},
	{"SearchMany/users, filters and limits mixed", manyMixed},
	{"SearchMany/users that share ids, vectors and contents", manyTenants},
	{"SearchMany/equal scores by id, cut at the limit", manyTies},
	{"SearchMany/follows writes", manyWrites},
	{"SearchMany/payloads and vectors as asked for", manySelected},
	{"SearchMany/no queries, no points", manyNone},
	{"SearchMany/bad queries are named", manyBad},
}

func (e *env) searchMany(st vdb.Store, queries ...vdb.Query) [][]vdb.Match {
	e.Helper()
	got, err := st.SearchMany(e.Context(), queries)
	if err != nil {
		e.Fatalf("search many: %v", err)
	}
	if len(got) != len(queries) {
		e.Fatalf("%d answers to %d queries", len(got), len(queries))
	}
	for _, matches := range got {
		checkOrder(e.T, matches)
	}
	return got
}

// manyProblem compares the answers with those to the queries asked one by one, with payloads, which decide what passes a filter
// whether or not they are wanted; nothing is wrong with an empty text.
func manyProblem(ctx context.Context, st vdb.Store, queries []vdb.Query) string {
	got, err := st.SearchMany(ctx, queries)
	if err != nil {
		return fmt.Sprintf("search many: %v", err)
	}
	if len(got) != len(queries) {
		return fmt.Sprintf("%d answers to %d queries", len(got), len(queries))
	}
	for i, q := range queries {
		full := q
		full.NoPayload = false
		want, err := st.Search(ctx, full)
		if err != nil {
			return fmt.Sprintf("search: %v", err)
		}
		for j := range want {
			if q.NoPayload {
				want[j].Payload = vdb.Payload{}
			}
		}
		if problem := matchProblem(want, got[i]); problem != "" {
			return fmt.Sprintf("answer %d, no payload %v: %s", i, q.NoPayload, problem)
		}
		for j, m := range got[i] {
			if diff := cmp.Diff(want[j].Vector, m.Vector); diff != "" {
				return fmt.Sprintf("answer %d: vector of %s (-Search +SearchMany):\n%s", i, m.ID, diff)
			}
		}
	}
	return ""
}

var manyFilters = map[string]vdb.Filter{
	"no filter": {},
	"agent":     {Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"agent-a"}}}},
	"state":     {Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}},
	"content":   {Match: []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"coffee", "tea", "berlin", "likes", "咖啡"}}}},
	"extra":     {Match: []vdb.FieldMatch{{Field: "lang", Any: []string{"zh"}}}},
	"quoted":    {Match: []vdb.FieldMatch{{Field: `a "quoted" key`, Any: []string{"x"}}}},
	"time":      {Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}}},
	"valid":     {ValidAt: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)},
	"nothing":   {Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"nobody"}}}},
}

func manyParity(e *env) {
	const dim = 8
	st, u := e.open(dim), e.space("u")
	points := Points(81, u, 300, dim)
	for i := range points {
		if i%3 == 0 { // a name that not every server can be asked about
			points[i].Payload.Extra = map[string]any{`a "quoted" key`: "x"}
		}
	}
	e.upsert(st, points...)
	e.upsert(st, Points(82, e.space("other"), 40, dim)...)
	for name, f := range manyFilters {
		e.Run(name, func(t *testing.T) {
			for _, limit := range []int{1, 7, 299, 1000} {
				queries := make([]vdb.Query, 20)
				for i := range queries {
					queries[i] = vdb.Query{Space: u, Vector: Vector(uint64(i), dim), Filter: f, Limit: limit, NoPayload: i%4 == 3, WithVectors: i%5 == 4}
				}
				if problem := manyProblem(t.Context(), st, queries); problem != "" {
					t.Errorf("limit %d: %s", limit, problem)
				}
			}
		})
	}
}

// manyOrder asks for the axes, each of which has a point of its own.
func manyOrder(e *env) {
	const dim = 16
	st, u := e.open(dim), e.space("u")
	for axis := range dim {
		e.upsert(st, sample(u, fmt.Sprint("on axis ", axis), dim, axis, vdb.Payload{}))
	}
	var queries []vdb.Query
	var want []string
	for i := range 3 * dim { // each axis thrice, in an order of its own
		axis := (7*i + 3) % dim
		p := sample(u, "", dim, axis, vdb.Payload{})
		queries = append(queries, vdb.Query{Space: u, Vector: p.Vector, Limit: 1})
		want = append(want, fmt.Sprint("on axis ", axis))
	}
	var got []string
	for _, matches := range e.searchMany(st, queries...) {
		got = append(got, matchIDs(matches)...)
	}
	sameIDs(e.T, "the nearest of each", want, got)
}

func manyMixed(e *env) {
	const dim = 6
	st := e.open(dim)
	users := []graphstore.Space{e.space("a"), e.space("b"), e.space("nobody"), e.space("c")}
	for i, u := range users {
		if i != 2 {
			e.upsert(st, Points(uint64(90+i), u, 50*(i+1), dim)...)
		}
	}
	var queries []vdb.Query
	for i := range 12 {
		for _, f := range manyFilters { // in any order
			queries = append(queries, vdb.Query{Space: users[(i*i+len(queries))%len(users)], Vector: Vector(uint64(i), dim), Filter: f,
				Limit: 1 + 13*(i%4), NoPayload: i%2 == 0, WithVectors: i%3 == 0})
		}
	}
	if problem := manyProblem(e.Context(), st, queries); problem != "" {
		e.Error(problem)
	}
}

// manyTenants has two users with equal points and a third with none, in one call.
func manyTenants(e *env) {
	const dim = 4
	st := e.open(dim)
	for _, user := range []string{"a", "b"} {
		e.upsert(st, Points(71, e.space(user), 30, dim)...)
	}
	e.upsert(st, vdb.Point{Space: e.space("b"), ID: "of b", Vector: Vector(5, dim)})
	var queries []vdb.Query
	for _, user := range []string{"a", "b", "c", "b", "a"} {
		for _, bare := range []bool{false, true} {
			queries = append(queries, vdb.Query{Space: e.space(user), Vector: Vector(5, dim), Limit: 100, NoPayload: bare})
		}
	}
	wants := map[graphstore.Space]int{e.space("a"): 30, e.space("b"): 31, e.space("c"): 0}
	for i, matches := range e.searchMany(st, queries...) {
		if want := wants[queries[i].Space]; len(matches) != want {
			e.Errorf("answer %d: %d matches, want %d", i, len(matches), want)
		}
		for _, m := range matches {
			if m.Space != queries[i].Space || m.ID == "of b" && m.Space != e.space("b") {
				e.Errorf("answer %d: match %s of user %q, asked for %q", i, m.ID, m.Space, queries[i].Space)
			}
		}
	}
}

func manyTies(e *env) {
	st, u := e.open(2), e.space("u")
	var all []string
	var points []vdb.Point
	for i := range 60 {
		id := fmt.Sprintf("p%02d", i)
		all = append(all, id)
		points = append(points, sample(u, id, 2, 0, vdb.Payload{}))
	}
	e.upsert(st, points...)
	limits := []int{1, 10, 59, 60, 61, 3}
	queries := make([]vdb.Query, len(limits))
	for i, limit := range limits {
		queries[i] = vdb.Query{Space: u, Vector: []float32{1, float32(i)}, Limit: limit}
	}
	for i, matches := range e.searchMany(st, queries...) {
		sameIDs(e.T, fmt.Sprintf("limit %d", limits[i]), all[:min(limits[i], 60)], matchIDs(matches))
	}
}

func manyWrites(e *env) {
	st, u := e.open(2), e.space("u")
	find := func(what string, want ...string) {
		e.Helper()
		for _, bare := range []bool{false, true} {
			q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 9, NoPayload: bare}
			for _, matches := range e.searchMany(st, q, q) {
				sameIDs(e.T, what, want, matchIDs(matches))
			}
		}
	}
	find("nothing yet")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	find("one point", "x")
	e.upsert(st, sample(u, "x", 2, 1, vdb.Payload{}), sample(u, "y", 2, 0, vdb.Payload{}))
	find("x turned, y came", "y", "x")
	e.delete(st, u, "y")
	find("y gone", "x")
	if _, err := st.Erase(e.Context(), u); err != nil {
		e.Fatal(err)
	}
	find("erased")
	e.upsert(st, sample(u, "z", 2, 0, vdb.Payload{}))
	find("begun anew", "z")
}

// manySelected also holds for the other methods that take a query.
func manySelected(e *env) {
	st, u := e.open(2), e.space("u")
	const quoted = `a "quoted" key` // not every server can be asked about it
	p := sample(u, "msg-1/α", 2, 1, vdb.Payload{Content: "coffee", Tags: []string{"t"}, Extra: map[string]any{quoted: "x"}})
	e.upsert(st, p)
	check := func(method string, q vdb.Query, matches []vdb.Match) {
		e.Helper()
		if len(matches) != 1 || matches[0].ID != p.ID || matches[0].Space != u || math.Abs(matches[0].Score-1) > scoreTolerance {
			e.Fatalf("%s: %v", method, matches)
		}
		if (matches[0].Vector != nil) != q.WithVectors {
			e.Errorf("%s, vectors %v: got %v", method, q.WithVectors, matches[0].Vector)
		}
		want := p.Payload
		if q.NoPayload {
			want = vdb.Payload{}
		}
		if diff := cmp.Diff(want, matches[0].Payload); diff != "" {
			e.Errorf("%s, no payload %v (-want +got):\n%s", method, q.NoPayload, diff)
		}
	}
	filters := []vdb.Filter{
		{}, {Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"t"}}}}, {Match: []vdb.FieldMatch{{Field: quoted, Any: []string{"x"}}}},
	}
	for i := range 4 * len(filters) {
		q := vdb.Query{Space: u, Vector: []float32{0, 1}, Limit: 1, WithVectors: i&1 != 0, NoPayload: i&2 != 0, Filter: filters[i/4]}
		check("SearchMany", q, e.searchMany(st, q)[0])
		check("Search", q, e.search(st, q))
		check("Score", q, e.score(st, q, p.ID))
		if e.h.Features.Keyword {
			got := e.hybrid(st, vdb.HybridQuery{Query: q, Text: "coffee"})
			check("Hybrid", q, got.Dense)
			if diff := cmp.Diff(p.Payload, got.Keyword[0].Payload); diff != "" {
				e.Errorf("keyword list (-want +got):\n%s", diff)
			}
		}
	}
}

func manyNone(e *env) {
	st, u := e.open(2), e.space("u")
	q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}
	for _, points := range []int{0, 1} {
		if points > 0 {
			e.upsert(st, sample(e.space("other"), "x", 2, 0, vdb.Payload{}))
		}
		if got := e.searchMany(st); len(got) != 0 {
			e.Errorf("no queries: %v", got)
		}
		for _, matches := range e.searchMany(st, q, q, q) {
			if len(matches) != 0 {
				e.Errorf("a user without points: %q", matchIDs(matches))
			}
		}
	}
}

func manyBad(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	good := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}
	for name, tc := range map[string]struct {
		spoil func(q *vdb.Query)
		also  error
	}{
		"no space":        {spoil: func(q *vdb.Query) { q.Space = graphstore.Space{} }, also: graphstore.ErrNoSpace},
		"no vector":       {spoil: func(q *vdb.Query) { q.Vector = nil }},
		"zero vector":     {spoil: func(q *vdb.Query) { q.Vector = []float32{0, 0} }},
		"NaN":             {spoil: func(q *vdb.Query) { q.Vector = []float32{float32(math.NaN()), 0} }},
		"dimension":       {spoil: func(q *vdb.Query) { q.Vector = []float32{1, 0, 0} }, also: &vdb.DimensionError{Got: 3, Want: 2}},
		"limit 0":         {spoil: func(q *vdb.Query) { q.Limit = 0 }},
		"limit past max":  {spoil: func(q *vdb.Query) { q.Limit = vdb.MaxLimit + 1 }},
		"filter":          {spoil: func(q *vdb.Query) { q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldAgentID}} }},
		"match on a time": {spoil: func(q *vdb.Query) { q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldMemoryAt, Any: []string{"x"}}} }},
	} {
		for _, at := range []int{0, 1, 4} {
			e.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
				queries := []vdb.Query{good, good, good, good, good}
				tc.spoil(&queries[at])
				got, err := st.SearchMany(t.Context(), queries)
				checkRefused(t, err, vdb.ErrBadQuery, tc.also)
				if len(got) != 0 || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("queries[%d]", at)) {
					t.Errorf("%d answers, error %v: want none and the index %d", len(got), err, at)
				}
			})
		}
	}
	many := make([]vdb.Query, vdb.MaxQueries+1)
	for i := range many {
		many[i] = good
	}
	e.searchMany(st, many[:vdb.MaxQueries]...)
	_, err := st.SearchMany(e.Context(), many)
	e.Run("too many", func(t *testing.T) { checkRefused(t, err, vdb.ErrBadQuery, nil) })
	for i := range many {
		many[i].Limit = vdb.MaxLimit // 11 of them are 110,000 matches
	}
	_, err = st.SearchMany(e.Context(), many[:11])
	e.Run("too many matches", func(t *testing.T) { checkRefused(t, err, vdb.ErrBadQuery, nil) })
	e.searchMany(st, many[:10]...)
}
