package qdrant

import (
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// BenchmarkSearch50 searches 1,000 points of 384 numbers of one user for the nearest 50, through the driver and the wire.
// x-memory is its time over that of the same search of the exhaustive store in this process.
func BenchmarkSearch50(b *testing.B) {
	const n, dim = 1000, 384
	srv := wire.Start(b, wire.Options{})
	st := open(b, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim})
	u := space(b, "u")
	points := vdbtest.Points(1, u, n, dim)
	memory := vdbtest.NewMemory(dim)
	for _, s := range []vdb.Store{st, memory} {
		if err := s.Upsert(b.Context(), points); err != nil {
			b.Fatal(err)
		}
	}
	q := vdb.Query{Space: u, Vector: vdbtest.Vector(2, dim), Limit: 50}
	search := func(s vdb.Store) {
		found, err := s.Search(b.Context(), q)
		if err != nil || len(found) != q.Limit {
			b.Fatalf("%d matches, %v", len(found), err)
		}
	}
	search(st)
	search(memory)
	var direct time.Duration
	for b.Loop() { // side by side, so that both meet the same machine
		search(st)
		b.StopTimer()
		began := time.Now()
		search(memory)
		direct += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(direct), "x-memory")
}

// BenchmarkUpsert stores 500 points that are there already: placing, storing, counting. x-search is its time over that of
// one search.
func BenchmarkUpsert(b *testing.B) {
	const dim = 384
	srv := wire.Start(b, wire.Options{})
	st := open(b, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim})
	u := space(b, "u")
	points := vdbtest.Points(1, u, UpsertBatch, dim)
	put := func() {
		if err := st.Upsert(b.Context(), points); err != nil {
			b.Fatal(err)
		}
	}
	put()
	const baseline = 50
	began := time.Now()
	for range baseline {
		if _, err := st.Search(b.Context(), vdb.Query{Space: u, Vector: points[0].Vector, Limit: 50}); err != nil {
			b.Fatal(err)
		}
	}
	one := time.Since(began) / baseline
	for b.Loop() {
		put()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(one), "x-search")
}

// BenchmarkHybrid asks for both lists at once, through the driver and the wire. x-apart is its time over that of the two
// searches one after the other in the same run; those give no cosines of the keyword matches. The server is an imitation
// without indexes: of its own work the ratio says nothing.
func BenchmarkHybrid(b *testing.B) {
	const n, dim = 1000, 384
	srv := wire.Start(b, wire.Options{})
	st := open(b, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim})
	u := space(b, "u")
	if err := st.Upsert(b.Context(), vdbtest.Points(1, u, n, dim)); err != nil {
		b.Fatal(err)
	}
	q := vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: vdbtest.Vector(2, dim), Limit: 50}, Text: "coffee 咖啡 deadline"}
	both := func() {
		got, err := st.Hybrid(b.Context(), q)
		if err != nil || len(got.Dense) != q.Limit || len(got.Keyword) != q.Limit {
			b.Fatalf("%d and %d matches, %v", len(got.Dense), len(got.Keyword), err)
		}
	}
	both()
	var apart time.Duration
	for b.Loop() { // side by side, so that both meet the same machine
		both()
		b.StopTimer()
		began := time.Now()
		if _, err := st.Search(b.Context(), q.Query); err != nil {
			b.Fatal(err)
		}
		if _, err := st.Keyword(b.Context(), q.KeywordQuery()); err != nil {
			b.Fatal(err)
		}
		apart += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(apart), "x-apart")
}

// BenchmarkSearchMany asks for the six nearest active points of 64 vectors, as a backfill does, in one call, through the driver and the
// wire, without payloads. x-apart is its time over that of the same queries one after the other, x-apart-full over that of queries that
// ask for the payloads as well, in the same run. The user has few points: the server is an imitation, whose own work is the same in all.
func BenchmarkSearchMany(b *testing.B) {
	const n, dim, asked = 100, 384, 64
	srv := wire.Start(b, wire.Options{})
	st := open(b, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim})
	u := space(b, "u")
	if err := st.Upsert(b.Context(), vdbtest.Points(1, u, n, dim)); err != nil {
		b.Fatal(err)
	}
	queries := make([]vdb.Query, asked)
	for i := range queries {
		queries[i] = vdb.Query{Space: u, Vector: vdbtest.Vector(uint64(i), dim), Limit: 6, NoPayload: true,
			Filter: vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}}}
	}
	together := func() {
		if got, err := st.SearchMany(b.Context(), queries); err != nil || len(got) != asked || len(got[asked-1]) != 6 {
			b.Fatalf("%d answers, %v", len(got), err)
		}
	}
	apart := func(bare bool) time.Duration {
		began := time.Now()
		for _, q := range queries {
			q.NoPayload = bare
			if got, err := st.Search(b.Context(), q); err != nil || len(got) != q.Limit {
				b.Fatalf("%d matches, %v", len(got), err)
			}
		}
		return time.Since(began)
	}
	together()
	var bare, full time.Duration
	for b.Loop() { // side by side, so that all meet the same machine
		together()
		b.StopTimer()
		bare += apart(true)
		full += apart(false)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*asked), "us/query")
	b.ReportMetric(float64(b.Elapsed())/float64(bare), "x-apart")
	b.ReportMetric(float64(b.Elapsed())/float64(full), "x-apart-full")
}
