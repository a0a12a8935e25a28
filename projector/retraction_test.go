package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// of returns the write as one of a source.
func of(source string, w FactWrite) FactWrite {
	w.SourceID = Some(source)
	return w
}

func retract(tb testing.TB, id string, us int64, source string) Event {
	return event(tb, id, us, SourceRetracted{SourceID: source})
}

// Each case is looked at in every order of its events.
func TestRetraction(t *testing.T) {
	const active, superseded, shadowed, deleted, unseen = graphstore.StateActive, graphstore.StateSuperseded, graphstore.StateShadowed, graphstore.StateDeleted, graphstore.StateUnseen
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	type want map[string]graphstore.State
	update := func(id string) FactWrite { return tagged(OpUpdate, id, "late") }
	tests := []struct {
		name   string
		events []Event
		want   want
	}{
		{"what the source added goes, what others did stays", []Event{ev("e1", 10, written(of("doc", add("a")), of("mail", add("b")), add("c"))), retract(t, "r", 20, "doc")},
			want{"a": deleted, "b": active, "c": active}},
		{"up to its time: half-open towards later", []Event{ev("e1", 20, written(of("doc", add("at")))), ev("e2", 21, written(of("doc", add("after")))), retract(t, "r", 20, "doc")},
			want{"at": deleted, "after": active}},
		{"the latest of two", []Event{ev("e1", 15, written(of("doc", add("a")))), retract(t, "r1", 10, "doc"), retract(t, "r2", 20, "doc")}, want{"a": deleted}},
		{"what it had superseded comes back", []Event{ev("e1", 10, written(add("old"))), ev("e2", 20, written(of("doc", add("new")))),
			ev("e3", 21, FactSuperseded{FactID: "old", By: "new"}), retract(t, "r", 30, "doc")}, want{"old": active, "new": deleted}},
		{"and is retired again when it is added again", []Event{ev("e1", 10, written(add("old"))), ev("e2", 20, written(of("doc", add("new")))),
			ev("e3", 21, FactSuperseded{FactID: "old", By: "new"}), retract(t, "r", 30, "doc"), ev("e4", 40, written(of("doc", add("new"))))}, want{"old": superseded, "new": active}},
		{"a newer fact that is deleted, not withdrawn, stays its successor", []Event{ev("e1", 10, written(add("old"))), ev("e2", 20, written(of("doc", add("new")))),
			ev("e3", 21, FactSuperseded{FactID: "old", By: "new"}), ev("e4", 25, FactDeleted{FactID: "new"}), retract(t, "r", 30, "doc")}, want{"old": superseded, "new": deleted}},
		{"a chain comes back link by link: c is withdrawn, b is back, a stays retired", []Event{ev("e1", 10, written(add("a"), add("b"), of("doc", add("c")))),
			ev("e2", 11, FactSuperseded{FactID: "a", By: "b"}), ev("e3", 12, FactSuperseded{FactID: "b", By: "c"}), retract(t, "r", 20, "doc")}, want{"a": superseded, "b": active, "c": deleted}},
		{"nothing but a supersession is void: shadowed stays", []Event{ev("e1", 10, written(add("old"), of("doc", add("new")))), ev("e2", 11, FactSuperseded{FactID: "old", By: "new"}),
			ev("e3", 12, FactShadowed{FactID: "old"}), retract(t, "r", 20, "doc")}, want{"old": shadowed, "new": deleted}},
		{"a newer fact nobody has written is no withdrawn one", []Event{ev("e1", 10, written(add("old"))), ev("e2", 11, FactSuperseded{FactID: "old", By: "new"}), retract(t, "r", 20, "doc")},
			want{"old": superseded}},
		{"an update by it is withdrawn, the fact of another stays", []Event{ev("e1", 10, written(of("mail", add("a")))), ev("e2", 11, written(of("doc", update("a")))), retract(t, "r", 20, "doc")},
			want{"a": active}},
		{"an add by it under an update of another hides the update", []Event{ev("e1", 10, written(of("doc", add("a")))), ev("e2", 11, written(of("mail", update("a")))), retract(t, "r", 20, "doc")},
			want{"a": deleted}},
		{"nothing but updates by it: gone", []Event{ev("e1", 10, written(of("doc", update("a")))), ev("e2", 11, written(FactWrite{ID: "a", Op: OpUpdate, SourceID: Some("doc"), AgentID: Some("x")})),
			retract(t, "r", 20, "doc")}, want{"a": deleted}},
		{"updates by it and by another: there", []Event{ev("e1", 10, written(of("doc", update("a")))), ev("e2", 11, written(FactWrite{ID: "a", Op: OpUpdate, AgentID: Some("x")})),
			retract(t, "r", 20, "doc")}, want{"a": active}},
		{"a lifecycle step does not bring back what is withdrawn", []Event{ev("e1", 10, written(of("doc", add("a")))), ev("e2", 15, FactRestored{FactID: "a"}), retract(t, "r", 20, "doc")},
			want{"a": deleted}},
		{"a later add by it is a new assertion", []Event{ev("e1", 10, written(of("doc", add("a")))), retract(t, "r", 20, "doc"), ev("e2", 30, written(of("doc", add("a"))))}, want{"a": active}},
		{"an add by another between its two: the later counts", []Event{ev("e1", 10, written(of("doc", add("a")))), ev("e2", 11, written(of("mail", add("a")))), ev("e3", 12, written(of("doc", add("a")))),
			retract(t, "r", 20, "doc")}, want{"a": deleted}},
		{"what only its edges named goes with them", []Event{ev("e1", 10, written(of("doc", related("a", RelationRef{To: "x"})), related("b", RelationRef{To: "y"}))), retract(t, "r", 20, "doc")},
			want{"a": deleted, "b": active, "y": unseen}},
		{"a source of that name that never spoke", []Event{ev("e1", 10, written(of("doc", add("a")))), retract(t, "r", 20, "do")}, want{"a": active}},
		{"a write of unknown time is older than any retraction", []Event{{ID: "e1", Space: mustSpace(t, "u"), Data: written(FactWrite{ID: "a", Op: OpAdd, Version: Some[int64](99), SourceID: Some("doc")})},
			retract(t, "r", 1, "doc")}, want{"a": deleted}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{}), tt.events, func(t *testing.T, view *graphstore.Snapshot) {
				if diff := cmp.Diff(tt.want, want(states(view))); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// One edge that two documents support stays when one of them goes, and goes with the other.
func TestRetractionOfOneOfTwoSupports(t *testing.T) {
	p := mustNew(t, Config{})
	asha := EntityRef{Name: "Asha", Type: "person"}
	one := of("doc1", FactWrite{ID: "a", Op: OpAdd, Relations: Some([]RelationRef{{To: "c", Type: "causes"}}), Entities: Some([]EntityRef{asha}), Tags: Some([]string{"Work"})})
	two := of("doc2", FactWrite{ID: "b", Op: OpAdd, Relations: Some([]RelationRef{{To: "c", Type: "causes"}}), Entities: Some([]EntityRef{asha}), Tags: Some([]string{"WORK"})})
	both := of("doc3", FactWrite{ID: "c", Op: OpAdd, Relations: Some([]RelationRef{{To: "a", Type: "related"}})})
	same := of("doc4", FactWrite{ID: "a", Op: OpUpdate, Neighbors: Some([]NeighborRef{{ID: "c", Score: .9}})})
	events := []Event{event(t, "e1", 10, written(one)), event(t, "e2", 11, written(two)), event(t, "e3", 12, written(both)), event(t, "e4", 13, written(same))}

	inEveryOrder(t, p, append(events, retract(t, "r", 20, "doc2")), func(t *testing.T, view *graphstore.Snapshot) {
		entity, _ := view.Entity("person:asha")
		topic, _ := view.Topic("work")
		if entity.Mentions != 1 || topic.Facts != 1 || topic.Name != "Work" {
			t.Errorf("entity %+v, topic %+v: want what doc1 says", entity, topic)
		}
		// a: causes c by a, related by c, neighbour by a. b: nothing.
		if n, m := len(edges(view, "a", graphstore.Causes, graphstore.Related, graphstore.SemanticNeighbor)), len(view.EdgesOf("b")); n != 3 || m != 0 {
			t.Errorf("%d edges at a, %d at b: want 3 and 0", n, m)
		}
	})
	// Two facts assert a-c as related: a's own word goes with doc1, c's stays; a is a tombstone it still leads to.
	inEveryOrder(t, p, append(events[:3:3], retract(t, "r", 20, "doc1")), func(t *testing.T, view *graphstore.Snapshot) {
		left := edges(view, "a", graphstore.RelationTypes()...)
		if len(left) != 1 || left[0].Type != graphstore.Related || left[0].Asserter.ID != "c" {
			t.Errorf("edges at a: %+v: want c's", left)
		}
	})
	// The update of doc4 alone is withdrawn: the neighbour goes, what doc1 says stays; the source is nobody's now.
	inEveryOrder(t, p, append(events[:0:0], events[0], events[3], retract(t, "r", 20, "doc4")), func(t *testing.T, view *graphstore.Snapshot) {
		a := fact(t, view, "a")
		if a.State != graphstore.StateActive || a.SourceID != "" || len(edges(view, "a", graphstore.SemanticNeighbor)) != 0 || len(edges(view, "a", graphstore.Causes)) != 1 {
			t.Errorf("a %+v, edges %+v", a, view.EdgesOf("a"))
		}
	})
}

// A retracted document leaves its batch: those that stay are joined as if it had never been there.
func TestRetractionLeavesTheBatch(t *testing.T) {
	p := mustNew(t, Config{MaxCoOccurs: 3})
	w := written(add("a"), of("doc", add("b")), add("c"), add("d"))
	// Four members at most three of which are joined in full: a chain of neighbours. Three: all of them.
	view, _ := project(t, p, event(t, "e1", 10, w))
	if got := len(edges(view, "a", graphstore.CoOccurs)); got != 1 {
		t.Fatalf("a has %d in a batch of four: want the next one", got)
	}
	view, _ = apply(t, p, view, retract(t, "r", 20, "doc"))
	for id, want := range map[string]int{"a": 2, "b": 0, "c": 2, "d": 2} {
		if got := len(edges(view, id, graphstore.CoOccurs)); got != want {
			t.Errorf("%s has %d in a batch of three: want %d", id, got, want)
		}
	}
}
