package graphstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// BenchmarkValidateChanges checks a transaction of a user's 1,000 facts and their edges whose changes are in the order of their keys, as
// those of a plan are. x-unsorted is its time over that of the same changes in the opposite order, of which each has to be remembered.
func BenchmarkValidateChanges(b *testing.B) {
	sorted := graphstoretest.Graph(1, 1, 1_000)
	slices.SortFunc(sorted, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
	unsorted := slices.Clone(sorted)
	slices.Reverse(unsorted)
	check := func(changes []graphstore.Change) time.Duration {
		start := time.Now()
		if err := graphstore.ValidateChanges(changes); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	check(unsorted)
	var ordered, others time.Duration
	for b.Loop() { // side by side, so that both meet the same machine
		ordered += check(sorted)
		others += check(unsorted)
	}
	b.ReportMetric(float64(ordered.Nanoseconds())/float64(b.N*len(sorted)), "ns/change")
	b.ReportMetric(ordered.Seconds()/others.Seconds(), "x-unsorted")
	b.ReportMetric(0, "ns/op")
}
