package graphstoretest

import (
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

// The spaces that subtests use. One id is a prefix of the other: a store that searches by prefix mixes them up.
var (
	ada = mustSpace("ada")
	bob = mustSpace("ada-bob")
)

func isError(err, want error) bool { return errors.Is(err, want) }

// fact, entity and topic return the changes that put a small node.
func fact(s graphstore.Space, id string) graphstore.Change {
	stamp := graphstore.Stamp{Version: 1, Rank: graphstore.RankAdd, EventID: "e1"}
	return graphstore.PutFact(s, graphstore.Fact{ID: id, State: graphstore.StateActive,
		Registers: graphstore.Registers{State: stamp, Base: stamp}})
}

func entity(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutEntity(s, graphstore.Entity{ID: id, Type: "thing", Name: id, Norm: id, Mentions: 1})
}

func topic(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutTopic(s, graphstore.Topic{ID: id, Name: id, Facts: 1})
}

func schema(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutSchema(s, graphstore.Schema{ID: id, Level: graphstore.LevelSchema, Title: "about " + id,
		Stamp: graphstore.Stamp{Version: 1, Rank: graphstore.RankAdd, EventID: "e1", At: 5, Source: "s"}})
}

func ref(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutRef(s, graphstore.Ref{ID: id})
}

func merge(s graphstore.Space, merged, kept string) graphstore.Change {
	return graphstore.PutMerge(s, graphstore.Merge{Merged: merged, Kept: kept, Step: graphstore.StepMerged, Evidence: "said so",
		MergedName: merged, KeptName: kept, Stamp: graphstore.Stamp{Version: 1, Rank: graphstore.RankAdd, EventID: "e1", At: 5}})
}

func tombstone(s graphstore.Space, source string) graphstore.Change {
	return graphstore.PutTombstone(s, graphstore.Tombstone{Source: source, At: 5})
}

// edge returns the change that puts an edge asserted by the fact it starts from.
func edge(s graphstore.Space, source string, t graphstore.RelationType, target string) graphstore.Change {
	return edgeBy(s, source, t, target, graphstore.Asserter{Kind: graphstore.ByFact, ID: source})
}

func edgeBy(s graphstore.Space, source string, t graphstore.RelationType, target string, by graphstore.Asserter) graphstore.Change {
	return graphstore.PutEdge(s, graphstore.Edge{Source: source, Target: target, Type: t, Asserter: by, Weight: 0.5})
}

// gone returns the change that deletes what c puts.
func gone(c graphstore.Change) graphstore.Change { return graphstore.DeleteKey(c.Space, c.Key()) }

// goneAll returns the changes that delete everything the given ones put.
func goneAll(changes []graphstore.Change) []graphstore.Change {
	out := make([]graphstore.Change, len(changes))
	for i, c := range changes {
		out[i] = gone(c)
	}
	return out
}

// without returns records less those that have the keys of some.
func without(records []graphstore.Change, some ...graphstore.Change) []graphstore.Change {
	drop := make(map[spaceKey]bool)
	for _, c := range some {
		drop[keyOf(c)] = true
	}
	var out []graphstore.Change
	for _, c := range records {
		if !drop[keyOf(c)] {
			out = append(out, c)
		}
	}
	return out
}

// village is a small graph with every kind of record: three facts, two entities, a topic, a schema with
// a ref, the log of a merge, tombstones.
func village(s graphstore.Space) []graphstore.Change {
	return []graphstore.Change{
		fact(s, "f1"), fact(s, "f2"), fact(s, "f3"), entity(s, "e1"), entity(s, "e2"), topic(s, "t1"),
		edge(s, "f2", graphstore.Causes, "f1"), edge(s, "f3", graphstore.Elaborates, "f1"),
		edgeBy(s, "f1", graphstore.CoOccurs, "f2", graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b1"}),
		edgeBy(s, "f1", graphstore.TemporalNext, "f2", graphstore.Asserter{Kind: graphstore.BySpine}),
		edge(s, "f1", graphstore.Mentions, "e1"), edge(s, "f2", graphstore.Mentions, "e1"),
		edge(s, "f2", graphstore.Mentions, "e2"), edge(s, "f1", graphstore.TaggedWith, "t1"),
		schema(s, "s1"), ref(s, "f9"), merge(s, "e1", "e2"), tombstone(s, ""), tombstone(s, "doc"),
		edgeBy(s, "s1", graphstore.DerivedFrom, "f1", graphstore.Asserter{Kind: graphstore.BySchema, ID: "s1"}),
		edgeBy(s, "s1", graphstore.DerivedFromRef, "f9", graphstore.Asserter{Kind: graphstore.BySchema, ID: "s1"}),
	}
}
