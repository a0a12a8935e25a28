package wire

import (
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
)

// candidates returns the ids, in scroll order, of points among which all are that a valid filter holds for: those that it names, if it
// names any, else all. Stores that write ask who has their ids, over and over, and the answer must not take a look at every point.
func (c *collection) candidates(f *pb.Filter) []pointKey {
	named, ok := named(f)
	if !ok {
		return c.keys
	}
	var keys []pointKey
	for key := range named {
		if _, exists := c.points[key]; exists {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

// named returns the ids that a filter confines its points to, and false if it does not name any.
func named(f *pb.Filter) (map[pointKey]bool, bool) {
	for _, must := range f.GetMust() {
		if ids, ok := namedBy(must); ok {
			return ids, true
		}
	}
	if len(f.GetShould()) == 0 {
		return nil, false
	}
	all := map[pointKey]bool{}
	for _, should := range f.GetShould() {
		ids, ok := namedBy(should)
		if !ok {
			return nil, false
		}
		for key := range ids {
			all[key] = true
		}
	}
	return all, true
}

func namedBy(c *pb.Condition) (map[pointKey]bool, bool) {
	switch c := c.GetConditionOneOf().(type) {
	case *pb.Condition_HasId:
		ids, err := parsePointIDs(c.HasId.GetHasId())
		return ids, err == nil
	case *pb.Condition_Filter:
		return named(c.Filter)
	default:
		return nil, false
	}
}
