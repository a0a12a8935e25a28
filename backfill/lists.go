package backfill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// readList reads a list of the payload, or one item that stands for a list of it. Items that cannot be read are counted and left out;
// a field that is not there, or has no item that can be read, is left out as a whole. at is where an item is.
func readList[T any](in reading, field string, extra map[string]any, read func(in reading, at string, v any) (T, error)) projector.Optional[[]T] {
	v, ok := extra[field]
	if !ok || v == nil {
		return projector.Optional[[]T]{}
	}
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	var out []T
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", field, i)
		t, err := read(in, at, item)
		if err != nil {
			in.account.BadItems++
			in.say(in.account.BadItems, "%s: %s: %v", at, exampleText(item), err)
			continue
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return projector.Optional[[]T]{}
	}
	return projector.Some(out)
}

// readEntity reads a name, or an object of name, type, aliases and ids. Parts of it that cannot be read are left out.
func readEntity(in reading, at string, v any) (projector.EntityRef, error) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return projector.EntityRef{}, errNoName
		}
		return projector.EntityRef{Name: v}, nil
	case map[string]any:
		name, ok := v["name"].(string)
		if !ok || name == "" {
			return projector.EntityRef{}, errNoName
		}
		return projector.EntityRef{Name: name, Type: in.part(at+".type", v["type"]), Aliases: in.aliases(at, v["aliases"]), IDs: in.hardIDs(at, v["ids"])}, nil
	default:
		return projector.EntityRef{}, errNoEntity
	}
}

// part reads a text that may be missing.
func (in reading) part(at string, v any) string {
	text, ok := v.(string)
	if !ok && v != nil {
		in.bad(at, v, errNoText)
	}
	return text
}

// aliases reads a list of names, or one.
func (in reading) aliases(at string, v any) (out []string) {
	list, isList := v.([]any)
	switch v := v.(type) {
	case nil, []any:
	case string:
		return []string{v}
	default:
		in.bad(at+".aliases", v, errNoTexts)
	}
	for i := 0; isList && i < len(list); i++ {
		if text := in.part(fmt.Sprintf("%s.aliases[%d]", at, i), list[i]); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func (in reading) hardIDs(at string, v any) (out []graphstore.HardID) {
	ids, ok := v.(map[string]any)
	if !ok && v != nil {
		in.bad(at+".ids", v, errNoIDs)
	}
	for _, kind := range slices.Sorted(maps.Keys(ids)) {
		value, ok := idText(ids[kind])
		switch {
		case !ok:
			in.bad(fmt.Sprintf("%s.ids.%s", at, graphstore.Shorten(kind)), ids[kind], errNoID)
		case value != "":
			out = append(out, graphstore.HardID{Kind: kind, Value: value})
		}
	}
	return out
}

// readRelation reads an object of to, type and weight, as events have it. A type or a weight that cannot be read is left out.
func readRelation(in reading, at string, v any) (projector.RelationRef, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return projector.RelationRef{}, errNoRelation
	}
	to, ok := idText(object["to"])
	if !ok || to == "" {
		return projector.RelationRef{}, errNoRelatedTo
	}
	ref := projector.RelationRef{To: to, Type: in.part(at+".type", object["type"])}
	weight, ok := number(object["weight"])
	switch {
	case ok:
		ref.Weight = projector.Some(weight)
	case object["weight"] != nil:
		in.bad(at+".weight", object["weight"], errNoNumber)
	}
	return ref, nil
}
