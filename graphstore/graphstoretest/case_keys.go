package graphstoretest

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// keyCases: which records are the same and which are not.
func keyCases() []testCase {
	return []testCase{
		{"key/one id as fact, entity and topic", func(f *fixture) {
			all := []graphstore.Change{fact(ada, "x"), entity(ada, "x"), topic(ada, "x"), edge(ada, "x", graphstore.Mentions, "x"),
				edge(ada, "x", graphstore.TaggedWith, "x")}
			f.apply(all...)
			f.want(all...)
			f.apply(gone(all[1]), gone(all[3]))
			f.want(all[0], all[2], all[4])
		}},
		{"key/one id in two spaces", func(f *fixture) {
			a, b := village(ada), village(bob)
			f.apply(append(a, b...)...)
			f.want(append(a, b...)...)
			f.apply(goneAll(a)...)
			f.want(b...)
		}},
		{"key/contributions are apart", contributionsAreApart},
		{"key/both directions of a directed type", func(f *fixture) {
			nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
			there, back := edge(ada, "a", graphstore.Causes, "b"), edge(ada, "b", graphstore.Causes, "a")
			f.apply(append(nodes, there, back)...)
			f.want(append(nodes, there, back)...)
			f.apply(gone(there))
			f.want(append(nodes, back)...)
		}},
		{"key/undirected edges are one edge", func(f *fixture) {
			nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
			by := graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b"}
			f.apply(append(nodes, edgeBy(ada, "a", graphstore.CoOccurs, "b", by))...)
			f.apply(edgeBy(ada, "b", graphstore.CoOccurs, "a", by)) // PutEdge puts the smaller end first
			f.want(append(nodes, edgeBy(ada, "a", graphstore.CoOccurs, "b", by))...)
		}},
		{"key/delete looks at nothing else", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			other := graphstore.Change{Space: ada, Op: graphstore.Delete, Edge: &graphstore.Edge{Source: "f2", Target: "f1",
				Type: graphstore.Causes, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f2"}, Weight: 7, Detail: "other"}}
			f.apply(other)
			f.want(without(all, other)...)
		}},
		{"key/many spaces", manySpaces},
	}
}

func contributionsAreApart(f *fixture) {
	nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
	var edges []graphstore.Change
	for _, by := range []graphstore.Asserter{{Kind: graphstore.ByFact, ID: "a"}, {Kind: graphstore.ByFact, ID: "b"},
		{Kind: graphstore.ByFact, ID: "A"}, {Kind: graphstore.ByFact, ID: ""}, {Kind: graphstore.ByBatch, ID: "a"},
		{Kind: graphstore.ByBatch, ID: "a "}, {Kind: graphstore.BySpine, ID: ""}, {Kind: graphstore.BySpine, ID: "a"}} {
		edges = append(edges, edgeBy(ada, "a", graphstore.Related, "b", by), edgeBy(ada, "a", graphstore.Causes, "b", by))
	}
	f.apply(append(nodes, edges...)...)
	f.want(append(nodes, edges...)...)
	heavier := edges[3]
	e := *heavier.Edge
	e.Weight, e.Detail = 1, "heavier"
	heavier = graphstore.PutEdge(ada, e)
	f.apply(heavier)
	all := append(append(nodes, without(edges, heavier)...), heavier)
	f.want(all...)
	for i := range edges {
		f.apply(gone(edges[i]))
		all = without(all, edges[i])
		if i%4 == 0 {
			f.want(all...)
		}
	}
	f.want(nodes...)
}

// manySpaces checks the list of spaces: who has a record is in it, bytewise ordered, and who has none is not.
func manySpaces(f *fixture) {
	var all []graphstore.Change
	for _, user := range []string{"b", "a", "B", "aa", "a-", "ä", "10", "9", "日本", "z"} {
		all = append(all, fact(mustSpace(user), "f"))
	}
	f.apply(all...)
	f.want(all...)
	f.apply(gone(all[0]), gone(all[3]))
	rest := without(all, all[0], all[3])
	f.want(rest...)
	f.apply(all[0])
	f.want(append(rest, all[0])...)
	var more []graphstore.Change
	for i := range 50 {
		more = append(more, topic(mustSpace(fmt.Sprintf("more-%d", i)), "t"))
	}
	f.apply(more...)
	f.apply(goneAll(more)...)
	f.want(append(rest, all[0])...)
}
