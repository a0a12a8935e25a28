package graphstore_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// mergeShapes are ways in which n rows of the merge log make n+1 entities one, each row a decision of its own.
var mergeShapes = []struct {
	name string
	row  func(i, n int) graphstore.Merge // the i-th of n
	last func(n int) int                 // the entity that all are in the end
}{
	{"star", func(i, n int) graphstore.Merge { return row(entity(i+1), entity(0), int64(i)) }, func(int) int { return 0 }},
	{"chain", func(i, n int) graphstore.Merge { return row(entity(i), entity(i+1), int64(i)) }, func(n int) int { return n }},
	{"chain from its end", func(i, n int) graphstore.Merge { return row(entity(n-1-i), entity(n-i), int64(i)) }, func(n int) int { return n }},
	{"chain from all over", func(i, n int) graphstore.Merge { // 7919 is a prime and divides no n here, so each row comes once
		at := i * 7919 % n
		return row(entity(at), entity(at+1), int64(i))
	}, func(n int) int { return n }},
}

// crowd is n entities and a fact that mentions the first and the last.
func crowd(tb testing.TB, n int) *graphstore.Snapshot {
	tb.Helper()
	sp := space(tb, "u")
	changes := []graphstore.Change{graphstore.PutFact(sp, graphstore.Fact{ID: "f", State: graphstore.StateActive})}
	for i := range n {
		changes = append(changes, graphstore.PutEntity(sp, graphstore.Entity{ID: entity(i), Type: "person", Name: "A", Norm: "a"}))
	}
	return with(tb, graphstore.NewSnapshot(sp), append(changes, mentionOf(sp, "f", 0), mentionOf(sp, "f", n-1))...)
}

func mentionOf(sp graphstore.Space, fact string, e int) graphstore.Change {
	return graphstore.PutEdge(sp, graphstore.Edge{Source: fact, Target: entity(e), Type: graphstore.Mentions, Weight: 1,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: fact}})
}

func with(tb testing.TB, s *graphstore.Snapshot, changes ...graphstore.Change) *graphstore.Snapshot {
	tb.Helper()
	next, err := s.With(changes)
	if err != nil {
		tb.Fatal(err)
	}
	return next
}

// read asks for what is on the entities of the fact f.
func read(tb testing.TB, s *graphstore.Snapshot, want string) {
	tb.Helper()
	n, _ := s.Node("f")
	for b := range s.Bridges(n) {
		if info := s.BridgeInfo(b); info.ID != want || info.Degree != 1 || len(s.BridgeFacts(b)) != 2 {
			tb.Fatalf("%+v of %d contributions: want %s with one fact of 2", info, len(s.BridgeFacts(b)), want)
		}
	}
}

// TestMergesGrowLinearly takes n rows in at once and reads, and then one more and reads. Ten times the rows may take about
// ten times as long, and some more where they no longer fit a cache; looking at a row for each other one would take a hundred
// times as long. The shortest of some runs counts, since the machine may be busy with something else.
func TestMergesGrowLinearly(t *testing.T) {
	const small, large, factor, runs = 1_000, 10_000, 60, 10
	for _, shape := range mergeShapes {
		t.Run(shape.name, func(t *testing.T) {
			few, many := mergeTimes(t, shape.row, shape.last(small), small, runs), mergeTimes(t, shape.row, shape.last(large), large, runs)
			t.Logf("%d rows: %v; %d rows: %v", small, few, large, many)
			for what, d := range many {
				if d > factor*few[what] {
					t.Errorf("%s: %s with %d rows, %s with %d: want about ten times as long", what, few[what], small, d, large)
				}
			}
		})
	}
}

