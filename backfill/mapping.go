package backfill

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// MappedFields returns the names of all fields that a mapping can place: those of vdb, which a driver reads, and those
// beside them that a backfill reads.
func MappedFields() []string {
	return append(vdb.Fields(), extraFields...)
}

// extraFields are the fields that no driver knows; they are found in Payload.Extra.
var extraFields = []string{FieldUpdatedAt, FieldRecordedAt, FieldBatchSeq, FieldSupersededBy, FieldEntities, FieldRelations}

// Mapping says where a collection keeps what. The zero Mapping is [PresetKith] without exceptions.
type Mapping struct {
	// Preset is the name of the preset that it started from.
	Preset string
	// Fields is the driver's part, every field of vdb.Fields with its path, as in the driver's configuration.
	Fields map[string]string
	// Vector is the vector's name by the preset.
	Vector string

	extras []extraPlace
	words  map[string]map[string]string
	only   map[string][]string
}

// extraPlace is where a field is in Payload.Extra.
type extraPlace struct {
	field string
	at    vdb.Path
	unit  vdb.TimeUnit
}

// NewMapping starts from a preset, "" for [PresetKith], and replaces the places of explicit fields: of [MappedFields] to a
// path like metadata.user_id, with @s, @ms or @rfc3339 behind it where a time's numbers are to be read in one way only.
// Explicit places win: a field of the preset that is at the same place, or inside or around it, is no longer looked for
// there but at kith.FIELD. The error joins everything that is wrong.
func NewMapping(preset string, explicit map[string]string) (Mapping, error) {
	if preset == "" {
		preset = PresetKith
	}
	p, ok := presetNamed(preset)
	if !ok {
		return Mapping{}, fmt.Errorf("preset %s: want one of %s", graphstore.Shorten(preset), strings.Join(PresetNames(), ", "))
	}
	places, err := p.places(explicit)
	if err != nil {
		return Mapping{}, err
	}
	m := Mapping{Preset: p.Name, Vector: p.Vector, Fields: map[string]string{}, words: p.Words, only: p.Only}
	for _, field := range vdb.Fields() {
		m.Fields[field] = places[field]
	}
	for _, field := range extraFields {
		place, err := newExtraPlace(field, places[field])
		if err != nil {
			return Mapping{}, err
		}
		m.extras = append(m.extras, place)
	}
	return m, nil
}

func newExtraPlace(field, text string) (extraPlace, error) {
	path, unit, err := vdb.CutTimeUnit(text)
	if err != nil {
		return extraPlace{}, fmt.Errorf("fields: %s: %w", field, err)
	}
	if unit != vdb.TimeAuto && field != FieldUpdatedAt && field != FieldRecordedAt {
		return extraPlace{}, fmt.Errorf("fields: %s: unit @%s: only times have one", field, unit)
	}
	at, err := vdb.ParsePath(path)
	if err != nil {
		return extraPlace{}, fmt.Errorf("fields: %s: %w", field, err)
	}
	return extraPlace{field: field, at: at, unit: unit}, nil
}

// places joins the preset's places and the explicit ones.
func (p Preset) places(explicit map[string]string) (map[string]string, error) {
	places := map[string]string{}
	for _, field := range MappedFields() {
		places[field] = field
	}
	maps.Copy(places, p.Fields)
	taken := map[string]vdb.Path{}
	var errs []error
	for _, field := range slices.Sorted(maps.Keys(explicit)) {
		if places[field] == "" {
			errs = append(errs, fmt.Errorf("fields: %s is no field: want one of %v", graphstore.Shorten(field), MappedFields()))
			continue
		}
		at, err := placePath(explicit[field])
		if err != nil {
			errs = append(errs, fmt.Errorf("fields: %s: %w", field, err))
			continue
		}
		places[field], taken[field] = explicit[field], at
	}
	for field, place := range places {
		at, err := placePath(place)
		if err != nil || taken[field] != nil {
			continue // explicit ones are checked above, and against one another by the driver
		}
		for _, other := range taken {
			if overlap(at, other) {
				places[field] = "kith." + field
			}
		}
	}
	return places, errors.Join(errs...)
}

func placePath(text string) (vdb.Path, error) {
	path, _, err := vdb.CutTimeUnit(text)
	if err != nil {
		return nil, err
	}
	return vdb.ParsePath(path)
}

// overlap reports whether two paths are the same or one lies inside the other.
func overlap(a, b vdb.Path) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}
