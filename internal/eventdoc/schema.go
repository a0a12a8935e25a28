package eventdoc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Schema is the part of JSON Schema that the contract needs, its words in the order in which they are read best.
type Schema struct {
	Dialect              string    `json:"$schema,omitempty"`
	ID                   string    `json:"$id,omitempty"`
	Ref                  string    `json:"$ref,omitempty"`
	Title                string    `json:"title,omitempty"`
	Description          string    `json:"description,omitempty"`
	Type                 kinds     `json:"type,omitempty"`
	Const                string    `json:"const,omitempty"`
	Enum                 []string  `json:"enum,omitempty"`
	Format               string    `json:"format,omitempty"`
	Pattern              string    `json:"pattern,omitempty"`
	MinLength            int       `json:"minLength,omitempty"`
	MaxLength            int       `json:"maxLength,omitempty"`
	Minimum              *int64    `json:"minimum,omitempty"`
	Maximum              *int64    `json:"maximum,omitempty"`
	Items                *Schema   `json:"items,omitempty"`
	MaxItems             int       `json:"maxItems,omitempty"`
	Properties           Members   `json:"properties,omitempty"`
	Required             []string  `json:"required,omitempty"`
	PropertyNames        *Schema   `json:"propertyNames,omitempty"`
	AdditionalProperties *Schema   `json:"additionalProperties,omitempty"`
	Not                  *Schema   `json:"not,omitempty"`
	If                   *Schema   `json:"if,omitempty"`
	Then                 *Schema   `json:"then,omitempty"`
	AnyOf                []*Schema `json:"anyOf,omitempty"`
	AllOf                []*Schema `json:"allOf,omitempty"`
	Examples             []any     `json:"examples,omitempty"`
	Defs                 Members   `json:"$defs,omitempty"`
}

// kinds are the JSON types of a value.
type kinds []string

// MarshalJSON writes a single type as text, which every tool takes.
func (k kinds) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

// Members are named schemas in order.
type Members []Member

// Member is one of them.
type Member struct {
	Name   string
	Schema *Schema
}

// Get returns the schema of this name, or nil.
func (m Members) Get(name string) *Schema {
	for _, member := range m {
		if member.Name == name {
			return member.Schema
		}
	}
	return nil
}

// MarshalJSON writes an object that keeps the order.
func (m Members) MarshalJSON() ([]byte, error) {
	o := make(object, len(m))
	for i, member := range m {
		o[i] = entry{member.Name, member.Schema}
	}
	return o.MarshalJSON()
}

// object is a JSON object that keeps its order.
type object []entry

type entry struct {
	key   string
	value any
}

// MarshalJSON writes the entries in order.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for i, e := range o {
		out.WriteByte("{,"[min(i, 1)])
		key, err := encode(e.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(e.value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", e.key, err)
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	if len(o) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// encode writes a value without escaping what only HTML needs escaped.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// indented returns the text of a document's file.
func indented(v any) ([]byte, error) {
	compact, err := encode(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent document: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
