package sqlite_test

import (
	"cmp"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

const (
	benchDim   = 384
	benchLimit = 50
)

func benchStore(b *testing.B, users, each int) (st *sqlite.Store, path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "vectors.db")
	st = open(b, path, sqlite.Config{})
	for u := range users {
		points := vdbtest.Points(uint64(u), mustSpace(fmt.Sprint("u", u)), each, benchDim)
		if err := st.Upsert(b.Context(), points); err != nil {
			b.Fatal(err)
		}
	}
	return st, path
}

func benchQuery(i int) vdb.Query {
	return vdb.Query{Space: mustSpace("u0"), Vector: vdbtest.Vector(uint64(i%64), benchDim), Limit: benchLimit}
}

func mustSearch(b *testing.B, st vdb.Store, q vdb.Query) {
	b.Helper()
	if m, err := st.Search(b.Context(), q); err != nil || len(m) != benchLimit {
		b.Fatalf("%d matches, error %v", len(m), err)
	}
}

// median returns the middle one of n durations of fn.
func median(n int, fn func()) time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		fn()
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[n/2]
}

// BenchmarkSearch reports, beside the time of one search, how many times as long two simpler ways take: a plain loop over
// vectors in memory, without any payload (x-loop), and a loop over the vectors read from SQLite each time (x-sql). Ratios
// are of medians of the same run.
func BenchmarkSearch(b *testing.B) {
	const whale = 20_000
	st, path := benchStore(b, 1, whale)
	mustSearch(b, st, benchQuery(0)) // reads the vectors into memory
	search := median(21, func() { mustSearch(b, st, benchQuery(1)) })

	points := vdbtest.Points(0, mustSpace("u0"), whale, benchDim)
	vectors := make([][]float32, whale)
	for i := range vectors {
		vectors[i] = points[i].Vector
	}
	loop := median(11, func() { nearestByLoop(benchQuery(1).Vector, vectors) })
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	fromSQL := median(5, func() { nearestFromSQL(b, db, benchQuery(1).Vector) })

	run := func(name string, change func(i int, q *vdb.Query)) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				q := benchQuery(i)
				change(i, &q)
				mustSearch(b, st, q)
			}
			if name == "whale" {
				b.ReportMetric(float64(loop)/float64(search), "x-loop")
				b.ReportMetric(float64(fromSQL)/float64(search), "x-sql")
			}
		})
	}
	run("whale", func(int, *vdb.Query) {})
	run("whale/filtered", func(_ int, q *vdb.Query) {
		q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{"active"}}, {Field: vdb.FieldAgentID, Any: []string{"agent-a"}}}
		q.Filter.Range = []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}}
	})
	run("whale/by content", func(_ int, q *vdb.Query) {
		q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"coffee", "tea", "berlin", "tokyo", "alice", "bob", "project"}}}
	})
	run("whale/after a write", func(i int, _ *vdb.Query) {
		if err := st.Upsert(b.Context(), points[i%whale:i%whale+1]); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("whale/first search", func(b *testing.B) {
		for b.Loop() {
			cold, err := sqlite.New(path, sqlite.Config{})
			if err != nil {
				b.Fatal(err)
			}
			mustSearch(b, cold, benchQuery(0))
			if err := cold.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whale/keyword", func(b *testing.B) {
		for b.Loop() {
			q := vdb.KeywordQuery{Space: mustSpace("u0"), Text: "coffee 咖啡 deadline", Limit: benchLimit}
			if m, err := st.Keyword(b.Context(), q); err != nil || len(m) != benchLimit {
				b.Fatalf("%d matches, error %v", len(m), err)
			}
		}
	})
}

// BenchmarkSearchTypical searches a user of 100 points among 200 such users.
func BenchmarkSearchTypical(b *testing.B) {
	const users = 200
	st, _ := benchStore(b, users, 100)
	query := func(i int) vdb.Query {
		q := benchQuery(i)
		q.Space = mustSpace(fmt.Sprint("u", i%users))
		return q
	}
	for i := range users {
		mustSearch(b, st, query(i)) // reads the vectors into memory
	}
	for _, limit := range []int{1, benchLimit} {
		b.Run(fmt.Sprint("limit ", limit), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				q := query(i)
				q.Limit = limit
				if m, err := st.Search(b.Context(), q); err != nil || len(m) != limit {
					b.Fatalf("%d matches, error %v", len(m), err)
				}
			}
		})
	}
	b.Run("keyword", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			q := vdb.KeywordQuery{Space: query(i).Space, Text: "coffee 咖啡 deadline", Limit: benchLimit}
			if _, err := st.Keyword(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkUpsert stores new points of 384 numbers, durable at the end of each call.
func BenchmarkUpsert(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint("batch ", batch), func(b *testing.B) {
			st, _ := benchStore(b, 1, 1)
			points := vdbtest.Points(9, mustSpace("new"), batch, benchDim)
			for i := 0; b.Loop(); i++ {
				for j := range points {
					points[j].ID = fmt.Sprint(i, "-", j)
				}
				if err := st.Upsert(b.Context(), points); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "points/s")
		})
	}
}

// BenchmarkHybrid asks for both lists at once. x-apart is its time over that of the two searches one after the other,
// the median of pairs; those give no cosines of the keyword matches.
func BenchmarkHybrid(b *testing.B) {
	for _, n := range []int{100, 2_000, 20_000} {
		b.Run(fmt.Sprint(n, " points"), func(b *testing.B) {
			st, _ := benchStore(b, 1, n)
			q := vdb.HybridQuery{Query: benchQuery(1), Text: "coffee 咖啡 deadline"}
			both := func() {
				got, err := st.Hybrid(b.Context(), q)
				if err != nil || len(got.Dense) != benchLimit || len(got.Keyword) == 0 {
					b.Fatalf("%d and %d matches, error %v", len(got.Dense), len(got.Keyword), err)
				}
			}
			both() // reads the vectors into memory
			ratios := make([]float64, 31)
			for i := range ratios { // side by side, so that both meet the same machine
				together := median(1, both)
				apart := median(1, func() {
					mustSearch(b, st, q.Query)
					if _, err := st.Keyword(b.Context(), q.KeywordQuery()); err != nil {
						b.Fatal(err)
					}
				})
				ratios[i] = float64(together) / float64(apart)
			}
			slices.Sort(ratios)
			for b.Loop() {
				both()
			}
			b.ReportMetric(ratios[len(ratios)/2], "x-apart")
		})
	}
}

type scored struct {
	at    int64
	score float64
}

func best(all []scored) []scored {
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
	return all[:benchLimit]
}

func nearestByLoop(query []float32, vectors [][]float32) []scored {
	all := make([]scored, len(vectors))
	for i, v := range vectors {
		var dot, vv float32
		for j, x := range v {
			dot += x * query[j]
			vv += x * x
		}
		all[i] = scored{int64(i), float64(dot) / math.Sqrt(float64(vv))}
	}
	return best(all)
}

func nearestFromSQL(b *testing.B, db *sql.DB, query []float32) []scored {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), "SELECT row, unit FROM vecs")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var all []scored
	var blob sql.RawBytes
	for rows.Next() {
		var s scored
		if err := rows.Scan(&s.at, &blob); err != nil {
			b.Fatal(err)
		}
		for j := range query {
			s.score += float64(query[j] * math.Float32frombits(binary.LittleEndian.Uint32(blob[4*j:])))
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return best(all)
}
