package projector

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// eventJSON returns an event of the type with the members of its data, user_id apart.
func eventJSON(typ Type, data string) string {
	if data != "" {
		data = "," + data
	}
	return fmt.Sprintf(`{"specversion":"1.0","id":"e1","type":%q,"time":"2026-01-01T00:00:00Z","data":{"user_id":"u"%s}}`, typ, data)
}

// Each type arrives as the contract writes it, and goes back to the same event.
func TestDecodeReadsEveryType(t *testing.T) {
	why := strings.Repeat("é", 1000) // 2,000 bytes
	tests := []struct {
		typ  Type
		data string
		want Data
	}{
		{TypeSourceRetracted, `"source_id":"msg-88"`, SourceRetracted{SourceID: "msg-88"}},
		{TypeSourceRetracted, `"source_id":88`, SourceRetracted{SourceID: "88"}},
		{TypeUserForgotten, ``, UserForgotten{}},
		{TypeUserForgotten, `"source_id":"ignored"`, UserForgotten{}},
		{TypeEntityAliased, `"entity":{"name":"Asha Rao","type":"person"},"alias":"Ash","version":3,"evidence":"said so"`,
			EntityAliased{Entity: EntityName{"Asha Rao", "person"}, Alias: "Ash", Version: Some[int64](3), Evidence: "said so"}},
		{TypeEntityAliased, `"entity":{"name":"Asha Rao","type":null},"alias":"asha rao","version":null,"evidence":null`,
			EntityAliased{Entity: EntityName{Name: "Asha Rao"}, Alias: "asha rao"}},
		{TypeEntityMerged, `"kept":{"name":"Asha Rao","type":"person"},"merged":{"name":"Asha","type":"person"},"evidence":"` + why + `"`,
			EntityMerged{Kept: EntityName{"Asha Rao", "person"}, Merged: EntityName{"Asha", "person"}, Evidence: why}},
		{TypeEntityMerged, `"kept":{"name":"Asha","type":"person"},"merged":{"name":"Asha"}`, // a thing of that name
			EntityMerged{Kept: EntityName{"Asha", "person"}, Merged: EntityName{Name: "Asha"}}},
		{TypeEntityUnmerged, `"kept":{"name":"Apple","type":"organization"},"merged":{"name":"apple","type":"thing"},"version":0`,
			EntityUnmerged{Kept: EntityName{"Apple", "organization"}, Merged: EntityName{"apple", "thing"}, Version: Some[int64](0)}},
		{TypeEntityRetyped, `"entity":{"name":"Kith"},"to":"project"`, EntityRetyped{Entity: EntityName{Name: "Kith"}, To: "project"}},
		{TypeEntityRetyped, `"entity":{"name":"Kith","type":"project"},"to":"starship"`, // folds to thing when planned
			EntityRetyped{Entity: EntityName{"Kith", "project"}, To: "starship"}},
		{TypeSchemaUpserted, `"schema_id":"s1","level":"l6","title":"Moves for work","evidence":["f1",2,"f1"],"version":7`,
			SchemaUpserted{SchemaID: "s1", Level: "l6", Title: "Moves for work", Evidence: []string{"f1", "2", "f1"}, Version: Some[int64](7)}},
		{TypeSchemaUpserted, `"schema_id":-1,"level":"l6","title":"!","evidence":[]`, SchemaUpserted{SchemaID: "-1", Level: "l6", Title: "!"}},
		{TypeSchemaDeleted, `"schema_id":"s1"`, SchemaDeleted{SchemaID: "s1"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.typ), func(t *testing.T) {
			ev, rejected, err := Decode([]byte(eventJSON(tt.typ, tt.data)), Limits{})
			if err != nil || len(rejected) > 0 {
				t.Fatalf("Decode: %v, rejected %v", err, rejected)
			}
			want := Event{ID: "e1", Time: at("2026-01-01T00:00:00Z"), Space: mustSpace(t, "u"), Data: tt.want}
			if diff := cmp.Diff(want, ev, eventOptions); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if ev.Type() != tt.typ {
				t.Errorf("type %s: want %s", ev.Type(), tt.typ)
			}
			made, err := NewEvent("e1", "", ev.Time.Time(), "u", tt.want)
			if err != nil {
				t.Fatal(err)
			}
			data, err := Marshal(made, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			again, rejected, err := Decode(data, Limits{})
			if err != nil || len(rejected) > 0 {
				t.Fatalf("Decode %s: %v, rejected %v", data, err, rejected)
			}
			if diff := cmp.Diff(want, again, eventOptions); diff != "" {
				t.Errorf("%s (-want +got):\n%s", data, diff)
			}
		})
	}
}

func TestDecodeRefusesBadDecisions(t *testing.T) {
	long := strings.Repeat("x", 600)
	entity := `"entity":{"name":"Asha"}`
	schema := `"schema_id":"s","level":"l6","title":"t","evidence":[]`
	without := func(from, key string) string { // the schema with a member of another name
		return strings.Replace(from, `"`+key+`"`, `"x"`, 1)
	}
	tests := []struct {
		name string
		typ  Type
		data string
		want []string // parts of the error: path, value, rule
	}{
		{"source missing", TypeSourceRetracted, ``, []string{"data.source_id is missing"}},
		{"source null", TypeSourceRetracted, `"source_id":null`, []string{"data.source_id is null: want a string or an integer"}},
		{"source empty", TypeSourceRetracted, `"source_id":""`, []string{`data.source_id "" is empty: want 1 to 512 bytes`}},
		{"source too long", TypeSourceRetracted, `"source_id":"` + long + `"`, []string{"data.source_id", "600 bytes"}},
		{"sources as a list", TypeSourceRetracted, `"source_id":["a"]`, []string{"data.source_id is an array"}},
		{"entity missing", TypeEntityAliased, `"alias":"a"`, []string{"data.entity is missing: want an object"}},
		{"entity a string", TypeEntityAliased, `"entity":"Asha","alias":"a"`, []string{`data.entity "Asha": want an object`}},
		{"entity null", TypeEntityRetyped, `"entity":null,"to":"person"`, []string{`data.entity is null: want an object`}},
		{"entity without name", TypeEntityAliased, `"entity":{},"alias":"a"`, []string{"data.entity.name is missing: want a string"}},
		{"entity name a number", TypeEntityAliased, `"entity":{"name":7},"alias":"a"`, []string{"data.entity.name 7: want a string"}},
		{"entity type a number", TypeEntityAliased, `"entity":{"name":"a","type":7},"alias":"a"`, []string{"data.entity.type 7: want a string"}},
		{"entity name blank", TypeEntityAliased, `"entity":{"name":" \u200b"},"alias":"a"`, []string{"data.entity.name", "no visible character"}},
		{"alias missing", TypeEntityAliased, entity, []string{"data.alias is missing: want a string"}},
		{"alias null", TypeEntityAliased, entity + `,"alias":null`, []string{"data.alias is null: want a string"}},
		{"alias blank", TypeEntityAliased, entity + `,"alias":"\u200e"`, []string{"data.alias", "no visible character: want one at least"}},
		{"alias a list", TypeEntityAliased, entity + `,"alias":["a"]`, []string{"data.alias is an array"}},
		{"evidence a list", TypeEntityAliased, entity + `,"alias":"a","evidence":["f"]`, []string{"data.evidence is an array: want a string"}},
		{"evidence too long", TypeEntityAliased, entity + `,"alias":"a","evidence":"` + strings.Repeat("é", 1000) + `x"`, []string{"data.evidence", "has 2001 bytes: want at most 2000"}},
		{"decision with negative version", TypeEntityAliased, entity + `,"alias":"a","version":-1`, []string{"data.version -1: want 0 or more"}},
		{"decision with version text", TypeEntityRetyped, entity + `,"to":"person","version":"1"`, []string{`data.version "1": want an integer`}},
		{"kept missing", TypeEntityMerged, `"merged":{"name":"a"}`, []string{"data.kept is missing"}},
		{"merged missing", TypeEntityMerged, `"kept":{"name":"a"}`, []string{"data.merged is missing"}},
		{"kept blank", TypeEntityUnmerged, `"kept":{"name":""},"merged":{"name":"a"}`, []string{`data.kept.name ""`, "no visible character"}},
		{"merged blank", TypeEntityUnmerged, `"kept":{"name":"a"},"merged":{"name":"\n"}`, []string{`data.merged.name "\n"`}},
		{"merged with itself", TypeEntityMerged, `"kept":{"name":"Asha Rao","type":"person"},"merged":{"name":"asha-rao","type":" Person"}`,
			[]string{`data.merged "asha-rao" is the kept entity itself`}},
		{"merged with itself, composed and not", TypeEntityMerged, `"kept":{"name":"Zu\u0308rich","type":"place"},"merged":{"name":"Zürich","type":"place"}`,
			[]string{`data.merged "Zürich" is the kept entity itself`}},
		{"unmerged from itself, no type and thing", TypeEntityUnmerged, `"kept":{"name":"a"},"merged":{"name":"A","type":"thing"}`, []string{`data.merged "A" is the kept`}},
		{"to missing", TypeEntityRetyped, entity, []string{"data.to is missing"}},
		{"to blank", TypeEntityRetyped, entity + `,"to":" "`, []string{`data.to " " has no visible character`}},
		{"to the same", TypeEntityRetyped, `"entity":{"name":"a","type":"Person"},"to":"person "`, []string{`data.to "person " is the type the entity has`}},
		{"thing to thing", TypeEntityRetyped, entity + `,"to":"Thing"`, []string{`data.to "Thing" is the type the entity has`}},
		{"schema id missing", TypeSchemaUpserted, without(schema, "schema_id"), []string{"data.schema_id is missing"}},
		{"schema id with a tab", TypeSchemaUpserted, strings.Replace(schema, `"s"`, `"a\tb"`, 1), []string{`data.schema_id "a\tb" has a control character`}},
		{"level missing", TypeSchemaUpserted, without(schema, "level"), []string{"data.level is missing"}},
		{"level other", TypeSchemaUpserted, strings.Replace(schema, "l6", "L6", 1), []string{`data.level "L6": want "l6"`}},
		{"title missing", TypeSchemaUpserted, without(schema, "title"), []string{"data.title is missing"}},
		{"title blank", TypeSchemaUpserted, strings.Replace(schema, `"t"`, `"\t"`, 1), []string{`data.title "\t" has no visible character`}},
		{"evidence missing", TypeSchemaUpserted, without(schema, "evidence"), []string{"data.evidence is missing: want an array"}},
		{"evidence null", TypeSchemaUpserted, strings.Replace(schema, `[]`, `null`, 1), []string{"data.evidence is null: want an array"}},
		{"evidence of text", TypeSchemaUpserted, strings.Replace(schema, `[]`, `"f"`, 1), []string{`data.evidence "f": want an array`}},
		{"evidence item null", TypeSchemaUpserted, strings.Replace(schema, `[]`, `["f",null]`, 1), []string{`data.evidence[1] is null: want a string or an integer`}},
		{"evidence item empty", TypeSchemaUpserted, strings.Replace(schema, `[]`, `["f",""]`, 1), []string{`data.evidence[1] "" is empty`}},
		{"evidence of too many", TypeSchemaUpserted, strings.Replace(schema, `[]`, "["+strings.Repeat("1,", 1000)+"1]", 1), []string{"data.evidence has 1001 facts: want at most 1000"}},
		{"schema version fraction", TypeSchemaUpserted, schema + `,"version":.5`, []string{"not JSON"}},
		{"deleted schema without id", TypeSchemaDeleted, `"id":"s"`, []string{"data.schema_id is missing"}},
		{"deleted schema, version negative", TypeSchemaDeleted, `"schema_id":"s","version":-9`, []string{"data.version -9: want 0 or more"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Decode([]byte(eventJSON(tt.typ, tt.data)), Limits{})
			var fe *FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("error %v: want a *FieldError", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q: want %q in it", err, part)
				}
			}
			if len(err.Error()) > 300 {
				t.Errorf("error of %d bytes: the value is not shortened", len(err.Error()))
			}
		})
	}
}

