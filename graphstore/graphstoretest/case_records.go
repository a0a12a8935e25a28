package graphstoretest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// recordCases: what is put comes back, in every field and at the ends of every range.
func recordCases() []testCase {
	return []testCase{
		{"record/fact in every field", func(f *fixture) {
			full := fullFact("f1")
			f.apply(graphstore.PutFact(ada, full))
			f.want(graphstore.PutFact(ada, full))
		}},
		{"record/facts at the ends of their ranges", func(f *fixture) { f.roundTrip(factsAtTheEnds()...) }},
		{"record/entities", func(f *fixture) { f.roundTrip(oddEntities()...) }},
		{"record/topics", func(f *fixture) {
			f.roundTrip(graphstore.PutTopic(ada, graphstore.Topic{ID: "t0"}),
				graphstore.PutTopic(ada, graphstore.Topic{ID: "t1", Name: "Ein Name", Facts: math.MaxInt64}))
		}},
		{"record/schemas and refs", func(f *fixture) { f.roundTrip(oddSchemas()...) }},
		{"record/rows of the merge log", func(f *fixture) { f.roundTrip(oddMerges()...) }},
		{"record/tombstones", func(f *fixture) { f.roundTrip(oddTombstones()...) }},
		{"record/put replaces schemas, merges and tombstones whole", func(f *fixture) {
			f.apply(oddSchemas()...)
			f.apply(oddMerges()...)
			f.apply(oddTombstones()...)
			bare := []graphstore.Change{graphstore.PutSchema(ada, graphstore.Schema{ID: "full"}),
				graphstore.PutMerge(ada, graphstore.Merge{Merged: "full", Kept: "k"}),
				graphstore.PutTombstone(ada, graphstore.Tombstone{Source: "user", At: 9})}
			f.apply(bare...)
			all := append(append(oddSchemas(), oddMerges()...), oddTombstones()...)
			f.want(append(without(all, bare...), bare...)...)
		}},
		{"record/edges of every type and asserter", func(f *fixture) { f.roundTrip(edgesOfEveryType()...) }},
		{"record/edge weights to the last bit", func(f *fixture) { f.roundTrip(edgesOfEveryWeight()...) }},
		{"record/edge details", func(f *fixture) { f.roundTrip(edgesWithDetails()...) }},
		{"record/put replaces a fact whole", func(f *fixture) {
			bare := graphstore.PutFact(ada, graphstore.Fact{ID: "f1"})
			f.apply(graphstore.PutFact(ada, fullFact("f1")))
			f.apply(bare)
			f.want(bare)
			f.apply(graphstore.PutFact(ada, fullFact("f1")))
			f.want(graphstore.PutFact(ada, fullFact("f1")))
		}},
		{"record/put replaces an entity whole", func(f *fixture) {
			bare := graphstore.PutEntity(ada, graphstore.Entity{ID: "e1", Norm: "n"})
			f.apply(graphstore.PutEntity(ada, fullEntity("e1")))
			f.apply(bare)
			f.want(bare)
		}},
		{"record/put replaces a topic whole", func(f *fixture) {
			f.apply(graphstore.PutTopic(ada, graphstore.Topic{ID: "t1", Name: "long name", Facts: 9}))
			f.apply(graphstore.PutTopic(ada, graphstore.Topic{ID: "t1"}))
			f.want(graphstore.PutTopic(ada, graphstore.Topic{ID: "t1"}))
		}},
		{"record/put replaces an edge's weight and detail", putReplacesAnEdge},
		{"record/one field at a time changes", oneFieldAtATime},
		{"record/replacing a node keeps its edges", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			changed := []graphstore.Change{graphstore.PutFact(ada, fullFact("f1")), graphstore.PutEntity(ada, fullEntity("e1")),
				graphstore.PutTopic(ada, graphstore.Topic{ID: "t1", Name: "other", Facts: 7})}
			f.apply(changed...)
			f.want(append(without(all, changed...), changed...)...)
		}},
	}
}

// roundTrip puts the records, reads them, puts them again, and reads them again.
func (f *fixture) roundTrip(records ...graphstore.Change) {
	f.Helper()
	f.apply(records...)
	f.want(records...)
	f.apply(records...)
	f.want(records...)
}

