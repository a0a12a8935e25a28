package vdbtest

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var hybridParts = []part{
	{"Hybrid/answers as Search, Keyword and Score do", hybridParity},
	{"Hybrid/cosines of what only the words find", hybridCosines},
	{"Hybrid/a text without words leaves the dense list", hybridWordless},
	{"Hybrid/only the own user's points", hybridTenants},
	{"Hybrid/follows writes", hybridWrites},
	{"Hybrid/equal scores by id, cut at the limit", hybridTies},
	{"Hybrid/vectors on request, in the dense list", hybridVectors},
	{"Hybrid/bad queries", hybridBad},
}

// spellingParts need the words of vdb.Tokenize.
var spellingParts = []part{{"Hybrid/a word of any script is found by its own spelling", hybridSpellings}}

var noHybridParts = []part{{"Hybrid/not supported", func(e *env) {
	st := e.open(2)
	_, err := st.Hybrid(e.Context(), vdb.HybridQuery{Query: vdb.Query{Space: e.space("u"), Vector: []float32{1, 0}, Limit: 1}, Text: "coffee"})
	checkRefused(e.T, err, vdb.ErrUnsupported, nil)
}}}

func (e *env) hybrid(st vdb.Store, q vdb.HybridQuery) vdb.HybridMatches {
	e.Helper()
	if q.Limit == 0 {
		q.Limit = vdb.MaxLimit
	}
	got, err := st.Hybrid(e.Context(), q)
	if err != nil {
		e.Fatalf("hybrid search for %q: %v", q.Text, err)
	}
	checkOrder(e.T, got.Dense)
	checkOrder(e.T, got.Keyword)
	return got
}

// hybridParity asks one store both ways.
func hybridParity(e *env) {
	const dim = 8
	st, u := e.open(dim), e.space("u")
	e.upsert(st, Points(61, u, 120, dim)...)
	e.upsert(st, Points(62, e.space("other"), 40, dim)...)
	for name, f := range map[string]vdb.Filter{
		"no filter": {},
		"agent":     {Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"agent-a"}}}},
		"state":     {Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}},
		"tag":       {Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"旅行"}}}},
		"extra":     {Match: []vdb.FieldMatch{{Field: "lang", Any: []string{"zh"}}}},
		"time":      {Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}}},
		"valid":     {ValidAt: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)},
		"nothing":   {Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"nobody"}}}},
	} {
		e.Run(name, func(t *testing.T) {
			for i, text := range []string{"coffee", "咖啡 alice berlin project", "unheard", ""} {
				for _, limit := range []int{1, 7, vdb.MaxLimit} {
					q := vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: Vector(uint64(i), dim), Filter: f, Limit: limit}, Text: text}
					if problem := hybridProblem(t.Context(), st, q); problem != "" {
						t.Errorf("%q, limit %d: %s", text, limit, problem)
					}
				}
			}
		})
	}
}

// hybridProblem compares the store's answer with what it answers to the questions asked one by one; nothing is wrong with
// an empty text. Scores may differ by the rounding of another order of additions.
func hybridProblem(ctx context.Context, st vdb.Store, q vdb.HybridQuery) string {
	got, err := st.Hybrid(ctx, q)
	if err != nil {
		return fmt.Sprintf("hybrid: %v", err)
	}
	dense, err := st.Search(ctx, q.Query)
	if err != nil {
		return fmt.Sprintf("search: %v", err)
	}
	worded, err := st.Keyword(ctx, q.KeywordQuery())
	if err != nil {
		return fmt.Sprintf("keyword: %v", err)
	}
	scored, err := st.Score(ctx, vdb.Query{Space: q.Space, Vector: q.Vector}, matchIDs(worded))
	if err != nil {
		return fmt.Sprintf("score: %v", err)
	}
	if problem := matchProblem(dense, got.Dense); problem != "" {
		return "dense: " + problem
	}
	if problem := matchProblem(worded, got.Keyword); problem != "" {
		return "keyword: " + problem
	}
	if len(got.Cosines) != len(worded) {
		return fmt.Sprintf("%d cosines of %d keyword matches", len(got.Cosines), len(worded))
	}
	cosines := make(map[string]float64, len(scored))
	for _, m := range scored {
		cosines[m.ID] = m.Score
	}
	for i, m := range got.Keyword {
		if !sameScore(cosines[m.ID], got.Cosines[i]) {
			return fmt.Sprintf("cosine of %s: %v, Score says %v", m.ID, got.Cosines[i], cosines[m.ID])
		}
	}
	return ""
}

// matchProblem says how two answers differ in their points, the order of these, payloads, or scores.
func matchProblem(want, got []vdb.Match) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%q, want %q", matchIDs(got), matchIDs(want))
	}
	for i := range want {
		if want[i].ID != got[i].ID || want[i].Space != got[i].Space {
			return fmt.Sprintf("%q, want %q", matchIDs(got), matchIDs(want))
		}
		if !sameScore(want[i].Score, got[i].Score) {
			return fmt.Sprintf("score of %s: %v, want %v", got[i].ID, got[i].Score, want[i].Score)
		}
		if w, g := fmt.Sprint(want[i].Payload), fmt.Sprint(got[i].Payload); w != g {
			return fmt.Sprintf("payload of %s: %s, want %s", got[i].ID, g, w)
		}
	}
	return ""
}

