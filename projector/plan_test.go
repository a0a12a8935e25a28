package projector

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// event returns an event of user u whose time, and so its default version, is us microseconds after 1970.
func event(tb testing.TB, id string, us int64, data Data) Event {
	return Event{ID: id, Space: mustSpace(tb, "u"), Time: graphstore.InstantOfMicros(us), Data: data}
}

func written(facts ...FactWrite) FactsWritten { return FactsWritten{Facts: facts} }

func add(id string) FactWrite { return FactWrite{ID: id, Op: OpAdd} }

func tagged(op Op, id string, tags ...string) FactWrite {
	return FactWrite{ID: id, Op: op, Tags: Some(tags)}
}

func mentioning(id string, refs ...EntityRef) FactWrite {
	return FactWrite{ID: id, Op: OpAdd, Entities: Some(refs)}
}

func related(id string, refs ...RelationRef) FactWrite {
	return FactWrite{ID: id, Op: OpAdd, Relations: Some(refs)}
}

// project plans and applies the events in order, and returns the graph and the summed reports.
func project(tb testing.TB, p *Projector, events ...Event) (*graphstore.Snapshot, Report) {
	tb.Helper()
	view := graphstore.NewSnapshot(mustSpace(tb, "u"))
	var sum Report
	for _, ev := range events {
		var planned Planned
		view, planned = apply(tb, p, view, ev)
		sum.Add(planned.Report)
	}
	return view, sum
}

func fact(tb testing.TB, view *graphstore.Snapshot, id string) graphstore.Fact {
	tb.Helper()
	f, ok := view.Fact(id)
	if !ok {
		tb.Fatalf("no fact %q", id)
	}
	return f
}

// edges returns the edges at a fact of some types, in order of their keys.
func edges(view *graphstore.Snapshot, id string, types ...graphstore.RelationType) []graphstore.Edge {
	var out []graphstore.Edge
	for _, e := range view.EdgesOf(id) {
		if slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b graphstore.Edge) int { return a.Key().Compare(b.Key()) })
	return out
}

func topics(view *graphstore.Snapshot, id string) []string {
	var out []string
	for _, e := range edges(view, id, graphstore.TaggedWith) {
		out = append(out, e.Target)
	}
	return out
}

