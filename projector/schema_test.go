package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func schema(id string, evidence ...string) SchemaUpserted {
	return SchemaUpserted{SchemaID: id, Level: graphstore.LevelSchema, Title: "about " + id, Evidence: evidence}
}

// evidence returns what each schema cites, as "schema: fact" or "schema: ref fact", and the refs that there are.
func evidence(view *graphstore.Snapshot) map[string]bool {
	all := map[string]bool{}
	for c := range view.Records() {
		switch {
		case c.Ref != nil:
			all["ref "+c.Ref.ID] = true
		case c.Edge != nil && c.Edge.Type == graphstore.DerivedFrom:
			all[c.Edge.Source+": "+c.Edge.Target] = true
		case c.Edge != nil && c.Edge.Type == graphstore.DerivedFromRef:
			all[c.Edge.Source+": ref "+c.Edge.Target] = true
		}
	}
	return all
}

// Evidence leads to the fact while it is in memory and to a ref in its place while it is not, whatever came first. Each
// case is looked at in every order of its events.
func TestEvidenceFollowsItsFact(t *testing.T) {
	const uuid, braced = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "{5C56C793-69F3-4FBF-87E6-C4BF54C28C26}"
	ev := func(id string, us int64, data Data) Event { return event(t, id, us, data) }
	cites := ev("s", 1, schema("s", "f"))
	type want map[string]bool
	tests := []struct {
		name   string
		events []Event
		want   want
	}{
		{"nobody has written it", []Event{cites}, want{"s: ref f": true, "ref f": true}},
		{"written", []Event{cites, ev("e1", 10, written(add("f")))}, want{"s: f": true}},
		{"a relation names it, nobody has written it", []Event{cites, ev("e1", 10, written(related("a", RelationRef{To: "f"})))}, want{"s: ref f": true, "ref f": true}},
		{"superseded facts are in memory", []Event{cites, ev("e1", 10, written(add("f"))), ev("e2", 11, FactSuperseded{FactID: "f"})}, want{"s: f": true}},
		{"shadowed ones too", []Event{cites, ev("e1", 10, written(add("f"))), ev("e2", 11, FactShadowed{FactID: "f"})}, want{"s: f": true}},
		{"deleted", []Event{cites, ev("e1", 10, written(add("f"))), ev("e2", 11, FactDeleted{FactID: "f"})}, want{"s: ref f": true, "ref f": true}},
		{"deleted and back", []Event{cites, ev("e1", 10, written(add("f"))), ev("e2", 11, FactDeleted{FactID: "f"}), ev("e3", 12, written(add("f")))}, want{"s: f": true}},
		{"its source is retracted", []Event{cites, ev("e1", 10, written(of("doc", add("f")))), retract(t, "r", 11, "doc")}, want{"s: ref f": true, "ref f": true}},
		{"and it is said again", []Event{cites, ev("e1", 10, written(of("doc", add("f")))), retract(t, "r", 11, "doc"), ev("e3", 12, written(add("f")))}, want{"s: f": true}},
		{"two schemas, one deleted", []Event{cites, ev("t", 2, schema("t", "f")), ev("e1", 10, SchemaDeleted{SchemaID: "s"})}, want{"t: ref f": true, "ref f": true}},
		{"a newer version states other evidence", []Event{cites, ev("s2", 2, schema("s", "g")), ev("e1", 10, written(add("f")))}, want{"s: ref g": true, "ref g": true}},
		{"and none", []Event{cites, ev("s2", 2, schema("s"))}, want{}},
		{"deleted, and upserted again", []Event{cites, ev("d", 2, SchemaDeleted{SchemaID: "s"}), ev("s2", 3, schema("s", "g"))}, want{"s: ref g": true, "ref g": true}},
		{"upserted and deleted at one version: deleted", []Event{cites, ev("a", 1, SchemaDeleted{SchemaID: "s"})}, want{}},
		{"one fact in two spellings is one", []Event{ev("s", 1, schema("s", uuid, braced)), ev("e1", 10, written(add(braced)))}, want{"s: " + uuid: true}},
		{"a schema of a fact's id is not that fact", []Event{ev("s", 1, schema("f", "f")), ev("e1", 10, written(add("f"))), ev("e2", 11, FactDeleted{FactID: "f"})}, want{"f: ref f": true, "ref f": true}},
		{"the user is forgotten between", []Event{cites, ev("e1", 10, written(add("f"))), ev("x", 20, UserForgotten{}), ev("s2", 30, schema("t", "f"))}, want{"t: ref f": true, "ref f": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{}), tt.events, func(t *testing.T, view *graphstore.Snapshot) {
				if diff := cmp.Diff(tt.want, want(evidence(view))); diff != "" {
					t.Errorf("evidence (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestSchemaRecords(t *testing.T) {
	p := mustNew(t, Config{})
	stamp := func(version int64, rank graphstore.Rank, id string, us int64) graphstore.Stamp {
		return graphstore.Stamp{Version: version, Rank: rank, EventID: id, At: graphstore.InstantOfMicros(us)}
	}
	versioned := schema("s")
	versioned.Version = Some[int64](7)
	view, report := project(t, p, event(t, "e1", 3, versioned), event(t, "e2", 99, SchemaDeleted{SchemaID: "t"}), event(t, "e3", 5, schema("t", "f")))
	want := []graphstore.Change{
		graphstore.PutSchema(view.Space(), graphstore.Schema{ID: "s", Level: "l6", Title: "about s", Stamp: stamp(7, graphstore.RankAdd, "e1", 3)}),
		graphstore.PutSchema(view.Space(), graphstore.Schema{ID: "t", Deleted: true, Stamp: stamp(99, graphstore.RankDeleted, "e2", 99)}),
	}
	if diff := cmp.Diff(want, allRecords(view), eventOptions); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if report.Schemas != 2 || report.Stale != 1 {
		t.Errorf("report %+v: want two schemas settled, one stale", report)
	}
	view, _ = project(t, p, event(t, "e1", 3, schema("s", "f", "g", "f")))
	by := graphstore.Asserter{Kind: graphstore.BySchema, ID: "s"}
	if got := view.Evidence("s"); len(got) != 2 || got[0].Weight != 1 || got[0].Asserter != by || got[0].Detail != "" {
		t.Errorf("evidence %+v: want two edges of weight 1 by the schema", got)
	}
}
