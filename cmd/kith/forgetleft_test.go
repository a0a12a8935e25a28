package main

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// planned projects events one after the other.
func planned(t rapid.TB, p *projector.Projector, space graphstore.Space, events ...projector.Event) *graphstore.Snapshot {
	t.Helper()
	view := graphstore.NewSnapshot(space)
	for _, ev := range events {
		plan, err := p.Plan(view, ev)
		if err != nil {
			t.Fatal(err)
		}
		if view, err = view.With(plan.Changes); err != nil {
			t.Fatal(err)
		}
	}
	return view
}

// What a user does after a forgetting is no leftover, whatever it is; each record of before that is put beside it is one,
// unless something of after may have said it.
func TestLeftoversBesideLaterEvents(t *testing.T) {
	p, err := projector.New(projector.Config{TemporalSpine: true})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := graphstore.NewSpace("ann")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		before := projectortest.GenHistory(12, ann).Draw(t, "before")
		at := graphstore.InstantOfMicros(0)
		for _, ev := range before {
			at = max(at, ev.Time)
		}
		after := projectortest.GenHistoryAfter(at, 12, ann).Draw(t, "after")
		forget := projector.Event{ID: "forget", Space: ann, Time: at, Data: projector.UserForgotten{}}
		clean := planned(t, p, ann, slices.Concat(before, projectortest.History{forget}, after)...)
		records := slices.Collect(clean.Records())
		if left := forgottenAmong(records, at); len(left) > 0 {
			t.Fatalf("of what came after: %v", left)
		}
		if left := forgottenAmong(slices.Collect(planned(t, p, ann, slices.Concat(before, after, projectortest.History{forget})...).Records()), at); len(left) > 0 {
			t.Fatalf("forgotten at the end: %v", left)
		}
		for c := range planned(t, p, ann, before...).Records() {
			i := slices.IndexFunc(records, func(r graphstore.Change) bool { return r.Key() == c.Key() })
			there, beside := i >= 0, slices.Clone(records)
			if there {
				beside[i] = c
			} else {
				beside = append(beside, c)
			}
			if left := forgottenAmong(beside, forget.Time); !slices.Contains(left, c.Key()) && !mayBeLater(clean, c, there) {
				t.Fatalf("%v is not among %v", c.Key(), left)
			}
		}
	})
}

// mayBeLater reports whether a record of before cannot be told from one that is there for what came after.
func mayBeLater(clean *graphstore.Snapshot, c graphstore.Change, there bool) bool {
	present := func(id string) bool { _, ok := clean.Fact(id); return ok }
	switch {
	case c.Key() == graphstore.Tombstone{}.Key():
		return true
	case c.Fact != nil && c.Fact.State == graphstore.StateUnseen, c.Topic != nil, c.Ref != nil:
		return there
	case c.Entity != nil:
		return there || len(clean.Merges()) > 0
	case c.Edge == nil:
		return false
	case c.Edge.Asserter.Kind == graphstore.ByFact:
		return present(c.Edge.Asserter.ID)
	case c.Edge.Asserter.Kind == graphstore.BySchema:
		_, ok := clean.Record(graphstore.Schema{ID: c.Edge.Asserter.ID}.Key())
		return ok
	default:
		return present(c.Edge.Source) && present(c.Edge.Target)
	}
}

// Which texts of an event are taken, of too many, does not differ from run to run.
func TestValueTextsAreInOrder(t *testing.T) {
	value := map[string]any{"c": "three", "a": "one", "b": []any{"two", map[string]any{"y": "2b", "x": "2a"}}, "fact_id": "four"}
	for range 20 {
		var got []string
		valueTexts(textName, value, func(kind, text string) { got = append(got, kind+" "+text) })
		if want := []string{"name one", "name two", "name 2a", "name 2b", "name three", "fact id four"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