func TestPlanOfTheContractExample(t *testing.T) {
	p := mustNew(t, Config{})
	view := graphstore.NewSnapshot(mustSpace(t, "u1"))
	view, planned := apply(t, p, view, contractEvent(t))
	const id = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"
	written := graphstore.Stamp{Version: 17, Rank: graphstore.RankAdd, EventID: "ev-1", At: at("2026-11-30T12:00:00.123456Z"), Source: "msg-88"}
	wantFact := graphstore.Fact{
		ID: id, State: graphstore.StateActive, AgentID: "a1", SourceID: "msg-88", EpisodeID: "ep-4", BatchID: "b1",
		MemoryAt: at("2026-09-01T00:00:00Z"), RecordedAt: at("2026-11-30T12:00:00Z"),
		Registers: graphstore.Registers{
			State: written,
			Base:  written,
		},
	}
	if diff := cmp.Diff(wantFact, fact(t, view, id)); diff != "" {
		t.Errorf("fact (-want +got):\n%s", diff)
	}
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
	wantEdges := []graphstore.Edge{
		{Source: id, Target: "11111111-0000-0000-0000-000000000000", Type: graphstore.Causes, Asserter: by, Weight: .9},
		{Source: id, Target: "person:asha rao", Type: graphstore.Mentions, Asserter: by, Weight: 1,
			Detail: `{"name":"Asha Rao","aliases":["Asha"],"ids":{"email":["asha@example.com"]}}`},
		{Source: id, Target: "work", Type: graphstore.TaggedWith, Asserter: by, Weight: 1, Detail: "work"},
		{Source: "22222222-0000-0000-0000-000000000000", Target: id, Type: graphstore.SemanticNeighbor, Asserter: by, Weight: .83},
	}
	if diff := cmp.Diff(wantEdges, edges(view, id, graphstore.RelationTypes()...)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	asha, _ := view.Entity("person:asha rao")
	wantAsha := graphstore.Entity{ID: "person:asha rao", Type: "person", Name: "Asha Rao", Norm: "asha rao", Aliases: []string{"Asha"},
		HardIDs: []graphstore.HardID{{Kind: "email", Value: "asha@example.com"}}, Mentions: 1}
	if diff := cmp.Diff(wantAsha, asha); diff != "" {
		t.Errorf("entity (-want +got):\n%s", diff)
	}
	if work, _ := view.Topic("work"); work != (graphstore.Topic{ID: "work", Name: "work", Facts: 1}) {
		t.Errorf("topic %+v", work)
	}
	if f := fact(t, view, "11111111-0000-0000-0000-000000000000"); f.State != graphstore.StateUnseen {
		t.Errorf("the cause's effect is %s: want unseen", f.State)
	}
	if want := (Report{Added: 1, DeferredTriples: 1}); planned.Report != want {
		t.Errorf("report %+v: want %+v", planned.Report, want)
	}
}

func TestStateAfterAHistory(t *testing.T) {
	del, sup := FactDeleted{FactID: "f"}, FactSuperseded{FactID: "f", By: "g"}
	shadow, restore := FactShadowed{FactID: "f"}, FactRestored{FactID: "f"}
	addF, update := written(add("f")), written(tagged(OpUpdate, "f", "t"))
	v := func(n int64) Optional[int64] { return Some(n) }
	tests := []struct {
		name   string
		events []Data // at microseconds 1, 2, 3, ...
		want   graphstore.State
	}{
		{"add", []Data{addF}, graphstore.StateActive},
		{"an update is a first sight too", []Data{update}, graphstore.StateActive},
		{"superseded before it was ever seen", []Data{sup}, graphstore.StateSuperseded},
		{"deleted before it was ever seen", []Data{del}, graphstore.StateDeleted},
		{"superseded", []Data{addF, sup}, graphstore.StateSuperseded},
		{"an update does not revive", []Data{addF, sup, update}, graphstore.StateSuperseded},
		{"an add revives the superseded", []Data{addF, sup, addF}, graphstore.StateActive},
		{"an add revives the shadowed", []Data{addF, shadow, addF}, graphstore.StateActive},
		{"an add revives the deleted", []Data{addF, del, addF}, graphstore.StateActive},
		{"shadowed", []Data{addF, shadow}, graphstore.StateShadowed},
		{"restored", []Data{addF, shadow, restore}, graphstore.StateActive},
		{"deleted", []Data{addF, del}, graphstore.StateDeleted},
		{"an update does not revive the deleted", []Data{addF, del, update}, graphstore.StateDeleted},
		{"a restore does not revive the deleted", []Data{addF, del, restore}, graphstore.StateDeleted},
		{"a supersession does not revive the deleted", []Data{addF, del, sup}, graphstore.StateDeleted},
		{"an older add does not revive", []Data{del, written(FactWrite{ID: "f", Op: OpAdd, Version: v(0)})}, graphstore.StateDeleted},
		{"equal versions: superseded over add", []Data{FactSuperseded{FactID: "f", Version: v(9)}, written(FactWrite{ID: "f", Op: OpAdd, Version: v(9)})}, graphstore.StateSuperseded},
		{"equal versions: shadowed over superseded", []Data{FactShadowed{FactID: "f", Version: v(9)}, FactSuperseded{FactID: "f", Version: v(9)}}, graphstore.StateShadowed},
		{"equal versions: restored over shadowed", []Data{FactRestored{FactID: "f", Version: v(9)}, FactShadowed{FactID: "f", Version: v(9)}}, graphstore.StateActive},
		{"equal versions: deleted over restored", []Data{FactDeleted{FactID: "f", Version: v(9)}, FactRestored{FactID: "f", Version: v(9)}}, graphstore.StateDeleted},
		{"an add between a delete and a supersession, last to come", []Data{FactDeleted{FactID: "f", Version: v(5)},
			FactSuperseded{FactID: "f", By: "g", Version: v(10)}, written(FactWrite{ID: "f", Op: OpAdd, Version: v(7)})}, graphstore.StateSuperseded},
		{"two spellings of one UUID", []Data{written(add("5C56C793-69F3-4FBF-87E6-C4BF54C28C26")),
			FactDeleted{FactID: "urn:uuid:5c56c793-69f3-4fbf-87e6-c4bf54c28c26"}}, graphstore.StateDeleted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var events []Event
			for i, data := range tt.events {
				events = append(events, event(t, numbered(20)[i], int64(i+1), data))
			}
			view, _ := project(t, mustNew(t, Config{}), events...)
			if view.Facts() != 1 {
				t.Errorf("%d facts: want 1", view.Facts())
			}
			for c := range view.Records() {
				if c.Fact != nil && c.Fact.State != tt.want {
					t.Errorf("state %s: want %s", c.Fact.State, tt.want)
				}
			}
		})
	}
}