// What withdraws all that is not later than itself says nothing without its time; a version does not make up for it.
func TestWithdrawalsNeedTheirTime(t *testing.T) {
	for _, data := range []Data{SourceRetracted{SourceID: "s"}, UserForgotten{}} {
		source := eventJSON(data.Type(), `"source_id":"s","version":3`)
		_, _, err := Decode([]byte(strings.Replace(source, `"time":"2026-01-01T00:00:00Z",`, ``, 1)), Limits{})
		if err == nil || !strings.HasPrefix(err.Error(), "time is missing") {
			t.Errorf("%s: error %v: want that the time is missing", data.Type(), err)
		}
		ev := Event{ID: "e", Space: mustSpace(t, "u"), Data: data}
		if err := ev.Validate(); err == nil || !strings.HasPrefix(err.Error(), "time is missing") {
			t.Errorf("%s made in Go: error %v: want that the time is missing", data.Type(), err)
		}
		ev.Time = graphstore.InstantOfMicros(-1) // the last microsecond before 1970 is a time like any other
		if err := ev.Validate(); err != nil {
			t.Errorf("%s of 1969: %v", data.Type(), err)
		}
	}
	for _, data := range []Data{EntityAliased{Entity: EntityName{Name: "a"}, Alias: "b"}, SchemaDeleted{SchemaID: "s"}} {
		if err := (Event{ID: "e", Space: mustSpace(t, "u"), Data: data}).Validate(); err == nil ||
			!strings.HasPrefix(err.Error(), "data.version is missing and so is the event's time") {
			t.Errorf("%s: error %v: want that version and time are missing", data.Type(), err)
		}
	}
}

func TestMarshalRefusesTooMuchEvidence(t *testing.T) {
	ev := event(t, "e", 1, SchemaUpserted{SchemaID: "s", Level: "l6", Title: "t", Evidence: []string{"a", "b"}})
	if _, err := Marshal(ev, Limits{MaxFacts: 1}); err == nil || !strings.Contains(err.Error(), "data.evidence has 2 facts: want at most 1") {
		t.Errorf("error %v", err)
	}
	if _, err := Marshal(ev, Limits{MaxFacts: 2}); err != nil {
		t.Error(err)
	}
}
