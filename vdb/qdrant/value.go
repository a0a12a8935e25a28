package qdrant

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
)

// maxDepth bounds how deep lists and objects may be nested: protobuf's decoders give up at 100 messages of which each
// level takes three.
const maxDepth = 30

var errNotUTF8 = errors.New("is not valid UTF-8")

// encodeValue converts a JSON value. The client's own conversion panics or accepts more types than come back.
func encodeValue(v any, depth int) (*pb.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return pb.NewValueNull(), nil
	case bool:
		return pb.NewValueBool(v), nil
	case int64:
		return pb.NewValueInt(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("holds %v: want a finite number", v)
		}
		return pb.NewValueDouble(v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, errNotUTF8
		}
		return pb.NewValueString(v), nil
	case []any:
		list := &pb.ListValue{Values: make([]*pb.Value, len(v))}
		for i, element := range v {
			var err error
			if list.Values[i], err = encodeValue(element, depth+1); err != nil {
				return nil, err
			}
		}
		return pb.NewValueList(list), nil
	case map[string]any:
		fields, err := encodeObject(v, depth+1)
		return pb.NewValueFromFields(fields), err
	default:
		return nil, fmt.Errorf("holds a %T: want string, float64, int64, bool, nil, []any or map[string]any", v)
	}
}

func encodeObject(object map[string]any, depth int) (map[string]*pb.Value, error) {
	fields := make(map[string]*pb.Value, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) { // sorted: the first error of several is always the same one
		value, err := encodeValue(object[key], depth)
		if err == nil && !utf8.ValidString(key) {
			err = errNotUTF8
		}
		if err != nil {
			return nil, fmt.Errorf("field %s %w", graphstore.Shorten(key), err)
		}
		fields[key] = value
	}
	return fields, nil
}

func decodeObject(fields map[string]*pb.Value) map[string]any {
	object := make(map[string]any, len(fields))
	for key, v := range fields {
		object[key] = decodeValue(v)
	}
	return object
}

func decodeValue(v *pb.Value) any {
	switch kind := v.GetKind().(type) {
	case *pb.Value_BoolValue:
		return kind.BoolValue
	case *pb.Value_IntegerValue:
		return kind.IntegerValue
	case *pb.Value_DoubleValue:
		return kind.DoubleValue
	case *pb.Value_StringValue:
		return kind.StringValue
	case *pb.Value_StructValue:
		return decodeObject(kind.StructValue.GetFields())
	case *pb.Value_ListValue:
		list := make([]any, len(kind.ListValue.GetValues()))
		for i, element := range kind.ListValue.GetValues() {
			list[i] = decodeValue(element)
		}
		return list
	default:
		return nil
	}
}
