package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestForgetting(t *testing.T) {
	p := mustNew(t, Config{TemporalSpine: true})
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	rich := FactWrite{ID: "a", Op: OpAdd, SourceID: Some("doc"), MemoryAt: Some(at("2026-01-01T00:00:00Z")), Tags: Some([]string{"old"}),
		Entities: Some([]EntityRef{{Name: "Asha", Type: "person"}}), Relations: Some([]RelationRef{{To: "x"}})}
	before := []Event{
		ev("e1", 10, written(rich, add("b"))),
		ev("e2", 11, SchemaUpserted{SchemaID: "s", Level: graphstore.LevelSchema, Title: "T", Evidence: []string{"a", "z"}}),
		ev("e3", 12, EntityAliased{Entity: EntityName{Name: "Asha", Type: "person"}, Alias: "Ash"}),
		retract(t, "e4", 13, "other"),
	}
	forget := ev("forget", 20, UserForgotten{})
	only := []graphstore.Change{graphstore.PutTombstone(mustSpace(t, "u"), graphstore.Tombstone{At: graphstore.InstantOfMicros(20)})}

	t.Run("leaves one tombstone", func(t *testing.T) {
		inEveryOrder(t, p, append(before, forget), func(t *testing.T, view *graphstore.Snapshot) {
			if diff := cmp.Diff(only, allRecords(view), eventOptions); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("what comes after is as if nothing had been", func(t *testing.T) {
		after := ev("e9", 21, written(FactWrite{ID: "a", Op: OpUpdate, AgentID: Some("new")}))
		want, _ := project(t, p, forget, after)
		if a := fact(t, want, "a"); a.AgentID != "new" || a.SourceID != "" || a.State != graphstore.StateActive || want.Edges() != 0 || want.Facts() != 1 {
			t.Fatalf("a %+v, %d facts, %d edges", a, want.Facts(), want.Edges())
		}
		inEveryOrder(t, p, append(before, forget, after), func(t *testing.T, view *graphstore.Snapshot) {
			if view.Digest() != want.Digest() {
				t.Errorf("graph (-want +got):\n%s", cmp.Diff(allRecords(want), allRecords(view), eventOptions))
			}
		})
	})
	t.Run("at its time is forgotten, after it is not", func(t *testing.T) {
		inEveryOrder(t, p, []Event{ev("e1", 20, written(add("at"))), ev("e2", 21, written(add("after"))), forget}, func(t *testing.T, view *graphstore.Snapshot) {
			if diff := cmp.Diff(map[string]graphstore.State{"after": graphstore.StateActive}, states(view)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("of two the later counts", func(t *testing.T) {
		inEveryOrder(t, p, []Event{ev("e1", 15, written(add("a"))), ev("f1", 10, UserForgotten{}), forget}, func(t *testing.T, view *graphstore.Snapshot) {
			if diff := cmp.Diff(only, allRecords(view), eventOptions); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a retraction is forgotten, one after it is not", func(t *testing.T) {
		events := []Event{retract(t, "r1", 13, "doc"), forget, ev("e1", 25, written(of("doc", add("a")))), retract(t, "r2", 24, "doc")}
		inEveryOrder(t, p, events[:3], func(t *testing.T, view *graphstore.Snapshot) {
			if _, ok := view.Tombstone("doc"); ok || states(view)["a"] != graphstore.StateActive {
				t.Errorf("tombstone of doc %t, facts %v", ok, states(view))
			}
		})
		inEveryOrder(t, p, append(events[1:3:3], retract(t, "r3", 30, "doc")), func(t *testing.T, view *graphstore.Snapshot) {
			if _, ok := view.Tombstone("doc"); !ok || states(view)["a"] != graphstore.StateDeleted {
				t.Errorf("tombstone of doc %t, facts %v", ok, states(view))
			}
		})
	})
	t.Run("what is half forgotten keeps its later half", func(t *testing.T) {
		// The add at 10 is forgotten, the update at 21 and the shadow at 22 are not: a fact that only an update was about.
		events := []Event{before[0], ev("e8", 21, written(tagged(OpUpdate, "a", "New"))), ev("e9", 22, FactShadowed{FactID: "b"}), forget}
		inEveryOrder(t, p, events, func(t *testing.T, view *graphstore.Snapshot) {
			a, b := fact(t, view, "a"), fact(t, view, "b")
			if a.State != graphstore.StateActive || a.SourceID != "" || a.MemoryAt != 0 || b.State != graphstore.StateShadowed || b.BatchID != "" {
				t.Errorf("a %+v, b %+v", a, b)
			}
			if view.Entities() != 0 || view.Topics() != 1 || view.Edges() != 1 {
				t.Errorf("%d entities, %d topics, %d edges: want the new tag alone", view.Entities(), view.Topics(), view.Edges())
			}
		})
	})
	t.Run("another user is not forgotten", func(t *testing.T) {
		forgetsU, _ := project(t, p, append(before, forget)...)
		other := graphstore.NewSnapshot(mustSpace(t, "v"))
		planned, err := p.Plan(other, Event{ID: "e1", Space: mustSpace(t, "v"), Time: graphstore.InstantOfMicros(10), Data: before[0].Data})
		if err != nil || len(planned.Changes) == 0 || forgetsU.Facts() != 0 {
			t.Errorf("of another user: %d changes, %v", len(planned.Changes), err)
		}
		if planned, err := p.Plan(forgetsU, before[0]); err != nil || len(planned.Changes) != 0 || planned.Report.Forgotten != 1 {
			t.Errorf("of this user: %d changes, report %+v, %v", len(planned.Changes), planned.Report, err)
		}
	})
}

// A graph that was made with a spine keeps nothing of a forgotten fact after the spine was turned off.
func TestForgettingTakesTheSpineAlongThatIsTurnedOff(t *testing.T) {
	view, _ := project(t, mustNew(t, Config{TemporalSpine: true}),
		event(t, "e1", 10, written(happened("a", 0), happened("b", 1))), event(t, "e2", 30, written(happened("c", 2))))
	wantSteps(t, view, map[string]float64{"a>b": 1, "b>c": 1})
	view, _ = apply(t, mustNew(t, Config{}), view, event(t, "forget", 20, UserForgotten{}))
	wantSteps(t, view, map[string]float64{})
	if diff := cmp.Diff(map[string]graphstore.State{"c": graphstore.StateActive}, states(view)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
