package vdbtest

import (
	"context"
	"fmt"
	"math"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var randomParts = []part{{"Random/any sequence of calls answers as the in-memory store", randomSequences}}

// randomSequences runs drawn sequences against the store and against Memory. One store serves all sequences, each with
// users of its own, so that later ones run on a store with a history. A failure prints the shrunk sequence and its seed.
func randomSequences(e *env) {
	const dim = 3 // few numbers, drawn from few values: equal scores are frequent
	st, model := e.open(dim), NewMemory(dim)
	round := 0
	rapid.Check(e.T, func(rt *rapid.T) {
		round++
		m := machine{rt: rt, store: st, model: model, keyword: e.h.Features.Keyword, otherWords: e.h.Features.OtherWords}
		for _, name := range []string{"a", "b"} {
			sp, err := graphstore.NewSpace(fmt.Sprintf("%s-%d", name, round))
			if err != nil {
				rt.Fatal(err)
			}
			m.spaces = append(m.spaces, sp)
		}
		for i := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			m.step(fmt.Sprintf("%d: ", i))
		}
		m.compareContents()
	})
}

// machine is one drawn sequence.
type machine struct {
	rt         *rapid.T
	store      vdb.Store
	model      *Memory
	keyword    bool
	otherWords bool
	spaces     []graphstore.Space
}

func (m machine) step(label string) {
	sp := rapid.SampledFrom(m.spaces).Draw(m.rt, label+"space")
	ctx := context.Background()
	switch rapid.SampledFrom([]string{"upsert", "upsert", "delete", "erase", "search", "search", "many", "score", "keyword", "hybrid"}).Draw(m.rt, label+"call") {
	case "upsert":
		points := rapid.SliceOfN(drawPoint(sp), 1, 6).Draw(m.rt, label+"points")
		m.noError(m.store.Upsert(ctx, points), m.model.Upsert(ctx, points))
	case "delete":
		ids := rapid.SliceOfN(drawID, 0, 4).Draw(m.rt, label+"ids")
		m.noError(m.store.Delete(ctx, sp, ids), m.model.Delete(ctx, sp, ids))
	case "erase":
		got, err := m.store.Erase(ctx, sp)
		want, wantErr := m.model.Erase(ctx, sp)
		m.noError(err, wantErr)
		if got != want {
			m.rt.Fatalf("Erase: %d points, want %d", got, want)
		}
	case "search":
		q := vdb.Query{Space: sp, Vector: drawVector.Draw(m.rt, label+"vector"), Filter: drawFilter.Draw(m.rt, label+"filter"),
			Limit: rapid.IntRange(1, 8).Draw(m.rt, label+"limit")}
		m.compareSearch(q)
	case "many":
		queries := rapid.SliceOfN(m.drawQuery(), 0, 5).Draw(m.rt, label+"queries")
		if problem := manyProblem(ctx, m.store, queries); problem != "" {
			m.rt.Fatalf("SearchMany: %s", problem)
		}
	case "score":
		q := vdb.Query{Space: sp, Vector: drawVector.Draw(m.rt, label+"vector"), Filter: drawFilter.Draw(m.rt, label+"filter")}
		ids := rapid.SliceOfN(drawID, 0, 6).Draw(m.rt, label+"ids")
		got, err := m.store.Score(ctx, q, ids)
		want, wantErr := m.model.Score(ctx, q, ids)
		m.noError(err, wantErr)
		m.sameMatches("Score", want, got, len(want)+1)
	case "keyword":
		if !m.keyword || m.otherWords {
			return
		}
		q := vdb.KeywordQuery{Space: sp, Text: drawText.Draw(m.rt, label+"text"), Filter: drawFilter.Draw(m.rt, label+"filter"), Limit: 100}
		got, err := m.store.Keyword(ctx, q)
		want, wantErr := m.model.Keyword(ctx, q)
		m.noError(err, wantErr)
		if diff := cmp.Diff(sorted(matchIDs(want)), sorted(matchIDs(got)), cmpopts.EquateEmpty()); diff != "" { // BM25 differs by store
			m.rt.Fatalf("Keyword(%q) (-model +store):\n%s", q.Text, diff)
		}
	case "hybrid":
		if !m.keyword {
			return
		}
		q := vdb.HybridQuery{Query: vdb.Query{Space: sp, Vector: drawVector.Draw(m.rt, label+"vector"), Filter: drawFilter.Draw(m.rt, label+"filter"),
			Limit: rapid.IntRange(1, 8).Draw(m.rt, label+"limit")}, Text: drawText.Draw(m.rt, label+"text")}
		if problem := hybridProblem(ctx, m.store, q); problem != "" {
			m.rt.Fatalf("Hybrid(%q): %s", q.Text, problem)
		}
	}
}

// drawQuery draws queries of any of the users; what Search answers to them is checked by itself.
func (m machine) drawQuery() *rapid.Generator[vdb.Query] {
	return rapid.Custom(func(t *rapid.T) vdb.Query {
		return vdb.Query{
			Space: rapid.SampledFrom(m.spaces).Draw(t, "space"), Vector: drawVector.Draw(t, "vector"), Filter: drawFilter.Draw(t, "filter"),
			Limit: rapid.IntRange(1, 8).Draw(t, "limit"), NoPayload: rapid.Bool().Draw(t, "no payload"), WithVectors: rapid.Bool().Draw(t, "vectors"),
		}
	})
}

func (m machine) noError(errs ...error) {
	m.rt.Helper()
	for _, err := range errs {
		if err != nil {
			m.rt.Fatal(err)
		}
	}
}

