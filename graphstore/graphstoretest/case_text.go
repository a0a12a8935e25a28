package graphstoretest

import (
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// hostileTexts are spellings that break stores which build queries from text, compare by prefix, fold case, normalise,
// or end strings early. All are valid ids.
func hostileTexts() []string {
	return []string{
		"a-b", "a/b", `a\b`, "a`b", "it's", `say "hi"`, "''", `\'`, `\\`, "$id", "{id}", "$", "%s %d", "%!d(MISSING)", "100%",
		"a'}) DETACH DELETE n //", "MATCH (n) DETACH DELETE n", "'; DROP TABLE Memory; --", "/* x */", "}) RETURN 1 //", "\\u0041",
		"null", "NULL", "true", "0", "17", "017", "-1", "1e3", "NaN", " ", "  leading", "trailing  ", "a", "A", "aa",
		"\u00e9", "e\u0301", // composed and decomposed: two ids
		"ß", "ss", "ſ", "İ", "i̇", "ﬁ", "fi", "Ω", "\u2126",
		"日本語", "日本語の長い文章は空白がありません", "שלום עולם", "مرحبا", "\u202eoverride", "a\u200db", "\ufeffbom", "\u2028", "\u00a0",
		"😀", "👩‍👩‍👧‍👦", "🇩🇪", "\U0010ffff", "\ufffd", strings.Repeat("x", graphstore.MaxIDBytes),
		strings.Repeat("x", graphstore.MaxIDBytes-1), strings.Repeat("日", graphstore.MaxIDBytes/3), "urn:uuid:0", "a,b", "[a]", "(a)",
		"a|b", "a;b", "a:b", "<a&b>", "a=b", "#", "?", "*", "a*", "_", "a_b", "..", "../../etc/passwd",
	}
}

// textCases: each text in each place where a store keeps one.
func textCases() []testCase {
	return []testCase{
		{"text/ids of nodes", func(f *fixture) {
			var all []graphstore.Change
			for _, s := range hostileTexts() {
				all = append(all, fact(ada, s), entity(ada, s), topic(ada, s))
			}
			f.roundTrip(all...)
			f.apply(goneAll(all[:len(all)/2])...)
			f.want(all[len(all)/2:]...)
		}},
		{"text/ids of users", func(f *fixture) {
			var all []graphstore.Change
			for _, s := range hostileTexts() {
				all = append(all, fact(mustSpace(s), "f"), entity(mustSpace(s), "e"), edge(mustSpace(s), "f", graphstore.Mentions, "e"))
			}
			f.roundTrip(all...)
		}},
		{"text/ends of edges", func(f *fixture) {
			all := []graphstore.Change{fact(ada, "hub")}
			var edges []graphstore.Change
			for _, s := range hostileTexts() {
				all = append(all, fact(ada, s), entity(ada, s))
				edges = append(edges, edge(ada, s, graphstore.Causes, "hub"), edge(ada, "hub", graphstore.Mentions, s),
					edge(ada, s, graphstore.Mentions, s))
			}
			f.roundTrip(append(all, edges...)...)
			f.apply(goneAll(edges)...)
			f.want(all...)
		}},
		{"text/asserters and details", func(f *fixture) {
			nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
			var edges []graphstore.Change
			for _, s := range hostileTexts() {
				edges = append(edges, graphstore.PutEdge(ada, graphstore.Edge{Source: "a", Target: "b", Type: graphstore.Related,
					Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: s}, Weight: 1, Detail: s}))
			}
			f.roundTrip(append(nodes, edges...)...)
			f.apply(goneAll(edges[1:])...)
			f.want(append(nodes, edges[0])...)
		}},
		{"text/fields of nodes", func(f *fixture) {
			var all []graphstore.Change
			for _, s := range append(hostileTexts(), "two\nlines\ttab\r\x01\x7f", strings.Repeat("long ", 20_000)) {
				id := strings.Map(func(r rune) rune { return max(r, ' ') }, graphstore.Shorten(s))
				stamp := graphstore.Stamp{Version: 1, Rank: graphstore.RankAdd, EventID: s}
				x := graphstore.Fact{ID: id, AgentID: s, SourceID: s, EpisodeID: s, BatchID: s, SupersededBy: s,
					Registers: graphstore.Registers{State: stamp, Base: stamp}.With(graphstore.Field(s), stamp)}
				all = append(all, graphstore.PutFact(ada, x), graphstore.PutTopic(ada, graphstore.Topic{ID: id, Name: s}),
					graphstore.PutEntity(ada, graphstore.Entity{ID: id, Type: s, Name: s, Norm: s, Aliases: []string{s},
						HardIDs: []graphstore.HardID{{Kind: s, Value: s}}}))
			}
			f.roundTrip(all...)
		}},
	}
}
