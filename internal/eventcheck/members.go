package eventcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/eventdoc"
)

// otherAttributes are those of CloudEvents and its extensions that producers set and kith ignores.
var otherAttributes = []string{"datacontenttype", "dataschema", "dataref", "subject", "traceparent", "tracestate", "partitionkey",
	"sequence", "sequencetype", "sampledrate", "expirytime", "severitytext", "severitynumber"}

// unknownMembers warns of members that kith ignores: every one below data, and those at the top that look like a slip.
// CloudEvents leaves the top open for extensions.
func (e *checking) unknownMembers() {
	typ, _ := e.doc["type"].(string)
	event := e.schema.Defs.Get(typ)
	if event == nil {
		return
	}
	known := names(event.Properties)
	data := e.resolve(event.Properties.Get("data"))
	for _, key := range slices.Sorted(maps.Keys(e.doc)) {
		switch {
		case slices.Contains(known, key) || slices.Contains(otherAttributes, key):
		case data.Properties.Get(key) != nil:
			e.say(Warning, key, "is not read here: it is ignored", "it belongs into data: data."+key)
		default:
			if near := nearest(key, known, 2); near != "" {
				e.say(Warning, at("", key), "is not an attribute that kith knows: it is ignored", didYouMean(near))
			}
		}
	}
	e.walk("data", "the data of "+typ, data, e.doc["data"])
}

// walk warns of the unknown members of a value and of what it holds.
func (e *checking) walk(path, what string, schema *eventdoc.Schema, value any) {
	if schema = e.resolve(schema); schema == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			member := schema.Properties.Get(key)
			if member == nil && schema.AdditionalProperties == nil {
				e.say(Warning, at(path, key), "is not a member of "+what+": it is ignored", e.strange(path, key, schema))
			}
			e.walk(at(path, key), objectName(member), member, value[key])
		}
	case []any:
		for i, item := range value {
			e.walk(fmt.Sprintf("%s[%d]", path, i), objectName(schema.Items), schema.Items, item)
		}
	}
}

// strange returns what to do about a member that is not known.
func (e *checking) strange(path, key string, schema *eventdoc.Schema) string {
	if near := nearest(key, names(schema.Properties), 3); near != "" {
		return didYouMean(near)
	}
	typ, _ := e.doc["type"].(string)
	event := e.schema.Defs.Get(typ)
	switch {
	case path != "data" && e.resolve(event.Properties.Get("data")).Properties.Get(key) != nil:
		return "only data." + key + " counts"
	case event.Properties.Get(key) != nil:
		return "only " + key + " at the top of the event counts"
	default:
		return ""
	}
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

func names(members eventdoc.Members) []string {
	var list []string
	for _, m := range members {
		list = append(list, m.Name)
	}
	return list
}

// resolve follows a reference to a definition.
func (e *checking) resolve(schema *eventdoc.Schema) *eventdoc.Schema {
	if schema == nil || schema.Ref == "" {
		return schema
	}
	return e.schema.Defs.Get(definition(schema))
}

func definition(schema *eventdoc.Schema) string {
	return schema.Ref[strings.LastIndex(schema.Ref, "/")+1:]
}

// objectName returns what the objects of a schema are called.
func objectName(schema *eventdoc.Schema) string {
	if schema == nil || schema.Ref == "" {
		return "this object"
	}
	name := strings.ReplaceAll(definition(schema), "_", " ")
	if strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// at returns the path of a member.
func at(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return strings.ContainsRune(`.[]"`, r) || r <= ' ' }) {
		key = "[" + graphstore.Shorten(key) + "]"
		return path + key
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
