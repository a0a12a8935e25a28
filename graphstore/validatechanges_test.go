package graphstore_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
)

// A record that is written twice is found wherever the two are, in changes of any order.
func TestValidateChangesFindsRepeats(t *testing.T) {
	spaces := []graphstore.Space{space(t, "u"), space(t, "v")}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Custom(func(t *rapid.T) graphstore.Change {
			return graphstore.PutFact(rapid.SampledFrom(spaces).Draw(t, "space"), graphstore.Fact{ID: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "id"), State: graphstore.StateActive})
		})
		changes := rapid.SliceOfN(draw, 0, 5).Draw(t, "changes")
		if rapid.Bool().Draw(t, "sorted") {
			slices.SortStableFunc(changes, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
		}
		twice := false
		for i, c := range changes {
			twice = twice || slices.ContainsFunc(changes[:i], func(o graphstore.Change) bool { return o.Space == c.Space && o.Key() == c.Key() })
		}
		if err := graphstore.ValidateChanges(changes); errors.Is(err, graphstore.ErrBadChange) != twice {
			t.Fatalf("%v, written twice: %t", err, twice)
		}
	})
}
