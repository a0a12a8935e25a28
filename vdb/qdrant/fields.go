package qdrant

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// idField is the payload field that keeps a fact id which is not the point id. It is reserved.
const idField = "kith_id"

// fieldMap is where the payload keeps each of kith's fields, and what the numbers in its times are.
type fieldMap struct {
	paths map[string]path
	units map[string]vdb.TimeUnit // of time fields; what is not in it is found out per value
}

// newFieldMap completes the configured map with every field at its own name. Two fields in one place, or one inside the
// other, would overwrite one another.
func newFieldMap(configured map[string]string) (fieldMap, error) {
	var errs []error
	m := fieldMap{paths: map[string]path{}, units: map[string]vdb.TimeUnit{}}
	for _, field := range vdb.Fields() {
		m.paths[field] = path{field}
	}
	for _, field := range slices.Sorted(maps.Keys(configured)) {
		if err := m.configure(field, configured[field]); err != nil {
			errs = append(errs, fmt.Errorf("fields: %w", err))
		}
	}
	fields := vdb.Fields()
	for i, field := range fields {
		a := m.paths[field]
		if a.covers(path{idField}) || a[0] == idField {
			errs = append(errs, fmt.Errorf("fields: %s: path %s is reserved", field, a))
		}
		for _, other := range fields[i+1:] {
			if b := m.paths[other]; a.covers(b) || b.covers(a) {
				errs = append(errs, fmt.Errorf("fields: %s at %s and %s at %s are in one another's way", field, a, other, b))
			}
		}
	}
	return m, errors.Join(errs...)
}

// configure sets the place of one field: a path, with @ and a unit behind it for a time.
func (m fieldMap) configure(field, text string) error {
	if m.paths[field] == nil {
		return fmt.Errorf("%s is no field: want one of %v", graphstore.Shorten(field), vdb.Fields())
	}
	text, unit, err := vdb.CutTimeUnit(text)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if unit != vdb.TimeAuto && timeField(&vdb.Payload{}, field) == nil {
		return fmt.Errorf("%s: unit @%s: only times have one", field, unit)
	}
	p, err := parsePath(text)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if p.insideJSON() && field != vdb.FieldContent {
		return fmt.Errorf("%s: path %s: only content may lie inside a JSON text, the server does not look into it", field, p)
	}
	m.paths[field], m.units[field] = p, unit
	return nil
}

// at returns the path of a field of kith's or, for any other name, of the payload's top-level field of that name.
func (m fieldMap) at(field string) path {
	if p, ok := m.paths[field]; ok {
		return p
	}
	return path{field}
}