func TestFieldsOfUpdates(t *testing.T) {
	full := FactWrite{ID: "f", Op: OpAdd, AgentID: Some("a"), SourceID: Some("s"), EpisodeID: Some("e"),
		ValidTo: Some(at("2026-02-01T00:00:00Z")), Tags: Some([]string{"one", "two"})}
	p := mustNew(t, Config{})
	first := event(t, "e1", 10, written(full))

	t.Run("left out stays", func(t *testing.T) {
		view, _ := project(t, p, first, event(t, "e2", 20, written(FactWrite{ID: "f", Op: OpUpdate, AgentID: Some("b")})))
		f := fact(t, view, "f")
		if f.AgentID != "b" || f.SourceID != "s" || f.ValidTo != at("2026-02-01T00:00:00Z") || f.BatchID != "e1" || len(topics(view, "f")) != 2 {
			t.Errorf("fact %+v, topics %v", f, topics(view, "f"))
		}
	})
	t.Run("stated to be nothing is cleared", func(t *testing.T) {
		view, _ := project(t, p, first, event(t, "e2", 20, written(FactWrite{ID: "f", Op: OpUpdate, AgentID: Some(""),
			ValidTo: Some(graphstore.Instant(0)), Tags: Some[[]string](nil)})))
		f := fact(t, view, "f")
		if f.AgentID != "" || f.ValidTo.Present() || len(topics(view, "f")) != 0 || view.Topics() != 0 {
			t.Errorf("fact %+v, topics %v", f, topics(view, "f"))
		}
	})
	t.Run("an update that shrinks a list leaves no old edge", func(t *testing.T) {
		view, _ := project(t, p, first, event(t, "e2", 20, written(tagged(OpUpdate, "f", "two", "three"))))
		if diff := cmp.Diff([]string{"three", "two"}, topics(view, "f")); diff != "" || view.Topics() != 2 {
			t.Errorf("topics (-want +got):\n%s", diff)
		}
	})
	t.Run("an add clears what it leaves out", func(t *testing.T) {
		view, _ := project(t, p, first, event(t, "e2", 20, written(add("f"))))
		f := fact(t, view, "f")
		if f.AgentID != "" || f.ValidTo.Present() || f.BatchID != "e2" || view.Topics() != 0 {
			t.Errorf("fact %+v", f)
		}
	})
	t.Run("an older update settles what the newer left out", func(t *testing.T) {
		view, report := project(t, p, event(t, "e3", 30, written(FactWrite{ID: "f", Op: OpUpdate, AgentID: Some("new")})),
			event(t, "e2", 20, written(FactWrite{ID: "f", Op: OpUpdate, AgentID: Some("old"), SourceID: Some("s2")})), first)
		f := fact(t, view, "f")
		if f.AgentID != "new" || f.SourceID != "s2" || f.EpisodeID != "e" || report.Stale != 0 {
			t.Errorf("fact %+v, report %+v", f, report)
		}
	})
	t.Run("a late, older write changes nothing", func(t *testing.T) {
		view, _ := project(t, p, first)
		for _, late := range []Event{event(t, "e0", 5, written(tagged(OpUpdate, "f", "old"))), event(t, "e0", 5, written(tagged(OpAdd, "f", "old"))), first} {
			planned, err := p.Plan(view, late)
			if err != nil || len(planned.Changes) > 0 || planned.Report != (Report{Stale: 1}) {
				t.Errorf("%v, changes %v, report %+v", err, planned.Changes, planned.Report)
			}
		}
	})
	t.Run("version 0 completes and never overrides", func(t *testing.T) {
		view, _ := project(t, p, event(t, "e2", 20, written(FactWrite{ID: "f", Op: OpUpdate, AgentID: Some("b")})),
			event(t, "backfill", 0, written(FactWrite{ID: "f", Op: OpUpdate, Version: Some[int64](0), AgentID: Some("z"), SourceID: Some("z")})))
		if f := fact(t, view, "f"); f.AgentID != "b" || f.SourceID != "z" {
			t.Errorf("fact %+v", f)
		}
	})
	t.Run("the stated version counts, not the time", func(t *testing.T) {
		w1 := FactWrite{ID: "f", Op: OpAdd, Version: Some[int64](2), AgentID: Some("second")}
		w2 := FactWrite{ID: "f", Op: OpAdd, Version: Some[int64](1), AgentID: Some("first")}
		view, _ := project(t, p, event(t, "e1", 100, written(w1)), event(t, "e2", 200, written(w2)))
		if f := fact(t, view, "f"); f.AgentID != "second" || f.Version() != 2 {
			t.Errorf("fact %+v", f)
		}
	})
}

