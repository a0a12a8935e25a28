package qdrant

import (
	"slices"
	"strconv"

	"github.com/kithgraph/kith/vdb"
)

// residual is the part of a filter that the server cannot check: conditions on payload fields whose names hold a quote or
// a back-slash, for which its path language has no spelling, and on a content inside a JSON text. It is checked here, on what the rest of the filter lets
// pass; a search then asks for more until it has enough.
type residual []vdb.FieldMatch

func (r residual) holds(p vdb.Payload) bool {
	for _, m := range r {
		value := p.Extra[m.Field]
		if m.Field == vdb.FieldContent && p.Content != "" {
			value = p.Content
		}
		if !slices.ContainsFunc(scalarTexts(value), func(text string) bool { return slices.Contains(m.Any, text) }) {
			return false
		}
	}
	return true
}

// scalarTexts returns the text of a scalar, or of each scalar of a list; a number counts if it is an integer.
func scalarTexts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case int64:
		return []string{strconv.FormatInt(v, 10)}
	case bool:
		return []string{strconv.FormatBool(v)}
	case []any:
		var texts []string
		for _, element := range v {
			if _, nested := element.([]any); !nested {
				texts = append(texts, scalarTexts(element)...)
			}
		}
		return texts
	default:
		return nil
	}
}
