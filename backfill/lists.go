package backfill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// readList reads a list of the payload, or one item that stands for a list of it. Items that cannot be read are counted and left out;
// a field that is not there, or has no item that can be read, is left out as a whole.
func readList[T any](r *Account, id, field string, extra map[string]any, read func(any) (T, error)) projector.Optional[[]T] {
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
		t, err := read(item)
		if err != nil {
			r.BadItems++
			r.problem(fmt.Sprintf("point %s: %s[%d]: %v", graphstore.Shorten(id), field, i, err))
			continue
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return projector.Optional[[]T]{}
	}
	return projector.Some(out)
}

// readEntity reads a name, or an object of name, type, aliases and ids.
func readEntity(v any) (projector.EntityRef, error) {
	switch v := v.(type) {
	case string:
		return projector.EntityRef{Name: v}, nil
	case map[string]any:
		name, ok := v["name"].(string)
		if !ok || name == "" {
			return projector.EntityRef{}, fmt.Errorf("no name: want a text")
		}
		ref := projector.EntityRef{Name: name}
		ref.Type, _ = v["type"].(string)
		if aliases, ok := v["aliases"].([]any); ok {
			for _, a := range aliases {
				if text, ok := a.(string); ok {
					ref.Aliases = append(ref.Aliases, text)
				}
			}
		}
		if ids, ok := v["ids"].(map[string]any); ok {
			for _, kind := range slices.Sorted(maps.Keys(ids)) {
				if value, ok := ids[kind].(string); ok {
					ref.IDs = append(ref.IDs, graphstore.HardID{Kind: kind, Value: value})
				}
			}
		}
		return ref, nil
	default:
		return projector.EntityRef{}, fmt.Errorf("%T: want a name or an object with one", v)
	}
}

// readRelation reads an object of to, type and weight, as events have it.
func readRelation(v any) (projector.RelationRef, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return projector.RelationRef{}, fmt.Errorf("%T: want an object with to, and maybe type and weight", v)
	}
	var ref projector.RelationRef
	switch to := object["to"].(type) {
	case string:
		ref.To = to
	case int64:
		ref.To = fmt.Sprint(to)
	case float64:
		ref.To = fmt.Sprintf("%.0f", to)
	}
	if err := graphstore.CheckID(ref.To); err != nil {
		return projector.RelationRef{}, fmt.Errorf("to: %w", err)
	}
	ref.Type, _ = object["type"].(string)
	if weight, ok := number(object["weight"]); ok {
		ref.Weight = projector.Some(weight)
	}
	return ref, nil
}