func putReplacesAnEdge(f *fixture) {
	nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
	e := graphstore.Edge{Source: "a", Target: "b", Type: graphstore.Related, Weight: 1, Detail: "cousin of",
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "a"}}
	f.apply(append(nodes, graphstore.PutEdge(ada, e))...)
	e.Weight, e.Detail = 0.25, ""
	f.apply(graphstore.PutEdge(ada, e))
	f.want(append(nodes, graphstore.PutEdge(ada, e))...)
}

// oneFieldAtATime changes each field of a fact alone, there and back: a store that writes only what differs must notice
// every difference.
func oneFieldAtATime(f *fixture) {
	base := fullFact("f1")
	f.apply(graphstore.PutFact(ada, base))
	for i, change := range []func(*graphstore.Fact){
		func(x *graphstore.Fact) { x.State = graphstore.StateShadowed },
		func(x *graphstore.Fact) { x.Registers.State.EventID = "other" },
		func(x *graphstore.Fact) {
			x.Registers = x.Registers.With(graphstore.FieldTags, graphstore.Stamp{Version: 99})
		},
		func(x *graphstore.Fact) { x.Registers.Base.Version++ },
		func(x *graphstore.Fact) { x.AgentID = "" },
		func(x *graphstore.Fact) { x.SourceID = "s'" },
		func(x *graphstore.Fact) { x.EpisodeID = "" },
		func(x *graphstore.Fact) { x.BatchID = "other" },
		func(x *graphstore.Fact) { x.BatchSeq = 0 },
		func(x *graphstore.Fact) { x.MemoryAt = 0 },
		func(x *graphstore.Fact) { x.ValidFrom++ },
		func(x *graphstore.Fact) { x.ValidTo-- },
		func(x *graphstore.Fact) { x.RecordedAt = 1 },
		func(x *graphstore.Fact) { x.SupersededBy = "" },
		func(x *graphstore.Fact) { x.SupersededAt = 0 },
	} {
		changed := base
		change(&changed)
		f.apply(graphstore.PutFact(ada, changed))
		f.Logf("field %d", i)
		f.want(graphstore.PutFact(ada, changed))
		f.apply(graphstore.PutFact(ada, base))
	}
	f.want(graphstore.PutFact(ada, base))
}

func fullFact(id string) graphstore.Fact {
	at := graphstore.InstantOf(time.Date(2026, 9, 1, 12, 30, 15, 123456000, time.UTC))
	r := graphstore.Registers{
		State: graphstore.Stamp{Version: 30, Rank: graphstore.RankSuperseded, EventID: "event-3"},
		Base:  graphstore.Stamp{Version: 10, Rank: graphstore.RankAdd, EventID: "event-1"},
	}
	r = r.With(graphstore.FieldTags, graphstore.Stamp{Version: 20, Rank: graphstore.RankUpdate, EventID: "event-2"})
	r.Base.At, r.Base.Source = 77, "source-0"
	r.State.At = 88
	r = r.With(graphstore.FieldNeighbors, graphstore.Stamp{Version: 20, Rank: graphstore.RankUpdate, EventID: "event-2", At: -3, Source: "it's"})
	r = r.With(graphstore.FieldEntities, graphstore.Stamp{Version: 25, Rank: graphstore.RankUpdate, EventID: "event-2b"})
	return graphstore.Fact{
		ID: id, State: graphstore.StateSuperseded, Registers: r,
		AgentID: "agent", SourceID: "doc:1", EpisodeID: "talk", BatchID: "batch", BatchSeq: 3,
		MemoryAt: at, ValidFrom: at + 1, ValidTo: at + 2, RecordedAt: at + 3,
		SupersededBy: "f9", SupersededAt: at + 4,
	}
}

func fullEntity(id string) graphstore.Entity {
	return graphstore.Entity{
		ID: id, Type: "person", Name: "Ada L.", Norm: "ada l.", Mentions: 12,
		Aliases: []string{"Ada", "Countess"}, HardIDs: []graphstore.HardID{{Kind: "email", Value: "ada@example.com"}},
	}
}

