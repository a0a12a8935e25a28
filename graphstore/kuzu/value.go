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
// wraps times, cannot type an empty or mixed list. What passes is int64, float64, text, and lists of one of them.
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
	for i, v := range list {
		if _, nested := v.([]any); nested {
			return 0, fmt.Errorf("list in a list")
		}
		if !sameType(v, list[0]) {
			return 0, fmt.Errorf("list of %T and %T", list[0], v)
		}
		n, err := checkValue(v)
		if err != nil {
			return 0, fmt.Errorf("item %d: %w", i, err)
		}
		leaked += n
	}
	return leaked, nil
}

func sameType(a, b any) bool {
	switch a.(type) {
	case int64:
		_, ok := b.(int64)
		return ok
	case float64:
		_, ok := b.(float64)
		return ok
	case string:
		_, ok := b.(string)
		return ok
	default:
		return false
	}
}
