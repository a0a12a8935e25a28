package vdbtest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// clonePoint returns a deep copy with times as stores keep them: UTC, whole microseconds.
func clonePoint(p vdb.Point, withVector bool) vdb.Point {
	if withVector {
		p.Vector = slices.Clone(p.Vector)
	} else {
		p.Vector = nil
	}
	p.Payload.Tags = slices.Clone(p.Payload.Tags)
	if p.Payload.Extra != nil {
		p.Payload.Extra = cloneJSON(p.Payload.Extra).(map[string]any)
	}
	p.Payload.MemoryAt = graphstore.InstantOf(p.Payload.MemoryAt).Time()
	p.Payload.CreatedAt = graphstore.InstantOf(p.Payload.CreatedAt).Time()
	p.Payload.ValidFrom = graphstore.InstantOf(p.Payload.ValidFrom).Time()
	p.Payload.ValidTo = graphstore.InstantOf(p.Payload.ValidTo).Time()
	return p
}

func cloneJSON(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneJSON(e)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		for k, e := range out {
			out[k] = cloneJSON(e)
		}
		return out
	default:
		return v
	}
}

// checkJSON reports the first value that is not of the types Extra may hold.
func checkJSON(v any) error {
	switch v := v.(type) {
	case nil, string, int64, bool:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("holds %v: want a finite number", v)
		}
		return nil
	case []any:
		for _, e := range v {
			if err := checkJSON(e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := checkJSON(v[k]); err != nil {
				return fmt.Errorf("field %s: %w", graphstore.Shorten(k), err)
			}
		}
		return nil
	default:
		return fmt.Errorf("holds a %T: want string, float64, int64, bool, nil, []any or map[string]any", v)
	}
}