func factsAtTheEnds() []graphstore.Change {
	stamp := func(v int64) graphstore.Registers {
		return graphstore.Registers{Base: graphstore.Stamp{Version: v, Rank: graphstore.RankDeleted, EventID: "e"}}
	}
	facts := []graphstore.Fact{
		{ID: "nothing"}, // unseen, no register, no time
		{ID: "version-max", Registers: stamp(math.MaxInt64)},
		{ID: "version-min", Registers: stamp(math.MinInt64 + 1)},
		{ID: "version-beyond-float", Registers: stamp(1<<53 + 1)}, // a store that keeps numbers as doubles loses the last bit
		{ID: "seq", BatchSeq: math.MaxInt32},
		{ID: "seq-negative", BatchSeq: math.MinInt32},
		{ID: "tombstone", State: graphstore.StateDeleted, Registers: stamp(1)},
		{ID: "shadow", State: graphstore.StateShadowed},
	}
	for i, at := range []graphstore.Instant{
		0, // absent
		graphstore.InstantOfMicros(0),
		graphstore.InstantOfMicros(1),
		graphstore.InstantOfMicros(-1),
		graphstore.InstantOf(time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)),
		graphstore.InstantOf(time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)),
		graphstore.InstantOf(time.Date(1600, 2, 29, 0, 0, 0, 0, time.UTC)),
		graphstore.InstantOf(time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)),
		math.MaxInt64, math.MinInt64 + 1,
	} {
		facts = append(facts, graphstore.Fact{ID: fmt.Sprintf("instant-%d", i), MemoryAt: at, ValidFrom: at, ValidTo: at,
			RecordedAt: at, SupersededAt: at})
	}
	changes := make([]graphstore.Change, len(facts))
	for i, x := range facts {
		changes[i] = graphstore.PutFact(ada, x)
	}
	return changes
}

func oddEntities() []graphstore.Change {
	entities := []graphstore.Entity{
		fullEntity("full"),
		{ID: "bare", Norm: "bare"},
		{ID: "many mentions", Norm: "m", Mentions: math.MaxInt64},
		{ID: "negative mentions", Norm: "m", Mentions: -1},
		{ID: "empty alias", Norm: "x", Aliases: []string{""}},
		{ID: "odd aliases", Norm: "x", Aliases: sorted("a,b", "a;b", `a"b`, "a\nb", "[a]", "null", "a|b", `a\b`, "\u00e9", "e\u0301")},
		{ID: "odd hard ids", Norm: "x", HardIDs: []graphstore.HardID{
			{Kind: "", Value: ""}, {Kind: "a:b", Value: "c"}, {Kind: "a", Value: "b:c"}, {Kind: "email", Value: `"o'b"@example.com`},
			{Kind: "url", Value: "https://example.com/?q=%7B%22a%22%3A1%7D&x=<y>#z"}, {Kind: `{"k":1}`, Value: `["v"]`}}},
	}
	many := graphstore.Entity{ID: "300 aliases", Norm: "x"}
	for i := range 300 {
		many.Aliases = append(many.Aliases, fmt.Sprintf("alias %03d", i))
	}
	changes := []graphstore.Change{graphstore.PutEntity(ada, many)}
	for _, e := range entities {
		changes = append(changes, graphstore.PutEntity(ada, e))
	}
	return changes
}

func sorted(s ...string) []string {
	slices.Sort(s)
	return s
}

// oddStamp is a stamp with every part.
func oddStamp(n int64) graphstore.Stamp {
	return graphstore.Stamp{Version: n, Rank: graphstore.RankDeleted, EventID: "event é", At: graphstore.Instant(n - 7), Source: "source 'x'"}
}

func oddSchemas() []graphstore.Change {
	return []graphstore.Change{
		graphstore.PutSchema(ada, graphstore.Schema{ID: "full", Level: "l6", Title: "Was Ada \"tut\"", Deleted: true, Stamp: oddStamp(math.MaxInt64)}),
		graphstore.PutSchema(ada, graphstore.Schema{ID: "bare"}),
		graphstore.PutSchema(bob, graphstore.Schema{ID: "full", Title: "another's", Stamp: oddStamp(-3)}),
		graphstore.PutRef(ada, graphstore.Ref{ID: "full"}), graphstore.PutRef(ada, graphstore.Ref{ID: "o'ref"}),
		graphstore.PutRef(bob, graphstore.Ref{ID: "full"}),
	}
}

