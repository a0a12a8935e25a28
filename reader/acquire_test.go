package reader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

var errNotThere = errors.New("graph is loading")

// slowGraph has its snapshot once ready is closed.
type slowGraph struct {
	fixedGraph
	ready chan struct{}
	asked chan struct{}
}

func (g slowGraph) Acquire(ctx context.Context, s graphstore.Space) (*graphstore.Snapshot, error) {
	g.asked <- struct{}{}
	select {
	case <-g.ready:
		return g.fixedGraph.Acquire(ctx, s)
	case <-ctx.Done():
		return nil, errNotThere
	}
}

// A graph that is on its way is waited for within the budget. One that does not come leaves the recall's order, says so in
// the graph's own words, and never opens the breaker.
func TestWaitsForTheGraphWithinTheBudget(t *testing.T) {
	f := newFixture(t)
	g := slowGraph{fixedGraph{f.snap}, make(chan struct{}), make(chan struct{}, 100)}
	r := f.reader(t, f.vectors, g, func(c *Config) { c.BreakerFailures, c.Budget = 1, 150*time.Millisecond })
	for range 3 {
		a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query})
		if err != nil {
			t.Fatal(err)
		}
		if order(a) != "A B D" || a.Rerank.Status != StatusDegraded || a.Rerank.Stage != StageView || a.Rerank.Reason != errNotThere.Error() {
			t.Errorf("the graph does not come: %s, %+v", order(a), a.Rerank)
		}
	}
	r = f.reader(t, f.vectors, g)
	for len(g.asked) > 0 {
		<-g.asked
	}
	done := make(chan Answer)
	go func() {
		a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query})
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	<-g.asked
	close(g.ready)
	if a := <-done; a.Rerank.Status != StatusOK || order(a) == "A B D" {
		t.Errorf("the graph comes: %s, %+v: want it to rank", order(a), a.Rerank)
	}
}
