package feed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// mapGraph is a graph in memory and nothing more, so that the benchmark measures the feed.
type mapGraph struct {
	mu    sync.Mutex
	views map[graphstore.Space]*graphstore.Snapshot
}

func newMapGraph() *mapGraph { return &mapGraph{views: map[graphstore.Space]*graphstore.Snapshot{}} }

func (g *mapGraph) Snapshot(_ context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if view, ok := g.views[space]; ok {
		return view, nil
	}
	return graphstore.NewSnapshot(space), nil
}

func (g *mapGraph) ApplyMarked(ctx context.Context, changes []graphstore.Change, _ graphstore.Mark) error {
	bySpace := map[graphstore.Space][]graphstore.Change{}
	for _, c := range changes {
		bySpace[c.Space] = append(bySpace[c.Space], c)
	}
	for space, own := range bySpace {
		view, err := g.Snapshot(ctx, space)
		if err != nil {
			return err
		}
		next, err := view.With(own)
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.views[space] = next
		g.mu.Unlock()
	}
	return nil
}

// benchEvents returns events of 20 users with three facts each, which mention and relate to what came before.
func benchEvents(n int) [][]byte {
	events := make([][]byte, n)
	for i := range events {
		facts := make([]any, 3)
		for j := range facts {
			fact := map[string]any{
				"id": fmt.Sprintf("f%d-%d", i, j), "op": "add", "version": 1, "agent_id": "a", "source_id": fmt.Sprint("s", i),
				"tags":     []string{fmt.Sprint("tag", i%17)},
				"entities": []any{map[string]any{"name": fmt.Sprint("Person ", i%53), "type": "person"}},
			}
			if i >= 20 {
				fact["relations"] = []any{map[string]any{"to": fmt.Sprintf("f%d-%d", i-20, j), "type": "elaborates", "weight": 0.9}}
			}
			facts[j] = fact
		}
		events[i] = event(fmt.Sprint("e", i), "memory.facts.written.v1", map[string]any{"user_id": fmt.Sprint("user", i%20), "facts": facts})
	}
	return events
}

// direct decodes, plans and applies the same events in the same batches, with no server in between.
func direct(b *testing.B, payloads [][]byte) time.Duration {
	b.Helper()
	graph, plan := newMapGraph(), newProjector(b).Plan
	start := time.Now()
	for batch := range slices.Chunk(payloads, DefaultBatchSize) {
		var ds []*delivery
		for _, payload := range batch {
			ev, _, err := projector.Decode(payload, projector.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			ds = append(ds, &delivery{event: ev})
		}
		d := draft{graph: graph, plan: plan}
		if failed, err := d.add(b.Context(), ds); err != nil || len(failed) > 0 {
			b.Fatal(err, failed)
		}
		if err := graph.ApplyMarked(b.Context(), d.changes(), graphstore.Mark{}); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// BenchmarkFeed measures events a second through JetStream into a graph in memory, and how much of the rate of the same
// work without a server that is.
func BenchmarkFeed(b *testing.B) {
	const n = 2000
	events := benchEvents(n)
	var through, without time.Duration
	for range b.N {
		b.StopTimer()
		without += direct(b, events)
		js := newJS(b)
		if _, err := newPublisher(b, js, PublisherConfig{}).PublishBatch(b.Context(), slices.Values(events)); err != nil {
			b.Fatal(err)
		}
		f := newFeed(b, js, newMapGraph(), Config{Logger: quietLog})
		b.StartTimer()
		start := time.Now()
		r := run(b, f)
		if err := r.WaitCaughtUp(b.Context()); err != nil {
			b.Fatal(err)
		}
		through += time.Since(start)
		b.StopTimer()
		r.stop(b)
	}
	b.ReportMetric(float64(n*b.N)/through.Seconds(), "events/s")
	b.ReportMetric(without.Seconds()/through.Seconds(), "of-direct")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPublishBatch measures checked events a second into the stream.
func BenchmarkPublishBatch(b *testing.B) {
	const n = 2000
	events := benchEvents(n)
	for range b.N {
		b.StopTimer()
		js := newJS(b)
		p := newPublisher(b, js, PublisherConfig{})
		b.StartTimer()
		if _, err := p.PublishBatch(b.Context(), slices.Values(events)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
}
