package graphstoretest

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// badChangeCases: what no store may commit, and that nothing of its transaction is.
func badChangeCases() []testCase {
	bad := map[string]graphstore.Change{
		"no space":          fact(graphstore.Space{}, "f"),
		"no op":             {Space: ada, Fact: &graphstore.Fact{ID: "f"}},
		"unknown op":        {Space: ada, Op: 9, Fact: &graphstore.Fact{ID: "f"}},
		"no record":         {Space: ada, Op: graphstore.Put},
		"two records":       {Space: ada, Op: graphstore.Put, Fact: &graphstore.Fact{ID: "f"}, Topic: &graphstore.Topic{ID: "t"}},
		"empty id":          fact(ada, ""),
		"long id":           fact(ada, strings.Repeat("x", graphstore.MaxIDBytes+1)),
		"NUL in id":         fact(ada, "a\x00b"),
		"newline in id":     entity(ada, "a\nb"),
		"invalid UTF-8 id":  topic(ada, "a\xffb"),
		"NUL in text":       graphstore.PutFact(ada, graphstore.Fact{ID: "f", AgentID: "a\x00b"}),
		"invalid text":      graphstore.PutEntity(ada, graphstore.Entity{ID: "e", Aliases: []string{"a\xff"}}),
		"unknown state":     graphstore.PutFact(ada, graphstore.Fact{ID: "f", State: 99}),
		"least version":     graphstore.PutFact(ada, graphstore.Fact{ID: "f", Registers: graphstore.Registers{Base: graphstore.Stamp{Version: math.MinInt64}}}),
		"least time":        graphstore.PutFact(ada, graphstore.Fact{ID: "f", ValidFrom: math.MinInt64}),
		"least stamp time":  graphstore.PutSchema(ada, graphstore.Schema{ID: "s", Stamp: graphstore.Stamp{At: math.MinInt64}}),
		"merge into itself": merge(ada, "e1", "e1"),
		"merge into none":   merge(ada, "e1", ""),
		"no time":           graphstore.PutTombstone(ada, graphstore.Tombstone{Source: "doc"}),
		"NUL in source":     tombstone(ada, "a\x00b"),
		"weight zero":       weighted(0),
		"weight negative":   weighted(-0.5),
		"weight above one":  weighted(1.0001),
		"weight NaN":        weighted(math.NaN()),
		"weight infinite":   weighted(math.Inf(1)),
		"edge to itself":    edge(ada, "f1", graphstore.Causes, "f1"),
		"edge without type": edge(ada, "f1", 0, "f2"),
		"unstorable type":   edge(ada, "f1", graphstore.Episode, "f2"),
		"reserved type":     edge(ada, "e1", graphstore.Triple, "e2"),
		"edge without end":  edge(ada, "f1", graphstore.Causes, ""),
		"no asserter":       edgeBy(ada, "f1", graphstore.Causes, "f2", graphstore.Asserter{}),
		"larger end first":  unnormalized(graphstore.Put),
		"delete unsorted":   unnormalized(graphstore.Delete),
	}
	return []testCase{
		{"bad change/each is refused", func(f *fixture) {
			for _, name := range slices.Sorted(maps.Keys(bad)) {
				f.Logf("bad change: %s", name)
				f.refusedInTheMiddle(graphstore.ErrBadChange, bad[name])
			}
		}},
		{"bad change/one key twice", func(f *fixture) {
			f.apply(village(ada)...)
			f.refused(graphstore.ErrBadChange, village(ada), fact(ada, "f7"), entity(ada, "e7"), fact(ada, "f7"))
			f.refused(graphstore.ErrBadChange, village(ada), gone(fact(ada, "f7")), fact(ada, "f7"))
		}},
		{"bad change/no space is named", func(f *fixture) {
			if err := f.store.Apply(f.Context(), []graphstore.Change{bad["no space"]}); !errors.Is(err, graphstore.ErrNoSpace) {
				f.Errorf("got %v, want ErrNoSpace", err)
			}
		}},
	}
}

func weighted(w float64) graphstore.Change {
	c := edge(ada, "f1", graphstore.Causes, "f2")
	c.Edge.Weight = w
	return c
}

func unnormalized(op graphstore.Op) graphstore.Change {
	c := edge(ada, "f1", graphstore.Related, "f2")
	c.Op, c.Edge.Source, c.Edge.Target = op, "f2", "f1"
	return c
}

