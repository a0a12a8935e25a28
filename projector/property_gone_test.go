package projector_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// late is a time after every event of a history; versions that default to it are greater than any.
var late = graphstore.InstantOfMicros(1_000)

// Deleting every fact and schema leaves what remembers that they are gone, the decisions of people, and nothing else;
// in any order.
func TestDeletingEverythingLeavesTombstones(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		events := projectortest.GenHistory(10, space).Draw(t, "history")
		for _, id := range projectortest.FactIDs() {
			events = append(events, projector.Event{ID: "gone " + id, Space: space, Time: late, Data: projector.FactDeleted{FactID: id}})
		}
		for _, id := range projectortest.SchemaIDs() {
			events = append(events, projector.Event{ID: "gone schema " + id, Space: space, Time: late, Data: projector.SchemaDeleted{SchemaID: id}})
		}
		view := inOrder(t, p, space, projectortest.GenOrder(events).Draw(t, "order"))
		named := map[string]bool{}
		for _, m := range view.Merges() {
			named[m.Merged], named[m.Kept] = true, true
		}
		for c := range view.Records() {
			switch {
			case c.Fact != nil && c.Fact.State == graphstore.StateDeleted:
			case c.Schema != nil && c.Schema.Deleted:
			case c.Entity != nil && named[c.Entity.ID] && c.Entity.Mentions == 0:
			case c.Merge != nil, c.Tombstone != nil:
			default:
				t.Fatalf("left: %s", projectortest.Lines([]graphstore.Change{c}))
			}
		}
		if want := len(projectortest.FactIDs()); view.Facts() != want || view.Present() != 0 || view.Edges() != 0 {
			t.Fatalf("%d facts, %d present, %d edges: want %d tombstones", view.Facts(), view.Present(), view.Edges(), want)
		}
	})
}

// Retracting the one source that said everything leaves no fact, whatever the order; what it named goes too.
func TestRetractingTheOnlySourceLeavesNoFact(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		var events projectortest.History
		for _, ev := range projectortest.GenHistory(10, space).Draw(t, "history") {
			w, ok := ev.Data.(projector.FactsWritten)
			if !ok {
				continue
			}
			for i := range w.Facts {
				w.Facts[i].SourceID = projector.Some("p")
			}
			events = append(events, ev)
		}
		events = append(events, projector.Event{ID: "retract", Space: space, Time: late, Data: projector.SourceRetracted{SourceID: "p"}})
		view := inOrder(t, p, space, projectortest.GenOrder(events).Draw(t, "order"))
		if view.Present() != 0 || view.Edges() != 0 || view.Entities() != 0 || view.Topics() != 0 {
			t.Fatalf("left: %s", projectortest.Lines(collect(view)))
		}
	})
}

// Forgetting leaves one tombstone, wherever in the order it comes; what comes later is as if nothing had been before.
func TestForgettingLeavesOneTombstone(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		before := projectortest.GenHistory(10, space).Draw(t, "history")
		forgotten := projector.Event{ID: "forget", Space: space, Time: late, Data: projector.UserForgotten{}}
		view := inOrder(t, p, space, projectortest.GenOrder(append(before, forgotten)).Draw(t, "order"))
		want := fmt.Sprint([]string{"u tombstone {Source: At:1970-01-01T00:00:00.001Z}"})
		if got := fmt.Sprint(projectortest.Lines(collect(view))); got != want {
			t.Fatalf("left %s: want %s", got, want)
		}
		after := projectortest.GenHistoryAfter(late, 6, space).Draw(t, "after")
		all := append(append(before, forgotten), after...)
		wantDigest(t, inOrder(t, p, space, append(projectortest.History{forgotten}, after...)),
			inOrder(t, p, space, projectortest.GenOrder(all).Draw(t, "all")))
	})
}