// oddMerges holds pairs whose ids, written one after the other, are the same.
func oddMerges() []graphstore.Change {
	return []graphstore.Change{
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "full", Kept: "k", Step: graphstore.StepAliased, Undone: true,
			Evidence: "she said\n\"so\"", MergedName: "Fúll", KeptName: "K", Stamp: oddStamp(40)}),
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "k", Kept: "full"}),
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "a", Kept: "bc", Step: graphstore.StepMerged}),
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "ab", Kept: "c", Step: graphstore.StepRetyped}),
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "a b", Kept: "c"}), graphstore.PutMerge(ada, graphstore.Merge{Merged: "a", Kept: "b c"}),
		graphstore.PutMerge(bob, graphstore.Merge{Merged: "full", Kept: "k"}),
	}
}

// oddTombstones holds one of the user and one of a source with the name that the first might have.
func oddTombstones() []graphstore.Change {
	var changes []graphstore.Change
	for i, source := range []string{"", "user", "source user", "source ", "x", strings.Repeat("s", graphstore.MaxIDBytes)} {
		changes = append(changes, graphstore.PutTombstone(ada, graphstore.Tombstone{Source: source, At: graphstore.Instant(i - 9)}))
	}
	return append(changes, graphstore.PutTombstone(bob, graphstore.Tombstone{Source: "x", At: math.MaxInt64}))
}

func edgesOfEveryType() []graphstore.Change {
	changes := []graphstore.Change{fact(ada, "a"), fact(ada, "b"), entity(ada, "e"), topic(ada, "t"), schema(ada, "s"), ref(ada, "v")}
	sources := map[graphstore.NodeKind]string{graphstore.KindFact: "a", graphstore.KindSchema: "s"}
	targets := map[graphstore.NodeKind]string{graphstore.KindFact: "b", graphstore.KindEntity: "e", graphstore.KindTopic: "t",
		graphstore.KindRef: "v"}
	for _, t := range graphstore.RelationTypes() {
		start, end := t.Ends()
		if end == 0 {
			continue
		}
		for _, by := range []graphstore.Asserter{{Kind: graphstore.ByFact, ID: "a"}, {Kind: graphstore.ByBatch, ID: "a"},
			{Kind: graphstore.BySpine}, {Kind: graphstore.BySchema, ID: "a"}} {
			changes = append(changes, edgeBy(ada, sources[start], t, targets[end], by))
		}
	}
	return changes
}

func edgesOfEveryWeight() []graphstore.Change {
	changes := []graphstore.Change{fact(ada, "a"), fact(ada, "b")}
	for i, w := range []float64{1, math.Nextafter(1, 0), 0.1, 0.1 + 0.2, 1.0 / 3, math.SmallestNonzeroFloat64, 1e-300, 0.75} {
		by := graphstore.Asserter{Kind: graphstore.ByBatch, ID: fmt.Sprint(i)}
		changes = append(changes, graphstore.PutEdge(ada, graphstore.Edge{Source: "a", Target: "b", Type: graphstore.Related,
			Asserter: by, Weight: w}))
	}
	return changes
}

func edgesWithDetails() []graphstore.Change {
	changes := []graphstore.Change{fact(ada, "a"), entity(ada, "e")}
	for i, d := range []string{`{"name":"Ada","ids":{"email":["a@example.com"]},"aliases":["A \"the\" L"]}`, `{`, "null", "  ", "\n",
		"42", "[1,2]", "it's", `\u0000`, "NULL"} {
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: fmt.Sprint(i)}
		changes = append(changes, graphstore.PutEdge(ada, graphstore.Edge{Source: "a", Target: "e", Type: graphstore.Mentions,
			Asserter: by, Weight: 1, Detail: d}))
	}
	return changes
}
