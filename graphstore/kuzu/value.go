package kuzu

import (
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// params are the parameters of one statement. All of a statement's parameters are in it: one that is left out keeps its
// old value in a prepared statement.
type params map[string]any

// check refuses the values that the binding would store as something else or that end the process: it cuts text at a NUL,
// wraps times, cannot type an empty or mixed list. What passes is int64, float64, text, lists of one of them,
// and lists of lists of numbers.
func (p params) check() (leaked int64, err error) {
	for name, v := range p {
		n, err := checkValue(v)
		if err != nil {
			return 0, fmt.Errorf("parameter %s: %w", name, err)
		}
		leaked += n
	}
	return leaked, nil
}

// checkValue also returns the bytes that the binding loses with the value: it copies each text and never frees the copy.
func checkValue(v any) (leaked int64, err error) {
	switch v := v.(type) {
	case int64:
		return 0, nil
	case float64:
		if math.IsNaN(v) {
			return 0, fmt.Errorf("not a number")
		}
		return 0, nil
	case string:
		return int64(len(v)) + 1, graphstore.CheckText(v)
	case []any:
		return checkList(v)
	default:
		return 0, fmt.Errorf("%T cannot be a parameter", v)
	}
}

func checkList(list []any) (leaked int64, err error) {
	if len(list) == 0 {
		return 0, fmt.Errorf("empty list")
	}
	first := typeOf(list[0])
	for i, v := range list {
		if t := typeOf(v); t != first {
			return 0, fmt.Errorf("list of %s and %s", first, t)
		}
		if inner, nested := v.([]any); nested && !allNumbers(inner) {
			return 0, fmt.Errorf("list in a list that is not all numbers")
		}
		n, err := checkValue(v)
		if err != nil {
			return 0, fmt.Errorf("item %d: %w", i, err)
		}
		leaked += n
	}
	return leaked, nil
}

func allNumbers(list []any) bool {
	for _, v := range list {
		switch v.(type) {
		case int64, float64:
		default:
			return false
		}
	}
	return true
}

// typeOf returns what makes a list's items equal for Kuzu: their type, and that of the items of a list.
func typeOf(v any) string {
	switch v := v.(type) {
	case int64:
		return "int64"
	case float64:
		return "float64"
	case string:
		return "string"
	case []any:
		if len(v) == 0 {
			return "empty list"
		}
		switch v[0].(type) {
		case int64:
			return "list of int64"
		case float64:
			return "list of float64"
		}
		return "list of others"
	default:
		return fmt.Sprintf("%T", v)
	}
}
