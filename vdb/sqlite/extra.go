package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
)

// The fields of Payload.Extra are kept as JSON in which numbers keep their kind: an integer has no point and no
// exponent, a float always has one.

// maxNesting is the greatest depth of lists and objects in each other. It also ends the walk through a value that holds
// itself.
const maxNesting = 200

// appendJSON appends a value as JSON; depth is the number of lists and objects around it. Its errors name what cannot be
// kept.
func appendJSON(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxNesting)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case float64:
		return appendFloat(dst, v)
	case string:
		return appendText(dst, v)
	case []any:
		return appendList(dst, v, depth+1)
	case map[string]any:
		return appendObject(dst, v, depth+1)
	default:
		return nil, fmt.Errorf("holds a %T: want string, float64, int64, bool, nil, []any or map[string]any", v)
	}
}

func appendFloat(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("holds %v: want a finite number", f)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst, nil
}

func appendText(dst []byte, s string) ([]byte, error) {
	if err := graphstore.CheckText(s); err != nil {
		return nil, fmt.Errorf("text %w", err)
	}
	text, err := json.Marshal(s)
	return append(dst, text...), err
}

func appendList(dst []byte, list []any, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, v, depth); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, object map[string]any, depth int) ([]byte, error) {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendText(dst, key); err != nil {
			return nil, fmt.Errorf("field name %w", err)
		}
		dst = append(dst, ':')
		if dst, err = appendJSON(dst, object[key], depth); err != nil {
			return nil, fmt.Errorf("field %s: %w", graphstore.Shorten(key), err)
		}
	}
	return append(dst, '}'), nil
}