// compareSearch asks the model without a limit, because points whose scores differ by less than the rounding of a store
// may change places, also across the end of the answer.
func (m machine) compareSearch(q vdb.Query) {
	ctx := context.Background()
	got, err := m.store.Search(ctx, q)
	limit := q.Limit
	q.Limit = vdb.MaxLimit
	want, wantErr := m.model.Search(ctx, q)
	m.noError(err, wantErr)
	if len(got) != min(limit, len(want)) {
		m.rt.Fatalf("Search: %d matches, want %d", len(got), min(limit, len(want)))
	}
	m.sameMatches("Search", want, got, limit)
}

// sameMatches compares a possibly cut answer with the model's whole one: same scores place by place, payloads by id, and
// the order the contract asks for.
func (m machine) sameMatches(what string, want, got []vdb.Match, limit int) {
	m.rt.Helper()
	if len(got) != min(limit, len(want)) {
		m.rt.Fatalf("%s: %d matches, want %d", what, len(got), min(limit, len(want)))
	}
	model := make(map[string]vdb.Match, len(want))
	for _, w := range want {
		model[w.ID] = w
	}
	for i, g := range got {
		w, ok := model[g.ID]
		if !ok || math.Abs(g.Score-w.Score) > scoreTolerance || math.Abs(g.Score-want[i].Score) > scoreTolerance {
			m.rt.Fatalf("%s: place %d has %q with %v; the model has %q with %v", what, i, g.ID, g.Score, want[i].ID, want[i].Score)
		}
		if i > 0 && compareMatches(got[i-1], g) >= 0 {
			m.rt.Fatalf("%s: %q %v before %q %v", what, got[i-1].ID, got[i-1].Score, g.ID, g.Score)
		}
		if diff := cmp.Diff(w.Payload, clonePoint(g.Point, false).Payload, cmpopts.EquateEmpty()); diff != "" {
			m.rt.Fatalf("%s: payload of %q (-model +store):\n%s", what, g.ID, diff)
		}
	}
}

func (m machine) compareContents() {
	ctx := context.Background()
	for _, sp := range m.spaces {
		q := vdb.ScrollQuery{Space: sp, Limit: 1000}
		got, err := m.store.Scroll(ctx, q)
		want, wantErr := m.model.Scroll(ctx, q)
		m.noError(err, wantErr)
		if diff := cmp.Diff(byID(want.Points), byID(got.Points), cmpopts.EquateEmpty(), cmp.Comparer(sameSpace)); diff != "" {
			m.rt.Fatalf("contents of %s (-model +store):\n%s", sp, diff)
		}
	}
}

var (
	drawID     = rapid.SampledFrom([]string{"1", "2", "17", "a", "b", "é", "咖啡", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"})
	drawVector = rapid.Custom(func(t *rapid.T) []float32 {
		v := rapid.SliceOfN(rapid.SampledFrom([]float32{-1, 0, 0, 1, 2}), 3, 3).Draw(t, "numbers")
		if v[0] == 0 && v[1] == 0 && v[2] == 0 {
			v[0] = 1
		}
		return v
	})
	drawText = rapid.Custom(func(t *rapid.T) string {
		words := []string{"coffee ", "tea ", "喝咖啡", "café ", "cafe\u0301 ", "the ", "AND ", "( ", `"`, "* ", "u:1 ", "कॉफ़ी ", "🍕"}
		text := ""
		for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "words") {
			text += w
		}
		return text
	})
	drawFilter = rapid.Custom(func(t *rapid.T) vdb.Filter {
		var f vdb.Filter
		for _, c := range []struct {
			field  string
			values []string
		}{
			{vdb.FieldState, []string{"active", "superseded", "shadowed"}}, {vdb.FieldAgentID, []string{"", "x", "y"}},
			{vdb.FieldTags, []string{"t", "u", ""}}, {"n", []string{"1", "true", "one"}},
		} {
			if rapid.IntRange(0, 3).Draw(t, c.field+"?") == 0 {
				f.Match = append(f.Match, vdb.FieldMatch{Field: c.field, Any: rapid.SliceOfN(rapid.SampledFrom(c.values), 1, 2).Draw(t, c.field)})
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "range?") == 0 {
			from := rapid.IntRange(1, 3).Draw(t, "from")
			f.Range = []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: day(from), To: day(from + rapid.IntRange(1, 2).Draw(t, "days"))}}
		}
		if rapid.IntRange(0, 3).Draw(t, "valid at?") == 0 {
			f.ValidAt = day(rapid.IntRange(1, 4).Draw(t, "valid at"))
		}
		return f
	})
)

func drawPoint(sp graphstore.Space) *rapid.Generator[vdb.Point] {
	return rapid.Custom(func(t *rapid.T) vdb.Point {
		p := vdb.Point{Space: sp, ID: drawID.Draw(t, "id"), Vector: drawVector.Draw(t, "vector")}
		p.Payload.Content = drawText.Draw(t, "content")
		p.Payload.State = rapid.SampledFrom([]string{"", "active", "superseded"}).Draw(t, "state")
		p.Payload.AgentID = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "agent")
		p.Payload.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"t", "u", ""}), 0, 2).Draw(t, "tags")
		p.Payload.Version = rapid.Int64Range(0, 2).Draw(t, "version")
		if d := rapid.IntRange(0, 4).Draw(t, "day"); d > 0 {
			p.Payload.MemoryAt = day(d)
		}
		if d := rapid.IntRange(0, 3).Draw(t, "valid from"); d > 0 {
			p.Payload.ValidFrom = day(d)
		}
		if d := rapid.IntRange(0, 3).Draw(t, "valid to"); d > 0 {
			p.Payload.ValidTo = day(d + 1)
		}
		if x := rapid.SampledFrom([]any{nil, int64(1), true, "one", "1", 1.5, []any{"one", int64(1)}}).Draw(t, "n"); x != nil {
			p.Payload.Extra = map[string]any{"n": x}
		}
		return p
	})
}
