package qdrant

import (
	"errors"
	"fmt"
	"maps"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// encodePayload converts a point's payload, user id included, without the fact id. Absent fields are left out.
func (m fieldMap) encodePayload(p vdb.Point) (map[string]*pb.Value, error) {
	bad := func(err error) (map[string]*pb.Value, error) {
		return nil, fmt.Errorf("%w: point %s: payload %w", vdb.ErrBadPoint, graphstore.Shorten(p.ID), err)
	}
	if _, ok := p.Payload.Extra[idField]; ok {
		return bad(fmt.Errorf("field %q is reserved", idField))
	}
	object := maps.Clone(p.Payload.Extra)
	if object == nil {
		object = map[string]any{}
	}
	m.ownObjects(object)
	for _, field := range vdb.Fields() {
		v, err := fieldValue(p, field)
		if err != nil {
			return bad(fmt.Errorf("field %s: %w", field, err))
		}
		at := m.paths[field]
		if v != nil && at.insideJSON() {
			return bad(fmt.Errorf("field %s at %s lies inside a JSON text: it can only be read there", field, at))
		}
		if m.occupied(object, field) || (v != nil && !at.put(object, v)) {
			return bad(fmt.Errorf("field %s of the collection is kith's %s: extra cannot set it", at, field))
		}
	}
	out, err := encodeObject(object, 0)
	if err != nil {
		return bad(err)
	}
	return out, nil
}

// ownObjects replaces the objects that fields will be put into by copies: Extra belongs to the caller.
func (m fieldMap) ownObjects(object map[string]any) {
	for _, p := range m.paths {
		at := object
		for _, key := range p[:len(p)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				break
			}
			own := maps.Clone(inner)
			at[key] = own
			at = own
		}
	}
}

// occupied reports whether there is a value where an absent field would be read from.
func (m fieldMap) occupied(object map[string]any, field string) bool {
	p := m.paths[field]
	for _, key := range p[:len(p)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			return false
		}
		object = inner
	}
	_, ok := object[p[len(p)-1]]
	return ok
}

// fieldValue returns one field as JSON, nil where it is absent.
func fieldValue(p vdb.Point, field string) (any, error) {
	pay := p.Payload
	switch field {
	case vdb.FieldUserID:
		return p.Space.UserID(), nil
	case vdb.FieldVersion:
		if pay.Version == 0 {
			return nil, nil
		}
		return pay.Version, nil
	case vdb.FieldTags:
		if len(pay.Tags) == 0 {
			return nil, nil
		}
		tags := make([]any, len(pay.Tags))
		for i, tag := range pay.Tags {
			tags[i] = tag
		}
		return tags, nil
	}
	if text := textField(&pay, field); text != nil {
		if *text == "" {
			return nil, nil
		}
		return *text, nil
	}
	at := timeField(&pay, field)
	switch {
	case at == nil:
		return nil, errors.New("is not known to this driver")
	case at.IsZero():
		return nil, nil
	default:
		return encodeTime(*at)
	}
}
