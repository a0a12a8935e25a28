package projector

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// What users of memory graphs complain of, by kind. Each case is looked at in every order of its events: the state of
// each fact that has a node, and the edges, as "source type target".
func TestComplaints(t *testing.T) {
	const active, superseded, deleted, unseen = graphstore.StateActive, graphstore.StateSuperseded, graphstore.StateDeleted, graphstore.StateUnseen
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	rel := func(to string) []RelationRef { return []RelationRef{{To: to, Type: "causes"}} }
	asha := EntityRef{Name: "Asha", Type: "person"}
	tests := []struct {
		kind, complaint string
		events          []Event
		states          map[string]graphstore.State
		edges           string
	}{
		{"supersession", "a fact asserted again on a retired node was lost",
			[]Event{ev("e1", 1, written(add("a"))), ev("e2", 2, FactSuperseded{FactID: "a"}), ev("e3", 3, written(tagged(OpAdd, "a", "t")))},
			map[string]graphstore.State{"a": active}, "a tagged_with t"},
		{"supersession", "only what was named is retired",
			[]Event{ev("e1", 1, written(add("a"), add("b"), add("c"))), ev("e2", 2, FactSuperseded{FactID: "a", By: "b"})},
			map[string]graphstore.State{"a": superseded, "b": active, "c": active}, "a co_occurs b; a co_occurs c; b co_occurs c"},
		{"supersession", "the newer one is retired by the older one: circles are as they were said",
			[]Event{ev("e1", 1, written(add("a"))), ev("e2", 2, written(add("b"))), ev("e3", 3, FactSuperseded{FactID: "a", By: "b"}), ev("e4", 4, FactSuperseded{FactID: "b", By: "a"})},
			map[string]graphstore.State{"a": superseded, "b": superseded}, ""},
		{"deletes", "the vector was deleted, the edges stayed",
			[]Event{ev("e1", 1, written(related("a", rel("b")[0]))), ev("e2", 2, written(related("b", rel("a")[0]))), ev("e3", 3, FactDeleted{FactID: "a"})},
			map[string]graphstore.State{"a": deleted, "b": active}, "b causes a"}, // b's own word stays; a is a tombstone
		{"deletes", "entities without mentions stayed",
			[]Event{ev("e1", 1, written(mentioning("a", asha))), ev("e2", 2, FactDeleted{FactID: "a"})}, map[string]graphstore.State{"a": deleted}, ""},
		{"deletes", "deleting one document removed an edge that two support",
			[]Event{ev("e1", 1, written(of("doc1", mentioning("a", asha)))), ev("e2", 2, written(of("doc2", mentioning("b", asha)))), retract(t, "r", 3, "doc1")},
			map[string]graphstore.State{"a": deleted, "b": active}, "b mentions person:asha"},
		{"deletes", "an edit that shrinks a record left its old edges",
			[]Event{ev("e1", 1, written(FactWrite{ID: "a", Op: OpAdd, Relations: Some([]RelationRef{{To: "x", Type: "causes"}, {To: "y", Type: "causes"}})})),
				ev("e2", 2, written(FactWrite{ID: "a", Op: OpUpdate, Relations: Some(rel("y"))}))},
			map[string]graphstore.State{"a": active, "y": unseen}, "a causes y"},
		{"deletes", "a fact that was deleted came back with a late update",
			[]Event{ev("e1", 1, written(add("a"))), ev("e2", 3, FactDeleted{FactID: "a"}), ev("e3", 2, written(tagged(OpUpdate, "a", "t"))), ev("e4", 4, written(tagged(OpUpdate, "a", "u")))},
			map[string]graphstore.State{"a": deleted}, "a tagged_with u"}, // hidden: it counts nowhere
		{"deletes", "delete and revive: what the delete took is not back, what came between is not either",
			[]Event{ev("e1", 1, written(tagged(OpAdd, "a", "old"))), ev("e2", 2, FactDeleted{FactID: "a"}), ev("e3", 3, written(mentioning("a", asha))), ev("e4", 0, written(tagged(OpUpdate, "a", "older")))},
			map[string]graphstore.State{"a": active}, "a mentions person:asha"},
		{"deletes", "a retracted document was written again by a retry of its first event",
			[]Event{ev("e1", 1, written(of("doc", mentioning("a", asha)))), retract(t, "r", 2, "doc"), ev("e1", 1, written(of("doc", mentioning("a", asha))))},
			map[string]graphstore.State{"a": deleted}, ""},
		{"duplicates", "the same name in two spellings is one, in two types is two",
			[]Event{ev("e1", 1, written(mentioning("a", asha))), ev("e2", 2, written(mentioning("b", EntityRef{Name: "ASHA", Type: "Person"}))),
				ev("e3", 3, written(mentioning("c", EntityRef{Name: "Asha", Type: "place"})))},
			map[string]graphstore.State{"a": active, "b": active, "c": active}, "a mentions person:asha; b mentions person:asha; c mentions place:asha"},
		{"duplicates", "a relation to a fact that is not there was dropped",
			[]Event{ev("e1", 1, written(related("a", rel("later")[0]))), ev("e2", 2, written(add("later")))}, map[string]graphstore.State{"a": active, "later": active}, "a causes later"},
		{"wrong merges", "A~B and B~C, then B and C are two again: A stays B",
			[]Event{ev("e1", 1, written(mentioning("f", EntityRef{Name: "A"}))), ev("e2", 2, EntityMerged{Kept: EntityName{Name: "B"}, Merged: EntityName{Name: "A"}}),
				ev("e3", 3, EntityMerged{Kept: EntityName{Name: "C"}, Merged: EntityName{Name: "B"}}), ev("e4", 4, EntityUnmerged{Kept: EntityName{Name: "C"}, Merged: EntityName{Name: "B"}})},
			map[string]graphstore.State{"f": active}, "f mentions thing:a"}, // the edge is what was said; readers follow the log
		{"races", "two updates of two parts: read-modify-write lost one",
			[]Event{ev("e1", 1, written(add("a"))), ev("e2", 2, written(tagged(OpUpdate, "a", "t"))), ev("e3", 2, written(FactWrite{ID: "a", Op: OpUpdate, Relations: Some(rel("b"))}))},
			map[string]graphstore.State{"a": active, "b": unseen}, "a causes b; a tagged_with t"},
		{"races", "two adds at one version: one of them, whole, the same on every machine",
			[]Event{ev("e1", 1, written(tagged(OpAdd, "a", "one"))), ev("e2", 1, written(FactWrite{ID: "a", Op: OpAdd, Relations: Some(rel("b"))}))},
			map[string]graphstore.State{"a": active, "b": unseen}, "a causes b"},
		{"races", "a delete and an add at one version: deleted",
			[]Event{ev("e2", 1, written(tagged(OpAdd, "a", "one"))), ev("e1", 1, FactDeleted{FactID: "a"})}, map[string]graphstore.State{"a": deleted}, ""},
		{"races", "a retraction overtakes what it retracts, twice",
			[]Event{retract(t, "r", 5, "doc"), ev("e1", 3, written(of("doc", add("a")))), ev("e2", 4, written(of("doc", tagged(OpUpdate, "a", "t"))))},
			map[string]graphstore.State{"a": deleted}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.kind+"/"+tt.complaint, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{}), tt.events, func(t *testing.T, view *graphstore.Snapshot) {
				if diff := cmp.Diff(tt.states, states(view)); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				var got []string
				for _, c := range allRecords(view) {
					if c.Edge != nil {
						got = append(got, fmt.Sprint(c.Edge.Source, " ", c.Edge.Type, " ", c.Edge.Target))
					}
				}
				if diff := cmp.Diff(tt.edges, strings.Join(got, "; ")); diff != "" {
					t.Errorf("edges (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A late, older fact retires a newer one: its window is empty, [June, May), and nothing else is touched. A producer's own
// end, where it is earlier, stays.
func TestInvertedWindows(t *testing.T) {
	may, june, july := at("2026-05-01T00:00:00Z"), at("2026-06-01T00:00:00Z"), at("2026-07-01T00:00:00Z")
	newer := FactWrite{ID: "newer", Op: OpAdd, ValidFrom: Some(june)}
	ended := FactWrite{ID: "newer", Op: OpAdd, ValidFrom: Some(june), ValidTo: Some(july)}
	older := FactWrite{ID: "older", Op: OpAdd, ValidFrom: Some(may)}
	retire := event(t, "e3", july.Micros(), FactSuperseded{FactID: "newer", By: "older"})
	tests := []struct {
		name             string
		events           []Event
		from, to         graphstore.Instant
		olderFrom, older graphstore.Instant
	}{
		{"inverted", []Event{event(t, "e1", 1, written(newer)), event(t, "e2", 2, written(older)), retire}, june, may, may, 0},
		{"of one with an end", []Event{event(t, "e1", 1, written(ended)), event(t, "e2", 2, written(older)), retire}, june, may, may, 0},
		{"the older one says no time: the event's", []Event{event(t, "e1", 1, written(newer)), event(t, "e2", 2, written(add("older"))), retire}, june, july, 0, 0},
		{"the older one changes its mind: no longer inverted", []Event{event(t, "e1", 1, written(newer)), event(t, "e2", 2, written(older)), retire,
			event(t, "e4", july.Micros()+1, written(FactWrite{ID: "older", Op: OpUpdate, ValidFrom: Some(july)}))}, june, july, july, 0},
		{"asserted again: open", []Event{event(t, "e1", 1, written(newer)), event(t, "e2", 2, written(older)), retire,
			event(t, "e4", july.Micros()+1, written(newer))}, june, 0, may, 0},
		{"the older one's source is retracted: open", []Event{event(t, "e1", 1, written(newer)), event(t, "e2", 2, written(of("doc", older))), retire,
			retract(t, "r", july.Micros()+1, "doc")}, june, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{TemporalSpine: true}), tt.events, func(t *testing.T, view *graphstore.Snapshot) {
				for id, want := range map[string][2]graphstore.Instant{"newer": {tt.from, tt.to}, "older": {tt.olderFrom, tt.older}} {
					n, ok := view.Node(id)
					if !ok {
						t.Fatalf("no fact %s", id)
					}
					if from, to := view.Validity(n); from != want[0] || to != want[1] {
						t.Errorf("%s is valid in [%s, %s): want [%s, %s)", id, from, to, want[0], want[1])
					}
				}
			})
		})
	}
}

// Every text is a source, a schema, its title and evidence, a name and a reason as it is written, through JSON, and comes
// out of the graph as it went in. Texts that differ are two sources; what is retracted is exactly one.
func TestCharactersInEveryTypeOfEvent(t *testing.T) {
	p := mustNew(t, Config{})
	wire := func(t *testing.T, ev Event) Event {
		t.Helper()
		data, err := Marshal(ev, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		back, rejected, err := Decode(data, Limits{})
		if err != nil || len(rejected) > 0 {
			t.Fatalf("%s: %v, rejected %v", data, err, rejected)
		}
		return back
	}
	for _, c := range characters {
		t.Run(c.name, func(t *testing.T) {
			id := c.text != "" && len(c.text) <= graphstore.MaxIDBytes && strings.IndexFunc(c.text, unicode.IsControl) < 0
			name := NormalizeName(c.text) != ""
			view := graphstore.NewSnapshot(mustSpace(t, "u"))
			step := func(data Data) {
				t.Helper()
				n := int64(view.Digest().Records() + 10)
				view, _ = apply(t, p, view, wire(t, event(t, fmt.Sprint("e", n), n, data)))
			}
			if id {
				step(written(of(c.text, add("mine")), of(c.text+"'", add("other")), of("x"+c.text, add("prefixed"))))
				step(SourceRetracted{SourceID: c.text})
				if got, want := states(view), map[string]graphstore.State{"mine": 4, "other": 1, "prefixed": 1}; !cmp.Equal(got, want) {
					t.Errorf("%v after the retraction: want mine deleted alone", got)
				}
				if tomb, ok := view.Tombstone(c.text); !ok || tomb.Source != c.text {
					t.Errorf("tombstone %+v, %t", tomb, ok)
				}
				step(SchemaUpserted{SchemaID: c.text, Level: graphstore.LevelSchema, Title: "t" + c.text, Evidence: []string{c.text, "other"}})
				if s, ok := view.Schema(c.text); !ok || s.Title != "t"+c.text || len(view.Evidence(c.text)) != 2 || !view.HasRef(c.text) {
					t.Errorf("schema %+v, %t, evidence %+v", s, ok, view.Evidence(c.text))
				}
				step(SchemaDeleted{SchemaID: c.text})
				if s, _ := view.Schema(c.text); !s.Deleted || view.HasRef(c.text) {
					t.Errorf("schema %+v, ref %t: want a tombstone and no ref", s, view.HasRef(c.text))
				}
			}
			if name {
				step(EntityMerged{Kept: EntityName{Name: c.text}, Merged: person(c.text), Evidence: c.text})
				step(written(mentionsPerson("m", c.text)))
				rows := view.Merges()
				if len(rows) != 1 || rows[0].Evidence != c.text || rows[0].KeptName != strings.TrimSpace(c.text) {
					t.Fatalf("log %+v", rows)
				}
				m, _ := view.Node("m")
				for b := range view.Bridges(m) {
					if info := view.BridgeInfo(b); info.ID != rows[0].Kept || info.Degree != 1 {
						t.Errorf("the mention leads to %+v: want %s", info, rows[0].Kept)
					}
				}
				step(EntityUnmerged{Kept: EntityName{Name: c.text}, Merged: person(c.text)})
				for b := range view.Bridges(m) {
					if info := view.BridgeInfo(b); info.ID != rows[0].Merged {
						t.Errorf("the mention leads to %+v: want %s", info, rows[0].Merged)
					}
				}
			}
			if !id && !name {
				for _, data := range []Data{SourceRetracted{SourceID: c.text}, SchemaDeleted{SchemaID: c.text}, EntityAliased{Entity: person("a"), Alias: c.text}} {
					if _, err := p.Plan(view, event(t, "e", 1, data)); err == nil {
						t.Errorf("%T of %q is planned", data, c.text)
					}
				}
			}
		})
	}
}

// Users share ids of everything; a retraction, a forgetting or a decision of one is nobody else's, and one without a
// user, or for another's graph, is refused.
func TestTenants(t *testing.T) {
	p := mustNew(t, Config{TemporalSpine: true})
	ann, bob := mustSpace(t, "ann"), mustSpace(t, "bob")
	facts := written(of("doc", FactWrite{ID: "a", Op: OpAdd, MemoryAt: Some(at("2026-01-01T00:00:00Z")), Entities: Some([]EntityRef{{Name: "Asha", Type: "person"}})}),
		of("doc", FactWrite{ID: "b", Op: OpAdd, MemoryAt: Some(at("2026-01-02T00:00:00Z"))}))
	views := map[graphstore.Space]*graphstore.Snapshot{}
	for _, space := range []graphstore.Space{ann, bob} {
		views[space], _ = apply(t, p, graphstore.NewSnapshot(space), Event{ID: "e1", Space: space, Time: 10, Data: FactsWritten{BatchID: "shared", Facts: facts.Facts}})
		views[space], _ = apply(t, p, views[space], Event{ID: "e2", Space: space, Time: 11, Data: schema("s", "a")})
	}
	before := views[bob].Digest()
	for i, data := range []Data{SourceRetracted{SourceID: "doc"}, EntityAliased{Entity: person("Asha"), Alias: "Ash"}, SchemaDeleted{SchemaID: "s"}, UserForgotten{}} {
		ev := Event{ID: fmt.Sprint("x", i), Space: ann, Time: graphstore.Instant(20 + i), Data: data}
		var planned Planned
		if views[ann], planned = apply(t, p, views[ann], ev); len(planned.Changes) == 0 {
			t.Errorf("%T changes nothing", data)
		}
		for _, c := range planned.Changes {
			if c.Space != ann {
				t.Errorf("%T of ann changes %s of %s", data, c.Key(), c.Space)
			}
		}
		if _, err := p.Plan(views[bob], ev); err == nil {
			t.Errorf("%T of ann is planned against bob's graph", data)
		}
		ev.Space = graphstore.Space{}
		if _, err := p.Plan(views[bob], ev); err == nil {
			t.Errorf("%T of nobody is planned", data)
		}
	}
	if got := allRecords(views[ann]); len(got) != 1 || got[0].Tombstone == nil {
		t.Errorf("of ann is left: %v", got)
	}
	if views[bob].Digest() != before || views[bob].Present() != 2 {
		t.Error("bob's graph has changed")
	}
}

// Times are those of events: an event that withdraws needs one, and times before 1970 order as times do.
func TestTimesOfWithdrawals(t *testing.T) {
	p := mustNew(t, Config{})
	for _, data := range []Data{SourceRetracted{SourceID: "doc"}, UserForgotten{}} {
		if _, err := p.Plan(graphstore.NewSnapshot(mustSpace(t, "u")), Event{ID: "e", Space: mustSpace(t, "u"), Data: data}); err == nil || !strings.Contains(err.Error(), "time") {
			t.Errorf("%T without a time: %v: want an error that names it", data, err)
		}
	}
	for _, zone := range []string{"", "x"} {
		raw := `{"specversion":"1.0","id":"e","type":"memory.user.forgotten.v1","time":"2026-01-01T00:00:00` + zone + `","data":{"user_id":"u"}}`
		if _, _, err := Decode([]byte(raw), Limits{}); err == nil {
			t.Errorf("%s is accepted", raw)
		}
	}
	write := func(id string, us, version int64) Event {
		w := of("doc", add(id))
		w.Version = Some(version)
		return event(t, "e"+id, us, written(w))
	}
	events := []Event{write("at", -5, 0), write("after", -4, 1), write("later", 3, 2), retract(t, "r", -5, "doc")}
	inEveryOrder(t, p, events, func(t *testing.T, view *graphstore.Snapshot) {
		want := map[string]graphstore.State{"at": graphstore.StateDeleted, "after": graphstore.StateActive, "later": graphstore.StateActive}
		if diff := cmp.Diff(want, states(view)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
	events[3] = event(t, "f", -5, UserForgotten{})
	inEveryOrder(t, p, events, func(t *testing.T, view *graphstore.Snapshot) {
		if diff := cmp.Diff(map[string]graphstore.State{"after": graphstore.StateActive, "later": graphstore.StateActive}, states(view)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}
