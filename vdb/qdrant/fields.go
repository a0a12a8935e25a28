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

// fieldMap is where the payload keeps each of kith's fields.
type fieldMap map[string]path

// newFieldMap completes the configured map with every field at its own name. Two fields in one place, or one inside the
// other, would overwrite one another.
func newFieldMap(configured map[string]string) (fieldMap, error) {
	var errs []error
	m := fieldMap{}
	for _, field := range vdb.Fields() {
		m[field] = path{field}
	}
	for _, field := range slices.Sorted(maps.Keys(configured)) {
		p, err := parsePath(configured[field])
		switch {
		case m[field] == nil:
			errs = append(errs, fmt.Errorf("fields: %s is no field: want one of %v", graphstore.Shorten(field), vdb.Fields()))
		case err != nil:
			errs = append(errs, fmt.Errorf("fields: %s: %w", field, err))
		default:
			m[field] = p
		}
	}
	fields := vdb.Fields()
	for i, a := range fields {
		if m[a].covers(path{idField}) || m[a][0] == idField {
			errs = append(errs, fmt.Errorf("fields: %s: path %s is reserved", a, m[a]))
		}
		for _, b := range fields[i+1:] {
			if m[a].covers(m[b]) || m[b].covers(m[a]) {
				errs = append(errs, fmt.Errorf("fields: %s at %s and %s at %s are in one another's way", a, m[a], b, m[b]))
			}
		}
	}
	return m, errors.Join(errs...)
}

// at returns the path of a field of kith's or, for any other name, of the payload's top-level field of that name.
func (m fieldMap) at(field string) path {
	if p, ok := m[field]; ok {
		return p
	}
	return path{field}
}