// An update that comes after a delete in version order is kept out of sight until an add between the two arrives.
func TestUpdateBehindATombstone(t *testing.T) {
	p := mustNew(t, Config{})
	update := event(t, "e3", 30, written(FactWrite{ID: "f", Op: OpUpdate, Tags: Some([]string{"Work"}),
		Entities:  Some([]EntityRef{{Name: "Asha RAO", Type: "person", Aliases: []string{"Ash"}}}),
		Relations: Some([]RelationRef{{To: "x", Type: "causes"}})}))
	view, _ := project(t, p, event(t, "e1", 10, written(add("f"))), update, event(t, "e2", 20, FactDeleted{FactID: "f"}))
	topic, _ := view.Topic("work")
	entity, _ := view.Entity("person:asha rao")
	if topic != (graphstore.Topic{ID: "work", Name: "work"}) {
		t.Errorf("topic %+v: want no fact and the normalised name", topic)
	}
	if want := (graphstore.Entity{ID: "person:asha rao", Type: "person", Name: "asha rao", Norm: "asha rao"}); !entity.Equal(want) {
		t.Errorf("entity %+v: want %+v", entity, want)
	}
	if view.Edges() != 3 || view.Present() != 0 {
		t.Errorf("%d edges, %d present: want 3 hidden ones and none", view.Edges(), view.Present())
	}
	late := event(t, "e2b", 25, written(add("f")))
	view, _ = apply(t, p, view, late)
	topic, _ = view.Topic("work")
	entity, _ = view.Entity("person:asha rao")
	if topic.Facts != 1 || topic.Name != "Work" || entity.Mentions != 1 || entity.Name != "Asha RAO" {
		t.Errorf("after the add: topic %+v, entity %+v", topic, entity)
	}
	inOrder, _ := project(t, p, event(t, "e1", 10, written(add("f"))), event(t, "e2", 20, FactDeleted{FactID: "f"}), late, update)
	if inOrder.Digest() != view.Digest() {
		t.Errorf("in order: %s", cmp.Diff(allRecords(inOrder), allRecords(view), eventOptions))
	}
}