// refusedInTheMiddle puts the change between sound ones of two spaces, on a graph that they would change.
func (f *fixture) refusedInTheMiddle(want error, c graphstore.Change) {
	f.Helper()
	before := append(village(ada), village(bob)...)
	f.apply(before...)
	f.refused(want, before,
		fact(ada, "new"), gone(edge(ada, "f2", graphstore.Causes, "f1")), graphstore.PutFact(bob, fullFact("f1")), c,
		edge(ada, "new", graphstore.Mentions, "e1"), gone(edge(bob, "f1", graphstore.TaggedWith, "t1")), fact(mustSpace("third"), "f"))
}

// danglingCases: edges without an end, in every way to make one.
func danglingCases() []testCase {
	return []testCase{
		{"dangling/an end is missing", func(f *fixture) {
			for name, c := range map[string]graphstore.Change{
				"target":                    edge(ada, "f1", graphstore.Causes, "none"),
				"source":                    edge(ada, "none", graphstore.Causes, "f1"),
				"target is of another kind": edge(ada, "f1", graphstore.Mentions, "t1"),
				"source is of another kind": edge(ada, "e1", graphstore.Mentions, "e2"),
				"space is new":              edge(mustSpace("new"), "f1", graphstore.Causes, "f2"),
			} {
				f.Logf("missing: %s", name)
				f.refusedInTheMiddle(graphstore.ErrDangling, c)
			}
		}},
		{"dangling/end is in another space", func(f *fixture) {
			before := append(village(ada), village(bob)...)
			before = append(before, entity(bob, "only bob's"))
			f.apply(before...)
			f.refused(graphstore.ErrDangling, before, edge(ada, "f1", graphstore.Mentions, "only bob's"))
			f.refused(graphstore.ErrDangling, before, edge(ada, "f1", graphstore.Mentions, "e7"), entity(bob, "e7"))
		}},
		{"dangling/end is deleted by the same transaction", func(f *fixture) {
			before := append(village(ada), entity(ada, "alone"))
			f.apply(before...)
			f.refused(graphstore.ErrDangling, before, edge(ada, "f1", graphstore.Mentions, "alone"), gone(entity(ada, "alone")))
			f.refused(graphstore.ErrDangling, before, gone(entity(ada, "alone")), edge(ada, "f1", graphstore.Mentions, "alone"))
		}},
		{"dangling/edge is put again while its end goes", func(f *fixture) {
			before := []graphstore.Change{fact(ada, "a"), entity(ada, "e"), edge(ada, "a", graphstore.Mentions, "e")}
			f.apply(before...)
			f.refused(graphstore.ErrDangling, before, before[2], gone(before[1]))
		}},
		{"dangling/deleted node has edges left", func(f *fixture) {
			before := village(ada)
			f.apply(before...)
			for _, c := range before[:6] {
				f.refused(graphstore.ErrDangling, before, gone(c))
			}
		}},
		{"dangling/one of several edges is left", func(f *fixture) {
			before := []graphstore.Change{fact(ada, "a"), fact(ada, "b"), entity(ada, "e"), edge(ada, "a", graphstore.Mentions, "e"),
				edgeBy(ada, "a", graphstore.Mentions, "e", graphstore.Asserter{Kind: graphstore.ByFact, ID: "b"}),
				edge(ada, "b", graphstore.Causes, "a"), edge(ada, "a", graphstore.Causes, "b")}
			f.apply(before...)
			for left := 3; left < len(before); left++ {
				rest := without(before[3:], before[left])
				node := before[0]
				f.refused(graphstore.ErrDangling, before, append(goneAll(rest), gone(node))...)
			}
			f.apply(append(goneAll(before[3:]), gone(before[0]), gone(before[2]))...)
			f.want(before[1])
		}},
		{"dangling/an edge that is new and an end that goes", func(f *fixture) {
			before := village(ada)
			f.apply(before...)
			f.refused(graphstore.ErrDangling, before, gone(fact(ada, "f3")), gone(edge(ada, "f3", graphstore.Elaborates, "f1")),
				edge(ada, "f3", graphstore.Mentions, "e1"))
		}},
		{"dangling/deleted node that never was is no end", func(f *fixture) {
			f.apply(village(ada)...)
			f.apply(gone(fact(ada, "none")), gone(edge(ada, "none", graphstore.Causes, "f1")))
			f.want(village(ada)...)
		}},
	}
}