// sameScore is false for NaN.
func sameScore(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a)) }

// hybridCosines has a limit that keeps the keyword matches out of the dense list.
func hybridCosines(e *env) {
	st, u := e.open(2), e.space("u")
	for id, p := range map[string]struct {
		vector  []float32
		content string
	}{
		"near":  {[]float32{9, 0}, "water"},
		"0.6":   {[]float32{3, 4}, "coffee tea"}, // 3 / sqrt(3*3+4*4) = 0.6
		"0":     {[]float32{0, 0.5}, "coffee milk"},
		"-0.8":  {[]float32{-8, 6}, "coffee jam"}, // -8 / sqrt(64+36) = -0.8
		"-1":    {[]float32{-2, 0}, "coffee bread"},
		"other": {[]float32{1, 1}, "juice"},
	} {
		e.upsert(st, vdb.Point{Space: u, ID: id, Vector: p.vector, Payload: vdb.Payload{Content: p.content}})
	}
	got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{2, 0}, Limit: 4}, Text: "coffee"})
	sameIDs(e.T, "dense", []string{"near", "other", "0.6", "0"}, matchIDs(got.Dense))
	sameIDs(e.T, "keyword", []string{"-0.8", "-1", "0", "0.6"}, matchIDs(got.Keyword)) // equal BM25: equal lengths
	for i, want := range []float64{-0.8, -1, 0, 0.6} {
		if i >= len(got.Cosines) || !sameScore(want, got.Cosines[i]) {
			e.Errorf("cosines %v, want -0.8, -1, 0, 0.6", got.Cosines)
			break
		}
	}
}

func hybridSpellings(e *env) {
	st, u := e.open(2), e.space("u")
	for id, content := range map[string]string{
		"en": "Coffee at noon", "zh": "我每天喝咖啡", "hi": "मुझे कॉफ़ी पसंद है", "fr": "un café à Paris", "plain": "a cafe next door",
	} {
		e.upsert(st, sample(u, id, 2, 1, vdb.Payload{Content: content}))
	}
	e.upsert(st, sample(u, "near", 2, 0, vdb.Payload{Content: "water"}))
	for text, want := range map[string]string{"coffee": "en", "咖啡": "zh", "कॉफ़ी": "hi", "café": "fr", "cafe": "plain"} {
		got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}, Text: text})
		sameIDs(e.T, text+": dense", []string{"near"}, matchIDs(got.Dense))
		sameIDs(e.T, text+": keyword", []string{want}, matchIDs(got.Keyword))
	}
}

func hybridWordless(e *env) {
	st, u := e.open(2), e.space("u")
	q := func(text string) vdb.HybridQuery {
		return vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}, Text: text}
	}
	if got := e.hybrid(st, q("coffee")); len(got.Dense)+len(got.Keyword)+len(got.Cosines) != 0 {
		e.Errorf("an empty store: %v", got)
	}
	e.upsert(st, sample(u, "a", 2, 0, vdb.Payload{Content: "the coffee"}), sample(u, "b", 2, 1, vdb.Payload{}))
	for _, text := range []string{"", " \n", "?! 🍕", "the", "\xff\x00"} {
		got := e.hybrid(st, q(text))
		sameIDs(e.T, fmt.Sprintf("%q: dense", text), []string{"a", "b"}, matchIDs(got.Dense))
		if len(got.Keyword)+len(got.Cosines) != 0 {
			e.Errorf("%q: keyword %q, cosines %v", text, matchIDs(got.Keyword), got.Cosines)
		}
	}
	got := e.hybrid(st, q("unheard"))
	sameIDs(e.T, "a word of no point: dense", []string{"a", "b"}, matchIDs(got.Dense))
	sameIDs(e.T, "a word of no point: keyword", nil, matchIDs(got.Keyword))
}

func hybridTenants(e *env) {
	const dim = 4
	st, a, b := e.open(dim), e.space("a"), e.space("b")
	e.upsert(st, Points(71, a, 30, dim)...)
	before := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: a, Vector: Vector(5, dim)}, Text: "coffee tea berlin"})
	e.upsert(st, Points(71, b, 30, dim)...) // the same ids, vectors and contents
	e.upsert(st, sample(b, "of b", dim, 0, vdb.Payload{Content: "coffee tea berlin"}))
	for _, sp := range []graphstore.Space{a, b} {
		got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: sp, Vector: Vector(5, dim)}, Text: "coffee tea berlin"})
		for _, list := range [][]vdb.Match{got.Dense, got.Keyword} {
			for _, m := range list {
				if m.Space != sp {
					e.Errorf("match %s of user %q, asked for %q", m.ID, m.Space, sp)
				}
			}
		}
		if sp == a {
			sameIDs(e.T, "dense, with another user's points", matchIDs(before.Dense), matchIDs(got.Dense))
			sameIDs(e.T, "keyword, with another user's points", sorted(matchIDs(before.Keyword)), sorted(matchIDs(got.Keyword)))
		} else if want := len(before.Keyword) + 1; len(got.Keyword) != want {
			e.Errorf("%d keyword matches of b, want %d", len(got.Keyword), want)
		}
	}
	got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: e.space("c"), Vector: Vector(5, dim)}, Text: "coffee"})
	if len(got.Dense)+len(got.Keyword) != 0 {
		e.Errorf("a user without points: %q, %q", matchIDs(got.Dense), matchIDs(got.Keyword))
	}
}

