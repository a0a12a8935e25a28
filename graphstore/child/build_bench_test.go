package child

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// BenchmarkBuild streams a generated graph to a builder that does next to nothing, in this process and in a child. The start
// and the end of the child's process are part of it.
func BenchmarkBuild(b *testing.B) {
	graph := graphstoretest.Graph(1, 4, 10_000)
	var took [2]time.Duration
	for b.Loop() {
		cfg := buildConfig(b, "count", "id")
		begin := time.Now()
		if _, _, err := buildCount(context.Background(), "", "id", cfg.Mark, each(graph)); err != nil {
			b.Fatal(err)
		}
		took[0] += time.Since(begin)
		begin = time.Now()
		h, _, err := Build(b.Context(), cfg, each(graph))
		if err != nil || h.Digest.Records() != len(graph) {
			b.Fatal(h, err)
		}
		took[1] += time.Since(begin)
	}
	n := float64(b.N) * float64(len(graph))
	b.ReportMetric(n/took[0].Seconds(), "records/s-in-process")
	b.ReportMetric(n/took[1].Seconds(), "records/s-child")
	b.ReportMetric(float64((took[1]-took[0]).Nanoseconds())/n, "ns-more/record")
	b.ReportMetric(0, "ns/op")
}

// buildCount looks at every record once, as little as a builder can.
func buildCount(_ context.Context, _, id string, mark graphstore.Mark, records func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	n := 0
	err := records(func(c graphstore.Change) error {
		n++
		return c.Validate()
	})
	return graphstore.Head{ID: id, Mark: mark, Digest: graphstore.DigestOfWords([4]uint64{}, n)}, graphstore.Stats{}, err
}

// BenchmarkReplace puts one file in the place of another under a store in memory: what is left is the price of the steps, of
// making them durable, and of a process that starts.
func BenchmarkReplace(b *testing.B) {
	path := filepath.Join(b.TempDir(), "graph")
	write(b, path, theOld)
	cfg, happened := testConfig("memory", path)
	s, err := Start(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	from := filepath.Join(b.TempDir(), "new")
	var replaced, recycled time.Duration
	for b.Loop() {
		write(b, from, map[string]string{"": "new"})
		if err := s.Replace(b.Context(), from); err != nil {
			b.Fatal(err)
		}
		replaced += (<-happened.restarted).Down
		if err := s.Recycle(b.Context()); err != nil {
			b.Fatal(err)
		}
		recycled += (<-happened.restarted).Down
	}
	b.ReportMetric(float64(replaced.Microseconds())/float64(b.N), "µs-down/replace")
	b.ReportMetric(float64(recycled.Microseconds())/float64(b.N), "µs-down/recycle")
	b.ReportMetric(replaced.Seconds()/recycled.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
