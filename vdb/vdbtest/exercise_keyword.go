package vdbtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var keywordParts = []part{
	{"Keyword/best first, ties by id, cut at the limit", keywordOrder},
	{"Keyword/follows writes", keywordWrites},
	{"Keyword/bad queries", keywordBad},
}

// tokenizeParts need the words of vdb.Tokenize.
var tokenizeParts = []part{
	{"Keyword/which points match", keywordMatches},
	{"Keyword/only the own user's points", keywordTenants},
}

var noKeywordParts = []part{{"Keyword/not supported", func(e *env) {
	st := e.open(2)
	_, err := st.Keyword(e.Context(), vdb.KeywordQuery{Space: e.space("u"), Text: "coffee", Limit: 1})
	checkRefused(e.T, err, vdb.ErrUnsupported, nil)
}}}

func keywordMatches(e *env) {
	st, u := e.open(2), e.space("u")
	for id, content := range map[string]string{
		"en": "Coffee at noon", "zh": "我每天喝咖啡", "hi": "मुझे कॉफ़ी पसंद है", "fr": "un caf\u00e9 à Paris", "fr decomposed": "le cafe\u0301 noir",
		"plain": "the cafe next door", "ja": "コーヒーを飲む", "ko": "커피를 마셨다", "he": "שתיתי קפה", "de": "Die Straße ist lang",
		"syntax": "near the station; content:x", "hyphen": "a follow-up call", "empty": "", "symbols": "?! ... 🍕", "stop words": "the and of",
	} {
		e.upsert(st, sample(u, id, 2, 0, vdb.Payload{Content: content}))
	}
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"coffee", []string{"en"}},
		{"COFFEE!", []string{"en"}},
		{"cof", nil},
		{"cof*", nil},
		{"咖啡", []string{"zh"}},
		{"喝咖啡", []string{"zh"}},
		{"कॉफ़ी", []string{"hi"}},
		{"caf\u00e9", []string{"fr", "fr decomposed"}},
		{"cafe\u0301", []string{"fr", "fr decomposed"}},
		{"cafe", []string{"plain"}},
		{"コーヒー", []string{"ja"}},
		{"커피", []string{"ko"}},
		{"קפה", []string{"he"}},
		{"STRASSE", []string{"de"}},
		{"coffee 咖啡 nothing", []string{"en", "zh"}},
		{"follow", []string{"hyphen"}},
		{"follow-up", []string{"hyphen"}},
		{"call -follow", []string{"hyphen"}},
		{"", nil},
		{" \t\n", nil},
		{"?! ... 🍕", nil},
		{"the and of", nil},
		{"a \x00 \xff", nil},
		{"AND OR NEAR( * ^ : -)", []string{"syntax"}},
		{`NEAR("station" "x", 5)`, []string{"syntax"}},
		{`"unterminated station`, []string{"syntax"}},
		{"coffee AND station", []string{"en", "syntax"}},
		{"coffee NOT noon", []string{"en"}},
		{"t:coffee", []string{"en"}},
		{"{u t}:coffee", []string{"en"}},
		{"^coffee", []string{"en"}},
		{"coffee' OR '1'='1", []string{"en"}},
		{`\coffee\`, []string{"en"}},
	} {
		e.Run(fmt.Sprintf("%q", tc.text), func(t *testing.T) {
			e := &env{T: t, h: e.h}
			got := e.keyword(st, vdb.KeywordQuery{Space: u, Text: tc.text})
			sameIDs(t, "ids", sorted(tc.want), sorted(matchIDs(got)))
			for _, m := range got {
				if !(m.Score >= 0) {
					t.Errorf("score of %s: %v", m.ID, m.Score)
				}
			}
		})
	}
}

func keywordOrder(e *env) {
	st, u := e.open(2), e.space("u")
	for i := range 30 {
		e.upsert(st, sample(u, fmt.Sprintf("filler %02d", i), 2, 0, vdb.Payload{Content: "bread butter jam"}))
	}
	for id, content := range map[string]string{"both": "coffee tea jam", "b": "coffee milk jam", "a": "coffee milk jam", "C": "coffee milk jam"} {
		e.upsert(st, sample(u, id, 2, 0, vdb.Payload{Content: content}))
	}
	// Two of the words beat one at equal length, whatever the variant of BM25; equal contents are ordered by id bytewise.
	want := []string{"both", "C", "a", "b"}
	for limit := 1; limit <= 5; limit++ {
		got := e.keyword(st, vdb.KeywordQuery{Space: u, Text: "tea coffee", Limit: limit})
		sameIDs(e.T, fmt.Sprintf("limit %d", limit), want[:min(limit, 4)], matchIDs(got))
	}
	again := e.keyword(st, vdb.KeywordQuery{Space: u, Text: "coffee tea coffee"})
	sameIDs(e.T, "words in another order, repeated", want, matchIDs(again))
}

func keywordWrites(e *env) {
	st, u := e.open(2), e.space("u")
	find := func(text string, want ...string) {
		e.Helper()
		sameIDs(e.T, text, want, matchIDs(e.keyword(st, vdb.KeywordQuery{Space: u, Text: text})))
	}
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "coffee"}))
	find("coffee", "x")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "tea"}))
	find("coffee")
	find("tea", "x")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	find("tea")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "tea coffee"}))
	e.delete(st, u, "x")
	find("tea coffee")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "water"}))
	find("tea coffee")
	find("water", "x")
}

func keywordTenants(e *env) {
	st, a, b := e.open(4), e.space("a"), e.space("b")
	mine := Points(47, a, 50, 4)
	e.upsert(st, append(mine, Points(47, b, 50, 4)...)...)
	e.upsert(st, sample(b, "of b", 4, 0, vdb.Payload{Content: "u1 u2 unique"}))
	for _, text := range []string{"coffee", "咖啡 2026", "unique", "a b", "u1 u2"} {
		got := e.keyword(st, vdb.KeywordQuery{Space: a, Text: text})
		words := make(map[string]bool)
		for _, w := range vdb.Tokenize(text) {
			words[w] = true
		}
		var want []string
		for _, p := range mine {
			for _, w := range vdb.Tokenize(p.Payload.Content) {
				if words[w] {
					want = append(want, p.ID)
					break
				}
			}
		}
		sameIDs(e.T, text, sorted(want), sorted(matchIDs(got)))
		for _, m := range got {
			if m.Space != a {
				e.Errorf("%s: match of user %q", text, m.Space)
			}
		}
	}
}

func keywordBad(e *env) {
	st, u := e.open(2), e.space("u")
	for name, tc := range map[string]struct {
		q    vdb.KeywordQuery
		also error
	}{
		"no space":       {vdb.KeywordQuery{Text: "x", Limit: 1}, graphstore.ErrNoSpace},
		"limit 0":        {vdb.KeywordQuery{Space: u, Text: "x"}, nil},
		"limit negative": {vdb.KeywordQuery{Space: u, Text: "x", Limit: -1}, nil},
		"limit 10^9":     {vdb.KeywordQuery{Space: u, Text: "x", Limit: 1_000_000_000}, nil},
		"bad, no words":  {vdb.KeywordQuery{Space: u, Text: "", Limit: 0}, nil}, // checked before the text
	} {
		_, err := st.Keyword(context.WithoutCancel(e.Context()), tc.q)
		e.Run(name, func(t *testing.T) { checkRefused(t, err, vdb.ErrBadQuery, tc.also) })
	}
}
