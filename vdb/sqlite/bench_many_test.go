package sqlite_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// BenchmarkSearchMany asks for the six nearest active points of 64 vectors, as a backfill does, in one call. x-apart is how
// many times as long the same queries take one after the other with payloads, which is how they were asked before there was this
// call, the median of pairs in the same run; x-apart-bare is that of queries that leave the payloads out as well.
func BenchmarkSearchMany(b *testing.B) {
	const asked = 64
	for _, n := range []int{100, 2_000, 50_000} {
		st, _ := benchStore(b, 1, n)
		queries := make([]vdb.Query, asked)
		for i := range queries {
			queries[i] = vdb.Query{Space: mustSpace("u0"), Vector: vdbtest.Vector(uint64(i), benchDim), Limit: 6,
				Filter: vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}}}
		}
		mustSearch(b, st, benchQuery(0)) // reads the vectors into memory
		together := func(bare bool) {
			for i := range queries {
				queries[i].NoPayload = bare
			}
			if got, err := st.SearchMany(b.Context(), queries); err != nil || len(got) != asked {
				b.Fatalf("%d answers, error %v", len(got), err)
			}
		}
		apart := func(bare bool) {
			for _, q := range queries {
				q.NoPayload = bare
				if m, err := st.Search(b.Context(), q); err != nil || len(m) != q.Limit {
					b.Fatalf("%d matches, error %v", len(m), err)
				}
			}
		}
		ratio := func(bareApart, bare bool) float64 {
			ratios := make([]float64, 7)
			for i := range ratios { // side by side, so that both meet the same machine
				ratios[i] = float64(median(1, func() { apart(bareApart) })) / float64(median(1, func() { together(bare) }))
			}
			slices.Sort(ratios)
			return ratios[len(ratios)/2]
		}
		for _, bare := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d points/no payload %v", n, bare), func(b *testing.B) {
				for b.Loop() {
					together(bare)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*asked), "us/query")
				b.ReportMetric(ratio(false, bare), "x-apart")
				if bare {
					b.ReportMetric(ratio(true, bare), "x-apart-bare")
				}
			})
		}
	}
}
