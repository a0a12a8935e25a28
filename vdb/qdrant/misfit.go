package qdrant

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// misfit is a value that is not what its field wants and counts as absent.
type misfit struct {
	field string
	at    path
	value any
	rule  error // what the field wants
}

func (m misfit) text(point string) string {
	return fmt.Sprintf("point %s: %s at %s: %s: %v", graphstore.Shorten(point), m.field, m.at, valueText(m.value), m.rule)
}

// ignore adds a point's misfits to the page.
func ignore(page *vdb.Page, point string, unwanted []misfit) {
	page.Ignored += len(unwanted)
	for _, m := range unwanted {
		if len(page.IgnoredTexts) == vdb.MaxIgnoredTexts {
			return
		}
		page.IgnoredTexts = append(page.IgnoredTexts, m.text(point))
	}
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "fraction"
	case []any:
		return "list"
	default:
		return "object"
	}
}

// valueText is a value as JSON, shortened. Not all of a large one is looked at.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return graphstore.Shorten(v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return fmt.Sprintf("an object of %d", len(v))
	}
	data, err := json.Marshal(v)
	if err != nil { // NaN and the infinities
		return strings.TrimSpace(fmt.Sprint(v))
	}
	return string(data)
}
