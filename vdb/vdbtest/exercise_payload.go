package vdbtest

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
)

var payloadParts = []part{
	{"Payload/every field comes back from every read", payloadReads},
	{"Payload/times", payloadTimes},
	{"Payload/extra keeps JSON types apart", payloadExtra},
	{"Payload/texts of any characters", payloadTexts},
}

func payloadReads(e *env) {
	st, u := e.open(2), e.space("u")
	full := sample(u, "full", 2, 0, vdb.Payload{Content: "coffee at noon", AgentID: "agent", State: "superseded", Version: math.MaxInt64,
		EpisodeID: "ep", BatchID: "batch", SourceID: "src", Tags: []string{"b", "a", "b", ""}, MemoryAt: day(1), CreatedAt: day(2),
		ValidFrom: day(3), ValidTo: day(4), Extra: map[string]any{"lang": "en", "n": int64(7)}})
	bare := sample(u, "bare", 2, 1, vdb.Payload{})
	want := []vdb.Point{full, bare} // the order of cosines to the first axis: 1, 0
	e.upsert(st, full, bare)

	for _, withVectors := range []bool{true, false} {
		q := vdb.Query{Space: u, Vector: []float32{1, 0}, WithVectors: withVectors}
		got, err := st.Get(e.Context(), u, []string{"full", "bare"}, withVectors)
		if err != nil {
			e.Fatal(err)
		}
		scrolled := e.scrollAll(st, vdb.ScrollQuery{Space: u, Limit: 10, WithVectors: withVectors})
		if len(scrolled) == 2 && scrolled[0].ID == "bare" {
			scrolled[0], scrolled[1] = scrolled[1], scrolled[0]
		}
		for what, points := range map[string][]vdb.Point{
			"Get": got, "Scroll": scrolled, "Search": pointsOf(e.search(st, q)), "Score": pointsOf(e.score(st, q, "bare", "full")),
		} {
			samePoints(e.T, what, want, points)
			for _, p := range points {
				if (p.Vector != nil) != withVectors {
					e.Errorf("%s: vectors asked for: %v, got %v", what, withVectors, p.Vector)
				}
			}
		}
	}
	if e.h.Features.Keyword {
		samePoints(e.T, "Keyword", want[:1], pointsOf(e.keyword(st, vdb.KeywordQuery{Space: u, Text: "coffee"})))
	}
}

func pointsOf(matches []vdb.Match) []vdb.Point {
	points := make([]vdb.Point, len(matches))
	for i, m := range matches {
		points[i] = m.Point
	}
	return points
}

func payloadTimes(e *env) {
	st, u := e.open(2), e.space("u")
	for name, tc := range map[string]struct{ given, want time.Time }{
		"absent":                    {time.Time{}, time.Time{}},
		"microseconds":              {time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC), time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)},
		"nanoseconds are cut off":   {time.Date(2026, 3, 4, 5, 6, 7, 123456999, time.UTC), time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)},
		"a zone becomes UTC":        {time.Date(2026, 3, 4, 0, 30, 0, 0, time.FixedZone("", 2*3600)), time.Date(2026, 3, 3, 22, 30, 0, 0, time.UTC)},
		"1970 is a time":            {time.Unix(0, 0), time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)},
		"before 1970":               {time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)},
		"cut towards the past":      {time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)},
		"year 1000":                 {time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"last microsecond of 9999":  {time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)},
		"the far end of nanosecond": {time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC), time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC)},
	} {
		e.Run(name, func(t *testing.T) {
			e := &env{T: t, h: e.h}
			e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{MemoryAt: tc.given, CreatedAt: tc.given, ValidFrom: tc.given, ValidTo: tc.given}))
			p := e.get(st, u, "x")[0].Payload
			for field, got := range map[string]time.Time{"memory_at": p.MemoryAt, "created_at": p.CreatedAt, "valid_from": p.ValidFrom, "valid_to": p.ValidTo} {
				if got != tc.want { // ==, so that the location counts, too
					t.Errorf("%s: got %v, want %v", field, got, tc.want)
				}
			}
		})
	}
}

func payloadExtra(e *env) {
	st, u := e.open(2), e.space("u")
	extra := map[string]any{
		"text": "v", "empty text": "", "true": true, "false": false, "nil": nil,
		"int": int64(3), "float that is whole": float64(3), "float": -0.1, "tiny": math.SmallestNonzeroFloat64, "huge": 1e300,
		"max int": int64(math.MaxInt64), "min int": int64(math.MinInt64), "beyond 2^53": int64(1<<53 + 1),
		"list": []any{"a", int64(1), 1.5, true, nil, []any{}, map[string]any{}}, "empty list": []any{}, "empty map": map[string]any{},
		"deep":       map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": int64(1)}}}},
		"dotted.key": "dotted", "brackets[0]": "b", "スキー": "⛷", `back\slash`: `\u0041`, "'; DROP TABLE facts; --": "x", "<&>": "<&>\u2028",
	}
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Extra: extra}))
	samePoints(e.T, "extra", []vdb.Point{sample(u, "x", 2, 0, vdb.Payload{Extra: extra})}, e.get(st, u, "x"))
}

func payloadTexts(e *env) {
	st, u := e.open(2), e.space("u")
	for name, text := range map[string]string{
		"quotes":        `it's "quoted" and ` + "`ticked`",
		"slashes":       `a/b\c%s\0`,
		"line breaks":   "one\r\ntwo\tthree\n",
		"emoji":         "🍕👨‍👩‍👧🏳️‍🌈",
		"right to left": "שלום \u202eabc\u202c مرحبا",
		"decomposed":    "cafe\u0301 is not caf\u00e9",
		"blanks":        "  ",
		"sql":           "'); DELETE FROM facts; --",
		"long":          strings.Repeat("咖啡 coffee ", 20_000),
		"NUL":           "a\x00b",
		"not UTF-8":     "a\xffb",
	} {
		e.Run(name, func(t *testing.T) {
			e := &env{T: t, h: e.h}
			p := sample(u, "x", 2, 0, vdb.Payload{Content: text, AgentID: text, State: text, EpisodeID: text, BatchID: text, SourceID: text,
				Tags: []string{text, "t"}, Extra: map[string]any{"k": text}})
			err := st.Upsert(t.Context(), []vdb.Point{p})
			// What a store cannot keep it may refuse; it may not keep something else.
			if mayRefuse := name == "NUL" || name == "not UTF-8"; mayRefuse && errors.Is(err, vdb.ErrBadPoint) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			samePoints(t, name, []vdb.Point{p}, e.get(st, u, "x"))
		})
	}
}