// A supersession changes no edge: history stays walkable.
func TestSupersededKeepsItsEdges(t *testing.T) {
	p := mustNew(t, Config{})
	view, _ := project(t, p, event(t, "e1", 1, written(related("f", RelationRef{To: "g"}), tagged(OpAdd, "g", "t"))))
	before := view.Edges()
	view, report := project(t, p, event(t, "e1", 1, written(related("f", RelationRef{To: "g"}), tagged(OpAdd, "g", "t"))),
		event(t, "e2", 2, FactSuperseded{FactID: "g", By: "F"}))
	if view.Edges() != before || before != 3 || report.Superseded != 1 { // related, tagged, co-occurs
		t.Errorf("%d edges, before %d: want 3", view.Edges(), before)
	}
	if f := fact(t, view, "g"); f.SupersededBy != "F" || f.SupersededAt.Micros() != 2 {
		t.Errorf("fact %+v", f)
	}
}

func TestPlanRefusesWhatItCannotPlan(t *testing.T) {
	p := mustNew(t, Config{})
	u := graphstore.NewSnapshot(mustSpace(t, "u"))
	good := event(t, "e", 1, written(add("f")))
	nameless := good
	nameless.ID = ""
	timeless := good
	timeless.Time = 0
	spaceless := good
	spaceless.Space = graphstore.Space{}
	broken, err := u.With([]graphstore.Change{
		graphstore.PutFact(mustSpace(t, "u"), graphstore.Fact{ID: "f", State: graphstore.StateActive}),
		graphstore.PutFact(mustSpace(t, "u"), graphstore.Fact{ID: "g", State: graphstore.StateActive}),
		graphstore.PutEntity(mustSpace(t, "u"), graphstore.Entity{ID: "person:asha", Type: "person", Name: "Asha", Norm: "asha", Mentions: 1}),
		graphstore.PutEdge(mustSpace(t, "u"), graphstore.Edge{Source: "f", Target: "person:asha", Type: graphstore.Mentions, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f"}, Detail: "no JSON"}),
		graphstore.PutEdge(mustSpace(t, "u"), graphstore.Edge{Source: "g", Target: "person:asha", Type: graphstore.Mentions, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "g"}, Detail: `{"name":"Asha"}`}),
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		view *graphstore.Snapshot
		ev   Event
		want string
	}{
		{"no snapshot", nil, good, "no snapshot"},
		{"another user", graphstore.NewSnapshot(mustSpace(t, "v")), good, `of user "u": the snapshot is of user "v"`},
		{"no event id", u, nameless, `id "" is empty`},
		{"no version", u, timeless, "data.facts[0].version is missing and so is the event's time"},
		{"no user", u, spaceless, "data.user_id"},
		{"no data", u, event(t, "e", 1, nil), "data is missing"},
		{"no op", u, event(t, "e", 1, written(FactWrite{ID: "f"})), `data.facts[0].op "": want "add" or "update"`},
		{"one fact twice", u, event(t, "e", 1, written(add("f"), add("f"))), `data.facts[1].id "f" is the id of facts[0] too`},
		{"invalid UTF-8", u, event(t, "e", 1, written(tagged(OpAdd, "f", "a\xff"))), "data.facts[0].tags[0]"},
		{"NUL in a name", u, event(t, "e", 1, written(mentioning("f", EntityRef{Name: "a\x00"}))), `data.facts[0].entities[0].name "a\x00" has a NUL`},
		{"hard ids of one kind", u, event(t, "e", 1, written(mentioning("f", EntityRef{Name: "a", IDs: []graphstore.HardID{{Kind: "k", Value: "1"}, {Kind: "k", Value: "2"}}}))), "data.facts[0].entities[0].ids.k is there twice"},
		{"a record no projector wrote", broken, event(t, "e", 1, FactDeleted{FactID: "f"}), "read detail \"no JSON\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			planned, err := p.Plan(tt.view, tt.ev)
			if err == nil || !strings.Contains(err.Error(), tt.want) || planned.Changes != nil {
				t.Errorf("error %v: want %q in it, and no changes", err, tt.want)
			}
		})
	}
}
