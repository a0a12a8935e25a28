package eventdoc

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// schemaDialect is the version of JSON Schema.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// Events returns the schema of every event: the definitions of the types, each an event whole, and a choice between them
// by the member type.
func Events() (*Schema, error) {
	d := deriver{used: map[string]map[string]bool{}}
	top := &Schema{
		Dialect: schemaDialect, ID: "https://github.com/kithgraph/kith/docs/schema/" + EventsFile, Title: "Memory events",
		Description: "One event, with the attribute names of CloudEvents 1.0. Unknown members are ignored, wherever they stand. " +
			"What a schema cannot say is in README.md beside it.",
		Type: kinds{"object"}, Required: []string{"type"},
	}
	typ := &Schema{Type: kinds{"string"}}
	var types Members
	for _, e := range contract() {
		name := string(e.data.Type())
		event, data, err := d.event(e)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", name, err)
		}
		types = append(types, Member{name, event}, Member{dataName(name), data})
		typ.Enum = append(typ.Enum, name)
		top.AllOf = append(top.AllOf, &Schema{
			If:   &Schema{Properties: Members{{"type", &Schema{Const: name}}}, Required: []string{"type"}},
			Then: &Schema{Ref: refTo(name)},
		})
	}
	if unused := d.unusedMembers(); len(unused) > 0 {
		return nil, fmt.Errorf("the table of members has some that no type has: %v", unused)
	}
	top.Properties = Members{{"type", typ}}
	top.Defs = append(types, d.defs...)
	return top, nil
}

func dataName(typ string) string { return typ + ".data" }

// event returns the schema of one type's event and of its data.
func (d *deriver) event(e eventType) (event, data *Schema, err error) {
	t := reflect.TypeOf(e.data)
	if data, err = d.object(t); err != nil {
		return nil, nil, err
	}
	user := anID.schema()
	user.Description = "The user whose memory it is. Nothing in an event touches another one's."
	data.Properties = append(Members{{"user_id", user}}, data.Properties...)
	data.Required = append([]string{"user_id"}, data.Required...)

	name := string(e.data.Type())
	example, err := example(e.data)
	if err != nil {
		return nil, nil, err
	}
	event = &Schema{
		Title: name, Description: e.meaning, Type: kinds{"object"},
		Properties: append(envelope(name), Member{"data", &Schema{Ref: refTo(dataName(name))}}),
		Required:   []string{"specversion", "id", "type", "data"},
		Examples:   []any{example},
	}
	requireTime(event, t)
	return event, data, nil
}

// envelope returns the attributes of an event. Their names are those of CloudEvents.
func envelope(typ string) Members {
	id := anID.schema()
	id.Description = "Unique over all producers. A repeat of an event with its id changes nothing."
	source := &Schema{Description: "The producer.", Type: kinds{"string", "null"}, MaxLength: graphstore.MaxIDBytes, Not: none(controlPattern)}
	at := timeSchema()
	at.Type, at.Description = orNull(at.Type), "When it happened: RFC 3339 with a zone. Required unless everything in data states its version."
	return Members{
		{"specversion", &Schema{Type: kinds{"string"}, Const: "1.0"}},
		{"id", id}, {"source", source}, {"type", &Schema{Type: kinds{"string"}, Const: typ}}, {"time", at},
	}
}

// requireTime says when an event may lack its time: if everything in its data that has a version states it.
func requireTime(event *Schema, t reflect.Type) {
	timed := &Schema{Required: []string{"time"}, Properties: Members{{"time", &Schema{Type: kinds{"string"}}}}}
	versioned := &Schema{Required: []string{"version"}, Properties: Members{{"version", &Schema{Type: kinds{"integer"}}}}}
	if _, ok := t.FieldByName("Version"); !ok {
		if t != reflect.TypeFor[projector.FactsWritten]() {
			event.Required = append(event.Required, "time")
			event.Properties.Get("time").Type = kinds{"string"}
			event.Properties.Get("time").Description = "When it happened: RFC 3339 with a zone."
			return
		}
		versioned = &Schema{Properties: Members{{"facts", &Schema{Items: versioned}}}}
	}
	event.AnyOf = []*Schema{timed, {Properties: Members{{"data", versioned}}}}
}

// example returns an event with this data as the Go producer writes it.
func example(data projector.Data) (json.RawMessage, error) {
	ev, err := projector.NewEvent("0f3c6a52-8c1d-4f0e-9a77-2b1d5e8f6c01", "memory-writer", exampleTime(), "ann", data)
	if err != nil {
		return nil, err
	}
	return projector.Marshal(ev, projector.Limits{})
}
