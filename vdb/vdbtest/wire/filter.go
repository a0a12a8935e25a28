package wire

import (
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// predicate decides about a point.
type predicate func(*point) bool

// compileFilter turns a filter into a predicate: all of must, none of must_not, one of should, min_count of min_should;
// an empty list is no condition. A nil filter lets everything pass.
func compileFilter(f *pb.Filter) (predicate, error) {
	must, err := compileAll(f.GetMust())
	if err != nil {
		return nil, err
	}
	mustNot, err := compileAll(f.GetMustNot())
	if err != nil {
		return nil, err
	}
	should, err := compileAll(f.GetShould())
	if err != nil {
		return nil, err
	}
	minShould, err := compileAll(f.GetMinShould().GetConditions())
	if err != nil {
		return nil, err
	}
	return func(p *point) bool {
		holds := func(c predicate) bool { return c(p) }
		fails := func(c predicate) bool { return !c(p) }
		return !slices.ContainsFunc(must, fails) && !slices.ContainsFunc(mustNot, holds) &&
			(len(should) == 0 || slices.ContainsFunc(should, holds)) &&
			uint64(count(minShould, p)) >= f.GetMinShould().GetMinCount()
	}, nil
}

func compileAll(conditions []*pb.Condition) ([]predicate, error) {
	out := make([]predicate, len(conditions))
	for i, c := range conditions {
		var err error
		if out[i], err = compileCondition(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func count(predicates []predicate, p *point) int {
	n := 0
	for _, holds := range predicates {
		if holds(p) {
			n++
		}
	}
	return n
}

func compileCondition(c *pb.Condition) (predicate, error) {
	switch c := c.GetConditionOneOf().(type) {
	case *pb.Condition_Field:
		return compileField(c.Field)
	case *pb.Condition_Filter:
		return compileFilter(c.Filter)
	case *pb.Condition_HasId:
		set, err := parsePointIDs(c.HasId.GetHasId())
		return func(p *point) bool { return set[p.key] }, err
	case *pb.Condition_HasVector:
		return func(p *point) bool { return p.vectors[c.HasVector.GetHasVector()] != nil }, nil
	case *pb.Condition_IsEmpty:
		return onValues(c.IsEmpty.GetKey(), allEmpty)
	case *pb.Condition_IsNull:
		return onValues(c.IsNull.GetKey(), anyNull)
	case *pb.Condition_Nested:
		return compileNested(c.Nested)
	default:
		return nil, status.Error(codes.InvalidArgument, "Malformed Condition type")
	}
}

func onValues(key string, holds func([]*pb.Value) bool) (predicate, error) {
	path, err := parsePath(key)
	return func(p *point) bool { return holds(valuesAt(p.payload, path)) }, err
}

// allEmpty is is_empty: no value at all, or only nulls and empty arrays.
func allEmpty(values []*pb.Value) bool {
	for _, v := range values {
		switch kind := v.GetKind().(type) {
		case *pb.Value_NullValue:
		case *pb.Value_ListValue:
			if len(kind.ListValue.GetValues()) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// anyNull is is_null: a value that is null itself; neither an absent one nor a null inside an array counts.
func anyNull(values []*pb.Value) bool {
	for _, v := range values {
		if isNull(v) {
			return true
		}
	}
	return false
}

func isNull(v *pb.Value) bool {
	_, ok := v.GetKind().(*pb.Value_NullValue)
	return ok
}

// compileNested holds where one object of the array at the path passes the whole filter. Ids and vectors are not known
// inside an object.
func compileNested(n *pb.NestedCondition) (predicate, error) {
	path, err := parsePath(n.GetKey())
	if err != nil {
		return nil, err
	}
	if path[len(path)-1].kind != stepAll {
		path = append(path, pathStep{kind: stepAll})
	}
	holds, err := compileFilter(n.GetFilter())
	return func(p *point) bool {
		for _, v := range valuesAt(p.payload, path) {
			if object := v.GetStructValue(); object != nil && holds(&point{payload: object.GetFields()}) {
				return true
			}
		}
		return false
	}, err
}
