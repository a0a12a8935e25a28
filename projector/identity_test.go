package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

func person(name string) EntityName { return EntityName{Name: name, Type: "person"} }

func mentionsPerson(fact, name string) FactWrite {
	return mentioning(fact, EntityRef{Name: name, Type: "person"})
}

// An alias that a person declared holds whether the entities have been mentioned before, are later, or never: readers see
// one, with the facts of both; undone, both are as they were.
func TestDecisionsBeforeAndAfterMentions(t *testing.T) {
	p := mustNew(t, Config{})
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	mentions := []Event{ev("e1", 10, written(mentionsPerson("f", "Asha Rao"))), ev("e2", 11, written(mentionsPerson("g", "ASHA")))}
	alias := ev("e3", 12, EntityAliased{Entity: person("Asha Rao"), Alias: "asha"})
	undo := ev("e4", 13, EntityUnmerged{Kept: person("asha rao"), Merged: person("Asha")})
	degree := func(view *graphstore.Snapshot, fact string) (string, int) {
		n, _ := view.Node(fact)
		for b := range view.Bridges(n) {
			info := view.BridgeInfo(b)
			return info.ID, info.Degree
		}
		return "", 0
	}
	wantOne := func(t *testing.T, view *graphstore.Snapshot) {
		for _, f := range []string{"f", "g"} {
			if id, d := degree(view, f); id != "person:asha rao" || d != 2 {
				t.Errorf("%s is on %s with %d facts: want one entity with both", f, id, d)
			}
		}
		if view.Resolve("person:asha") != "person:asha rao" {
			t.Errorf("asha is %s", view.Resolve("person:asha"))
		}
	}
	t.Run("aliased", func(t *testing.T) {
		inEveryOrder(t, p, append(mentions, alias), func(t *testing.T, view *graphstore.Snapshot) {
			wantOne(t, view)
			asha, _ := view.Entity("person:asha")
			if asha.Name != "ASHA" || asha.Mentions != 1 || view.Edges() != 2 {
				t.Errorf("the alias' own node %+v, %d edges: want what its fact says", asha, view.Edges())
			}
		})
	})
	t.Run("undone", func(t *testing.T) {
		apart, _ := project(t, p, mentions...)
		inEveryOrder(t, p, append(mentions, alias, undo), func(t *testing.T, view *graphstore.Snapshot) {
			for f, want := range map[string]string{"f": "person:asha rao", "g": "person:asha"} {
				if id, d := degree(view, f); id != want || d != 1 {
					t.Errorf("%s is on %s with %d facts: want its own entity", f, id, d)
				}
			}
			for _, id := range []string{"person:asha rao", "person:asha"} {
				is, _ := view.Entity(id)
				was, _ := apart.Entity(id)
				if diff := cmp.Diff(was, is, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s (-never merged +undone):\n%s", id, diff)
				}
			}
			row := view.MergesOf("person:asha")
			if len(row) != 1 || !row[0].Undone || row[0].Step != graphstore.StepUnmerged {
				t.Errorf("the log has %+v: want the row, undone", row)
			}
		})
	})
	t.Run("merged again", func(t *testing.T) {
		inEveryOrder(t, p, append(mentions, alias, undo, ev("e5", 14, EntityMerged{Kept: person("Asha Rao"), Merged: person("Asha")})), wantOne)
	})
	t.Run("never mentioned", func(t *testing.T) {
		view, _ := project(t, p, alias)
		want := []graphstore.Change{
			graphstore.PutEntity(view.Space(), graphstore.Entity{ID: "person:asha", Type: "person", Name: "asha", Norm: "asha"}),
			graphstore.PutEntity(view.Space(), graphstore.Entity{ID: "person:asha rao", Type: "person", Name: "Asha Rao", Norm: "asha rao"}),
			graphstore.PutMerge(view.Space(), graphstore.Merge{Merged: "person:asha", Kept: "person:asha rao", Step: graphstore.StepAliased, MergedName: "asha", KeptName: "Asha Rao",
				Stamp: graphstore.Stamp{Version: 12, Rank: graphstore.RankAdd, EventID: "e3", At: graphstore.InstantOfMicros(12)}}),
		}
		if diff := cmp.Diff(want, allRecords(view), eventOptions, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("graph (-want +got):\n%s", diff)
		}
	})
	t.Run("the last mention goes, the decision stays, and the node shows its words", func(t *testing.T) {
		inEveryOrder(t, p, append(mentions, alias, ev("e6", 20, FactDeleted{FactID: "g"})), func(t *testing.T, view *graphstore.Snapshot) {
			asha, ok := view.Entity("person:asha")
			if want := (graphstore.Entity{ID: "person:asha", Type: "person", Name: "asha", Norm: "asha"}); !ok || !asha.Equal(want) {
				t.Errorf("entity %+v, %t: want %+v", asha, ok, want)
			}
		})
	})
}

