package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// The fields of Payload.Extra are kept as JSON in which numbers keep their kind: an integer has no point and no
// exponent, a float always has one.

// appendJSON appends a value as JSON. Its errors name what cannot be kept.
func appendJSON(dst []byte, v any) ([]byte, error) {
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
		return appendList(dst, v)
	case map[string]any:
		return appendObject(dst, v)
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

func appendList(dst []byte, list []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, v); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, object map[string]any) ([]byte, error) {
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
		if dst, err = appendJSON(dst, object[key]); err != nil {
			return nil, fmt.Errorf("field %s: %w", graphstore.Shorten(key), err)
		}
	}
	return append(dst, '}'), nil
}

// parseExtra is the inverse of appendObject.
func parseExtra(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("read extra fields: %w", err)
	}
	return object, numbersIn(object)
}

// numbersIn replaces every json.Number inside a list or an object by the kind of number it was.
func numbersIn(v any) error {
	switch v := v.(type) {
	case []any:
		for i := range v {
			if err := replaceNumber(v[i], func(n any) { v[i] = n }); err != nil {
				return err
			}
		}
	case map[string]any:
		for key := range v {
			if err := replaceNumber(v[key], func(n any) { v[key] = n }); err != nil {
				return err
			}
		}
	}
	return nil
}

func replaceNumber(v any, set func(any)) error {
	number, ok := v.(json.Number)
	if !ok {
		return numbersIn(v)
	}
	var n any
	var err error
	if strings.ContainsAny(number.String(), ".eE") {
		n, err = number.Float64()
	} else {
		n, err = number.Int64()
	}
	if err != nil {
		return fmt.Errorf("read extra fields: %w", err)
	}
	set(n)
	return nil
}