func mergeTimes(t *testing.T, row func(i, n int) graphstore.Merge, last, n, runs int) map[string]time.Duration {
	plain := crowd(t, n+1)
	all := make([]graphstore.Change, n)
	for i := range all {
		all[i] = graphstore.PutMerge(plain.Space(), row(i, n))
	}
	took := map[string]time.Duration{}
	measure := func(what string, f func()) {
		start := time.Now()
		f()
		if d := time.Since(start); took[what] == 0 || d < took[what] {
			took[what] = d
		}
	}
	for range runs {
		var s, one, less *graphstore.Snapshot
		measure("rows at once", func() { s = with(t, plain, all[:n-1]...) })
		measure("one more", func() { one = with(t, s, all[n-1]) })
		measure("a read", func() { read(t, one, entity(last)) })
		measure("one goes", func() { less = with(t, one, graphstore.DeleteKey(plain.Space(), all[n-1].Key())) })
		measure("another read", func() { read(t, with(t, less, all[n-1]), entity(last)) })
	}
	return took
}

// TestCommitsIgnoreMergeLog commits what is not in the merge log, and a mention of what is, beside logs of two lengths. What
// a commit copies is counted in bytes, since that is the same on each run.
func TestCommitsIgnoreMergeLog(t *testing.T) {
	const entities, short, long = 10_001, 100, 10_000
	for _, shape := range mergeShapes {
		t.Run(shape.name, func(t *testing.T) {
			copied := func(rows int) (plain, mention uint64) {
				s := crowd(t, entities)
				sp := s.Space()
				var log []graphstore.Change
				for i := range rows {
					log = append(log, graphstore.PutMerge(sp, shape.row(i, rows)))
				}
				s = with(t, s, log...)
				read(t, with(t, s, mentionOf(sp, "f", rows/2), graphstore.DeleteKey(sp, mentionOf(sp, "f", entities-1).Key())), entity(shape.last(rows)))
				plain = allocated(func() { with(t, s, graphstore.PutFact(sp, graphstore.Fact{ID: "g", State: graphstore.StateActive})) })
				mention = allocated(func() { with(t, s, mentionOf(sp, "f", rows/2)) })
				return plain, mention
			}
			plain1, mention1 := copied(short)
			plain2, mention2 := copied(long)
			t.Logf("%d rows: %d and %d bytes; %d rows: %d and %d bytes", short, plain1, mention1, long, plain2, mention2)
			if plain2 > 2*plain1 || mention2 > 2*mention1 {
				t.Errorf("a commit copies %d bytes, a mention %d, beside %d rows; %d and %d beside %d: want about the same",
					plain2, mention2, long, plain1, mention1, short)
			}
		})
	}
}

// allocated returns the bytes that a call allocates, in the mean.
func allocated(f func()) uint64 {
	const calls = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / calls
}

// BenchmarkMerge is what one more decision costs a commit when n rows have made the entities one already; x/fact is how
// many times as much as a commit of one fact, and read/row the nanoseconds per row of the first read after it.
func BenchmarkMerge(b *testing.B) {
	for _, shape := range mergeShapes[:2] {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", shape.name, n), func(b *testing.B) {
				s := crowd(b, n+1)
				for i := range n - 1 {
					s = with(b, s, graphstore.PutMerge(s.Space(), shape.row(i, n)))
				}
				decision := graphstore.PutMerge(s.Space(), shape.row(n-1, n))
				fact := graphstore.PutFact(s.Space(), graphstore.Fact{ID: "g", State: graphstore.StateActive})
				var commits, facts, reads time.Duration
				for b.Loop() {
					start := time.Now()
					next := with(b, s, decision)
					decided := time.Now()
					with(b, s, fact)
					put := time.Now()
					read(b, next, entity(shape.last(n)))
					commits, facts, reads = commits+decided.Sub(start), facts+put.Sub(decided), reads+time.Since(put)
				}
				b.ReportMetric(float64(commits)/float64(b.N), "ns/decision")
				b.ReportMetric(float64(commits)/float64(facts), "x/fact")
				b.ReportMetric(float64(reads)/float64(b.N)/float64(n), "read-ns/row")
			})
		}
	}
}