// Names of one entity come to one row; the newest decision on a pair is the row, on the other direction it is another one.
func TestRowsOfTheMergeLog(t *testing.T) {
	p := mustNew(t, Config{})
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	type rows map[string]graphstore.Step // merged>kept, "!" before an undone one
	tests := []struct {
		name   string
		events []Event
		want   rows
		noop   int
	}{
		{"spellings", []Event{ev("e1", 1, EntityMerged{Kept: person("Asha Rao"), Merged: person("Asha")}), ev("e2", 2, EntityMerged{Kept: person("ASHA-RAO"), Merged: person("asha ")})},
			rows{"person:asha>person:asha rao": graphstore.StepMerged}, 0},
		{"both directions", []Event{ev("e1", 1, EntityMerged{Kept: person("a"), Merged: person("b")}), ev("e2", 2, EntityMerged{Kept: person("b"), Merged: person("a")})},
			rows{"person:b>person:a": graphstore.StepMerged, "person:a>person:b": graphstore.StepMerged}, 0},
		{"of equal versions undoing wins", []Event{ev("e1", 5, EntityMerged{Kept: person("a"), Merged: person("b")}), ev("e0", 5, EntityUnmerged{Kept: person("a"), Merged: person("b")})},
			rows{"!person:b>person:a": graphstore.StepUnmerged}, 0},
		{"undone before it was said", []Event{ev("e1", 5, EntityUnmerged{Kept: person("a"), Merged: person("b")}), ev("e2", 4, EntityMerged{Kept: person("a"), Merged: person("b")})},
			rows{"!person:b>person:a": graphstore.StepUnmerged}, 0},
		{"retyped", []Event{ev("e1", 1, EntityRetyped{Entity: EntityName{Name: "Kith"}, To: "Product"})}, rows{"thing:kith>product:kith": graphstore.StepRetyped}, 0},
		{"an organization by a legal suffix is itself", []Event{ev("e1", 1, EntityAliased{Entity: EntityName{Name: "Acme", Type: "organization"}, Alias: "ACME, Inc."})}, rows{}, 1},
		{"but not a person", []Event{ev("e1", 1, EntityAliased{Entity: person("Acme"), Alias: "ACME, Inc."})}, rows{"person:acme inc>person:acme": graphstore.StepAliased}, 0},
		{"two unknown types are one", []Event{ev("e1", 1, EntityMerged{Kept: EntityName{Name: "x", Type: "starship"}, Merged: EntityName{Name: "X", Type: "droid"}})}, rows{}, 1},
		{"retyped to another unknown type", []Event{ev("e1", 1, EntityRetyped{Entity: EntityName{Name: "x", Type: "starship"}, To: "droid"})}, rows{}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, p, tt.events, func(t *testing.T, view *graphstore.Snapshot) {
				got := rows{}
				for _, m := range view.Merges() {
					key := m.Merged + ">" + m.Kept
					if m.Undone {
						key = "!" + key
					}
					got[key] = m.Step
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
			if _, report := project(t, p, tt.events...); report.NoopDecisions != tt.noop {
				t.Errorf("%d decisions on one entity counted: want %d", report.NoopDecisions, tt.noop)
			}
		})
	}
}

// The name of a node that no fact mentions is the smallest spelling in rows on its own side; a mention takes over.
func TestNameOfADecidedEntity(t *testing.T) {
	p := mustNew(t, Config{})
	events := []Event{
		event(t, "e1", 1, EntityMerged{Kept: person("asha"), Merged: person("zoe")}),
		event(t, "e2", 2, EntityMerged{Kept: person("max"), Merged: person(" Asha ")}),
		event(t, "e3", 3, EntityMerged{Kept: person("ASHA"), Merged: person("kim")}),
	}
	name := func(view *graphstore.Snapshot) string { e, _ := view.Entity("person:asha"); return e.Name }
	inEveryOrder(t, p, events, func(t *testing.T, view *graphstore.Snapshot) {
		if name(view) != "ASHA" { // of "asha", "Asha" and "ASHA"
			t.Errorf("name %q", name(view))
		}
	})
	inEveryOrder(t, p, append(events[:2:2], event(t, "e4", 9, EntityUnmerged{Kept: person("aSHa"), Merged: person("zoe")})), func(t *testing.T, view *graphstore.Snapshot) {
		if name(view) != "Asha" { // "asha" was said in a row that another has replaced, with "aSHa"
			t.Errorf("name %q", name(view))
		}
	})
	inEveryOrder(t, p, append(events, event(t, "e5", 10, written(mentionsPerson("f", "aSHA")))), func(t *testing.T, view *graphstore.Snapshot) {
		if name(view) != "aSHA" {
			t.Errorf("name %q", name(view))
		}
	})
}
