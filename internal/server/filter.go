package server

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// parseFilter reads the filter of a request: per field a value, a list of values, or an object {from, to} of times.
func parseFilter(raw map[string]any) (vdb.Filter, error) {
	var f vdb.Filter
	for _, field := range slices.Sorted(maps.Keys(raw)) {
		path := "filter." + field
		switch v := raw[field].(type) {
		case map[string]any:
			r, err := parseRange(path, field, v)
			if err != nil {
				return vdb.Filter{}, err
			}
			f.Range = append(f.Range, r)
		case []any:
			m := vdb.FieldMatch{Field: field}
			for i, item := range v {
				text, err := filterValue(fmt.Sprintf("%s[%d]", path, i), item)
				if err != nil {
					return vdb.Filter{}, err
				}
				m.Any = append(m.Any, text)
			}
			f.Match = append(f.Match, m)
		default:
			text, err := filterValue(path, v)
			if err != nil {
				return vdb.Filter{}, err
			}
			f.Match = append(f.Match, vdb.FieldMatch{Field: field, Any: []string{text}})
		}
	}
	return f, nil
}

func filterValue(path string, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10), nil
		}
		return "", fmt.Errorf("%s: %v: want a string, an integer or a boolean", path, v)
	default:
		return "", fmt.Errorf("%s: %v: want a string, an integer or a boolean", path, v)
	}
}

func parseRange(path, field string, raw map[string]any) (vdb.TimeRange, error) {
	r := vdb.TimeRange{Field: field}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		text, ok := raw[key].(string)
		if !ok {
			return r, fmt.Errorf("%s.%s: %v: want a time as a string", path, key, raw[key])
		}
		var at graphstore.Instant
		if err := at.UnmarshalText([]byte(text)); err != nil {
			return r, fieldError(path+"."+key, err)
		}
		switch key {
		case "from":
			r.From = at.Time()
		case "to":
			r.To = at.Time()
		default:
			return r, fmt.Errorf("%s.%s: want from or to", path, key)
		}
	}
	if r.From.IsZero() && r.To.IsZero() {
		return r, fmt.Errorf("%s: {}: want from, to or both", path)
	}
	return r, nil
}

func fieldError(field string, err error) error { return fmt.Errorf("%s: %w", field, err) }