func hybridWrites(e *env) {
	st, u := e.open(2), e.space("u")
	find := func(text string, cosine float64, want ...string) {
		e.Helper()
		got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}}, Text: text})
		sameIDs(e.T, text, want, matchIDs(got.Keyword))
		if len(want) > 0 && (len(got.Cosines) != 1 || !sameScore(cosine, got.Cosines[0])) {
			e.Errorf("%s: cosines %v, want %v", text, got.Cosines, cosine)
		}
	}
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "coffee"}))
	find("coffee", 1, "x")
	e.upsert(st, sample(u, "x", 2, 1, vdb.Payload{Content: "tea"})) // another vector and other words
	find("coffee", 0)
	find("tea", 0, "x")
	e.delete(st, u, "x")
	find("tea", 0)
}

func hybridTies(e *env) {
	st, u := e.open(2), e.space("u")
	var all []string
	var points []vdb.Point
	for i := range 60 {
		id := fmt.Sprintf("p%02d", i)
		all = append(all, id)
		points = append(points, sample(u, id, 2, 0, vdb.Payload{Content: "coffee"}))
	}
	e.upsert(st, points...)
	for _, limit := range []int{1, 10, 59, 60, 61} {
		got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: limit}, Text: "coffee"})
		sameIDs(e.T, fmt.Sprintf("dense, limit %d", limit), all[:min(limit, 60)], matchIDs(got.Dense))
		sameIDs(e.T, fmt.Sprintf("keyword, limit %d", limit), all[:min(limit, 60)], matchIDs(got.Keyword))
		for i, cosine := range got.Cosines {
			if !sameScore(1, cosine) {
				e.Errorf("limit %d: cosine %d is %v, want 1", limit, i, cosine)
			}
		}
	}
}

func hybridVectors(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 1, vdb.Payload{Content: "coffee"}))
	for _, with := range []bool{false, true} {
		got := e.hybrid(st, vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 1}, WithVectors: with}, Text: "coffee"})
		if len(got.Dense) != 1 || len(got.Keyword) != 1 {
			e.Fatalf("got %v", got)
		}
		if v := got.Dense[0].Vector; with != (v != nil) || with && !sameScore(1, Cosine(v, []float32{0, 1})) {
			e.Errorf("with vectors %v: dense match has %v", with, v)
		}
		if v := got.Keyword[0].Vector; v != nil {
			e.Errorf("keyword match has the vector %v", v)
		}
	}
}

func hybridBad(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "coffee"}))
	good := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}
	for name, tc := range map[string]struct {
		edit func(q *vdb.HybridQuery)
		also error
	}{
		"no space":      {func(q *vdb.HybridQuery) { q.Space = graphstore.Space{} }, graphstore.ErrNoSpace},
		"no vector":     {func(q *vdb.HybridQuery) { q.Vector = nil }, nil},
		"zero vector":   {func(q *vdb.HybridQuery) { q.Vector = []float32{0, 0} }, nil},
		"NaN":           {func(q *vdb.HybridQuery) { q.Vector = []float32{float32(math.NaN()), 0} }, nil},
		"limit 0":       {func(q *vdb.HybridQuery) { q.Limit = 0 }, nil},
		"limit 10^9":    {func(q *vdb.HybridQuery) { q.Limit = 1_000_000_000 }, nil},
		"long text":     {func(q *vdb.HybridQuery) { q.Text = string(make([]byte, vdb.MaxTextBytes+1)) }, nil},
		"filter":        {func(q *vdb.HybridQuery) { q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldAgentID}} }, nil},
		"bad, no words": {func(q *vdb.HybridQuery) { q.Text, q.Limit = "", -1 }, nil},
	} {
		q := vdb.HybridQuery{Query: good, Text: "coffee"}
		tc.edit(&q)
		_, err := st.Hybrid(e.Context(), q)
		e.Run(name, func(t *testing.T) { checkRefused(t, err, vdb.ErrBadQuery, tc.also) })
	}
	q := vdb.HybridQuery{Query: good, Text: "coffee"}
	q.Vector = []float32{1, 0, 0}
	_, err := st.Hybrid(e.Context(), q)
	e.Run("dimension", func(t *testing.T) {
		checkRefused(t, err, vdb.ErrBadQuery, &vdb.DimensionError{Got: 3, Want: 2})
	})
}
