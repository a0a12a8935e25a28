package wire

import (
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// check decides about one value, never an array.
type check func(*pb.Value) bool

// compileField turns a condition on a payload field into a predicate. It holds where one value at the path, or one
// element of an array there, passes one of the condition's parts.
func compileField(c *pb.FieldCondition) (predicate, error) {
	path, err := parsePath(c.GetKey())
	if err != nil {
		return nil, err
	}
	if n := c.GetValuesCount(); n != nil {
		return func(p *point) bool { return anyCount(valuesAt(p.payload, path), n) }, nil
	}
	checks, err := fieldChecks(c)
	if err != nil {
		return nil, err
	}
	return func(p *point) bool {
		for _, v := range valuesAt(p.payload, path) {
			if passes(v, checks) {
				return true
			}
		}
		return false
	}, nil
}

func passes(v *pb.Value, checks []check) bool {
	values := []*pb.Value{v}
	if list, ok := v.GetKind().(*pb.Value_ListValue); ok {
		values = list.ListValue.GetValues()
	}
	for _, holds := range checks {
		if slices.ContainsFunc(values, holds) {
			return true
		}
	}
	return false
}

func fieldChecks(c *pb.FieldCondition) ([]check, error) {
	if c.GetGeoBoundingBox() != nil || c.GetGeoRadius() != nil || c.GetGeoPolygon() != nil {
		return nil, status.Error(codes.Unimplemented, "wire: geo conditions are not imitated")
	}
	if c.IsEmpty != nil || c.IsNull != nil {
		return nil, status.Error(codes.Unimplemented, "wire: ask with is_empty and is_null conditions")
	}
	var checks []check
	if c.GetMatch() != nil {
		m, err := matchCheck(c.GetMatch())
		if err != nil {
			return nil, err
		}
		checks = append(checks, m)
	}
	if r := c.GetRange(); r != nil {
		checks = append(checks, rangeCheck(r))
	}
	if r := c.GetDatetimeRange(); r != nil {
		checks = append(checks, datetimeCheck(r))
	}
	if len(checks) == 0 {
		return nil, status.Error(codes.InvalidArgument, "At least one field condition must be specified")
	}
	return checks, nil
}

// matchCheck compares by type: keywords only with strings, integers only with integer numbers, bools only with bools.
func matchCheck(m *pb.Match) (check, error) {
	switch m := m.GetMatchValue().(type) {
	case *pb.Match_Keyword:
		return keywordIn(m.Keyword), nil
	case *pb.Match_Keywords:
		return keywordIn(m.Keywords.GetStrings()...), nil
	case *pb.Match_Integer:
		return integerIn(m.Integer), nil
	case *pb.Match_Integers:
		return integerIn(m.Integers.GetIntegers()...), nil
	case *pb.Match_Boolean:
		return func(v *pb.Value) bool {
			b, ok := v.GetKind().(*pb.Value_BoolValue)
			return ok && b.BoolValue == m.Boolean
		}, nil
	case *pb.Match_ExceptKeywords:
		return except(keywordIn(m.ExceptKeywords.GetStrings()...)), nil
	case *pb.Match_ExceptIntegers:
		return except(integerIn(m.ExceptIntegers.GetIntegers()...)), nil
	case *pb.Match_Text:
		return substring(m.Text), nil
	case *pb.Match_Phrase:
		return substring(m.Phrase), nil
	default:
		return nil, status.Error(codes.InvalidArgument, "Malformed Match condition")
	}
}

func keywordIn(any ...string) check {
	return func(v *pb.Value) bool {
		s, ok := v.GetKind().(*pb.Value_StringValue)
		return ok && slices.Contains(any, s.StringValue)
	}
}

func integerIn(any ...int64) check {
	return func(v *pb.Value) bool {
		n, ok := v.GetKind().(*pb.Value_IntegerValue)
		return ok && slices.Contains(any, n.IntegerValue)
	}
}

// except is everything but what matches, nulls excluded.
func except(matches check) check {
	return func(v *pb.Value) bool { return !isNull(v) && !matches(v) }
}

func substring(text string) check {
	return func(v *pb.Value) bool {
		s, ok := v.GetKind().(*pb.Value_StringValue)
		return ok && strings.Contains(s.StringValue, text)
	}
}

// anyCount is values_count: the length of an array, 1 for any other value, 0 where there is none or a null.
func anyCount(values []*pb.Value, n *pb.ValuesCount) bool {
	inside := func(count uint64) bool {
		return (n.Lt == nil || count < *n.Lt) && (n.Gt == nil || count > *n.Gt) &&
			(n.Gte == nil || count >= *n.Gte) && (n.Lte == nil || count <= *n.Lte)
	}
	if len(values) == 0 {
		return inside(0)
	}
	return slices.ContainsFunc(values, func(v *pb.Value) bool {
		switch kind := v.GetKind().(type) {
		case *pb.Value_NullValue:
			return inside(0)
		case *pb.Value_ListValue:
			return inside(uint64(len(kind.ListValue.GetValues())))
		default:
			return inside(1)
		}
	})
}
