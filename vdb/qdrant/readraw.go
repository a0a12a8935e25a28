package qdrant

import (
	"fmt"
	"maps"

	"github.com/kithgraph/kith/vdb"
)

// ReadRaw reads points of a sample as facts, under a mapping of fields as in [Config.Fields], exactly as a scroll of a store
// with that mapping does. The points are not changed. The error is of the mapping.
func (s *Store) ReadRaw(points []vdb.RawPoint, fields map[string]string) ([]vdb.Reading, error) {
	m, err := newFieldMap(fields)
	if err != nil {
		return nil, fmt.Errorf("read sample: %w", err)
	}
	out := make([]vdb.Reading, len(points))
	for i, p := range points {
		out[i] = m.reading(p)
	}
	return out, nil
}

func (m fieldMap) reading(p vdb.RawPoint) vdb.Reading {
	out := vdb.Reading{Values: map[string]any{}}
	at := m.paths[vdb.FieldUserID]
	object := cloneObject(p.Payload)
	switch user, ok := at.take(object); {
	case !ok:
		out.Skipped = fmt.Sprintf("point %s: no user id at %s", p.ID, at)
	default:
		space, err := decodeSpace(user)
		if err != nil {
			out.Skipped = fmt.Sprintf("point %s: %v, at %s: %s", p.ID, err, at, valueText(user))
		} else {
			out.Values[vdb.FieldUserID] = space.UserID()
		}
	}
	pay, unwanted := m.decodePayload(object)
	for _, field := range payloadFields {
		if v := readValue(pay, field); v != nil {
			out.Values[field] = v
		}
	}
	for _, misfit := range unwanted {
		out.Ignored = append(out.Ignored, misfit.text(p.ID))
	}
	return out
}

// readValue is a field of a payload, nil where it is absent.
func readValue(pay vdb.Payload, field string) any {
	if text := textField(&pay, field); text != nil && *text != "" {
		return *text
	}
	if at := timeField(&pay, field); at != nil && !at.IsZero() {
		return *at
	}
	switch {
	case field == vdb.FieldVersion && pay.Version != 0:
		return pay.Version
	case field == vdb.FieldTags && len(pay.Tags) > 0:
		return pay.Tags
	}
	return nil
}

// cloneObject copies an object and the objects in it, which reading takes fields out of.
func cloneObject(object map[string]any) map[string]any {
	out := maps.Clone(object)
	for key, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[key] = cloneObject(inner)
		}
	}
	if out == nil {
		return map[string]any{}
	}
	return out
}
