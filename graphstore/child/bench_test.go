package child

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// pairs returns the same store twice, in this process and in a child, by name.
func pairs(b *testing.B) map[string][2]graphstore.Store {
	b.Helper()
	out := make(map[string][2]graphstore.Store)
	for _, kind := range []string{"memory", "kuzu"} {
		here, err := openers[kind](filepath.Join(b.TempDir(), "here"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = here.Close() })
		cfg, _ := testConfig(kind, filepath.Join(b.TempDir(), "there"))
		there, err := Start(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = there.Close() })
		out[kind] = [2]graphstore.Store{here, there}
	}
	return out
}

// compare times the same work on both stores in turn and reports what the child's takes of it, and in proportion.
func compare(b *testing.B, stores [2]graphstore.Store, records int, work func(graphstore.Store, int) error) {
	b.Helper()
	var took [2]time.Duration
	i := 0
	for b.Loop() {
		for side, s := range stores {
			begin := time.Now()
			if err := work(s, i); err != nil {
				b.Fatal(err)
			}
			took[side] += time.Since(begin)
		}
		i++
	}
	n := float64(b.N)
	b.ReportMetric(float64(took[0].Microseconds())/n, "µs/in-process")
	b.ReportMetric(float64(took[1].Microseconds())/n, "µs/child")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(float64((took[1]-took[0]).Nanoseconds())/n/float64(records), "ns-more/record")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkApply commits new facts, 1 and 500 at a time.
func BenchmarkApply(b *testing.B) {
	for kind, stores := range pairs(b) {
		for _, size := range []int{1, 500} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				compare(b, stores, size, func(s graphstore.Store, i int) error {
					tx := make([]graphstore.Change, size)
					for n := range tx {
						tx[n] = fact("ada", fmt.Sprintf("%d-%d-%d", size, i, n))
					}
					return s.Apply(b.Context(), tx)
				})
			})
		}
	}
}

// BenchmarkLoadAll reads a generated graph.
func BenchmarkLoadAll(b *testing.B) {
	graph := graphstoretest.Graph(1, 4, 1000)
	for kind, stores := range pairs(b) {
		for _, s := range stores {
			for i := 0; i < len(graph); i += 2000 {
				if err := s.Apply(b.Context(), graph[i:min(i+2000, len(graph))]); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(fmt.Sprintf("%s/%d", kind, len(graph)), func(b *testing.B) {
			compare(b, stores, len(graph), func(s graphstore.Store, _ int) error {
				n := 0
				err := s.LoadAll(b.Context(), func(graphstore.Change) error { n++; return nil })
				if err == nil && n != len(graph) {
					err = fmt.Errorf("%d records, want %d", n, len(graph))
				}
				return err
			})
		})
	}
}
