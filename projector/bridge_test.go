package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

func TestEntities(t *testing.T) {
	p := mustNew(t, Config{})
	asha := EntityRef{Name: "Asha Rao", Type: "person", Aliases: []string{"Ash"}, IDs: []graphstore.HardID{{Kind: "email", Value: "a@x"}}}
	shout := EntityRef{Name: "ASHA-RAO", Type: "Person", Aliases: []string{"Rao", "Ash"}}
	one, two := event(t, "e1", 1, written(mentioning("f", asha))), event(t, "e2", 2, written(mentioning("g", shout)))
	want := func(name string, n int, ids []graphstore.HardID, aliases ...string) graphstore.Entity {
		return graphstore.Entity{ID: "person:asha rao", Type: "person", Norm: "asha rao", Name: name, Aliases: aliases, HardIDs: ids, Mentions: n}
	}
	check := func(t *testing.T, view *graphstore.Snapshot, want graphstore.Entity) {
		t.Helper()
		got, _ := view.Entity("person:asha rao")
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("entity (-want +got):\n%s", diff)
		}
	}
	view, _ := project(t, p, one, two)
	// "ASHA-RAO" < "Asha Rao" bytewise; the other spelling is an alias.
	check(t, view, want("ASHA-RAO", 2, asha.IDs, "Ash", "Asha Rao", "Rao"))
	t.Run("what only one fact said goes with it", func(t *testing.T) {
		after, _ := apply(t, p, view, event(t, "e3", 3, FactDeleted{FactID: "g"}))
		check(t, after, want("Asha Rao", 1, asha.IDs, "Ash"))
		after, _ = apply(t, p, view, event(t, "e3", 3, FactDeleted{FactID: "f"}))
		check(t, after, want("ASHA-RAO", 1, nil, "Ash", "Rao"))
	})
	t.Run("superseded and shadowed facts are still in memory", func(t *testing.T) {
		after, _ := apply(t, p, view, event(t, "e3", 3, FactSuperseded{FactID: "g"}))
		after, _ = apply(t, p, after, event(t, "e4", 4, FactShadowed{FactID: "f"}))
		check(t, after, want("ASHA-RAO", 2, asha.IDs, "Ash", "Asha Rao", "Rao"))
	})
	t.Run("the last mention takes the entity with it", func(t *testing.T) {
		after, _ := apply(t, p, view, event(t, "e3", 3, FactDeleted{FactID: "g"}))
		after, _ = apply(t, p, after, event(t, "e4", 4, written(FactWrite{ID: "f", Op: OpUpdate, Entities: Some[[]EntityRef](nil)})))
		if after.Entities() != 0 {
			t.Errorf("%d entities: want none", after.Entities())
		}
	})
	t.Run("two spellings in one fact are one mention", func(t *testing.T) {
		after, report := project(t, p, event(t, "e1", 1, written(mentioning("f", shout, asha))))
		check(t, after, want("ASHA-RAO", 1, asha.IDs, "Ash", "Asha Rao", "Rao"))
		if report.Folded != 1 || after.Edges() != 1 {
			t.Errorf("report %+v, %d edges", report, after.Edges())
		}
	})
	t.Run("one name, two types, two nodes", func(t *testing.T) {
		after, report := project(t, p, event(t, "e1", 1, written(mentioning("f", EntityRef{Name: "Apple", Type: "organization"}),
			mentioning("g", EntityRef{Name: "apple", Type: "fruit"}), mentioning("h", EntityRef{Name: "Apple"}))))
		if _, ok := after.Entity("organization:apple"); !ok || after.Entities() != 2 || report.UnknownEntityTypes != 2 {
			t.Errorf("%d entities, report %+v: want organization:apple and thing:apple", after.Entities(), report)
		}
	})
	t.Run("blank names are counted", func(t *testing.T) {
		after, report := project(t, p, event(t, "e1", 1, written(mentioning("f", EntityRef{Name: " \t", Type: "person"},
			EntityRef{Name: "Asha", Type: "person", Aliases: []string{"", "\u200f"}}))))
		if after.Entities() != 1 || report.BlankNames != 3 {
			t.Errorf("%d entities, report %+v", after.Entities(), report)
		}
	})
}

func TestTopics(t *testing.T) {
	p := mustNew(t, Config{})
	view, report := project(t, p, event(t, "e1", 1, written(tagged(OpAdd, "f", "Work", "work", "#work", "  ", "C#", "C"), tagged(OpAdd, "g", "WORK!"))))
	work, _ := view.Topic("work")
	if work != (graphstore.Topic{ID: "work", Name: "#work", Facts: 2}) { // '#' < 'W' < 'w'
		t.Errorf("topic %+v", work)
	}
	if diff := cmp.Diff([]string{"c", "c#", "work"}, topics(view, "f")); diff != "" || report.BlankNames != 1 || report.Folded != 2 {
		t.Errorf("report %+v, topics (-want +got):\n%s", report, diff)
	}
	view, _ = apply(t, p, view, event(t, "e2", 2, FactDeleted{FactID: "f"}))
	if work, _ = view.Topic("work"); work != (graphstore.Topic{ID: "work", Name: "WORK!", Facts: 1}) || view.Topics() != 1 {
		t.Errorf("topic %+v of %d", work, view.Topics())
	}
}
