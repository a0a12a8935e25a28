package graphstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// hubChanges is n facts tied to one fact, one entity and each other in a ring; the hub says half of its links itself.
func hubChanges(sp graphstore.Space, n int) []graphstore.Change {
	changes := []graphstore.Change{
		graphstore.PutFact(sp, graphstore.Fact{ID: "hub", State: graphstore.StateActive}),
		graphstore.PutEntity(sp, graphstore.Entity{ID: "e", Type: "thing", Name: "E", Norm: "e"}),
	}
	for i := range n {
		changes = append(changes, graphstore.PutFact(sp, graphstore.Fact{ID: fmt.Sprint(i), State: graphstore.StateActive}))
	}
	hub := graphstore.Asserter{Kind: graphstore.ByFact, ID: "hub"}
	for i := range n {
		own := graphstore.Asserter{Kind: graphstore.ByFact, ID: fmt.Sprint(i)}
		to := graphstore.Edge{Source: fmt.Sprint(i), Target: "hub", Type: graphstore.Causes, Weight: .5, Asserter: own}
		if i%2 == 0 {
			to = graphstore.Edge{Source: "hub", Target: fmt.Sprint(i), Type: graphstore.Causes, Weight: .5, Asserter: hub, Detail: "so"}
		}
		changes = append(changes, graphstore.PutEdge(sp, to),
			graphstore.PutEdge(sp, graphstore.Edge{Source: fmt.Sprint(i), Target: "e", Type: graphstore.Mentions, Weight: 1, Asserter: own}))
	}
	return changes
}

// TestHubIsLinear builds a hub, replaces all its edges and removes them, in one transaction each, at two sizes. Ten
// times the links may cost about ten times as much; by reading all links for each it would be a hundred times.
func TestHubIsLinear(t *testing.T) {
	sp := space(t, "u")
	run := func(n int) (build, replace, remove time.Duration) {
		changes := hubChanges(sp, n)
		edges := changes[2+n:]
		deletes := make([]graphstore.Change, len(edges))
		for i, c := range edges {
			deletes[i] = graphstore.DeleteKey(sp, c.Key())
		}
		s := graphstore.NewSnapshot(sp)
		step := func(changes []graphstore.Change) time.Duration {
			start := time.Now()
			next, err := s.With(changes)
			if err != nil {
				t.Fatal(err)
			}
			s = next
			return time.Since(start)
		}
		build = step(changes)
		if hub, _ := s.Node("hub"); len(s.Links(hub)) != n || len(s.EdgesTo(graphstore.KindEntity, "e")) != n {
			t.Fatalf("%d links and %d mentions: want %d of each", len(s.Links(hub)), len(s.EdgesTo(graphstore.KindEntity, "e")), n)
		}
		replace = step(edges)
		remove = step(deletes)
		if s.Edges() != 0 {
			t.Fatalf("%d edges left", s.Edges())
		}
		return build, replace, remove
	}
	const small, large, factor = 2_000, 20_000, 40
	for try := range 3 { // the machine may be busy with something else during a small run or a large one
		b1, p1, r1 := run(small)
		b2, p2, r2 := run(large)
		t.Logf("build %s, %s; replace %s, %s; remove %s, %s", b1, b2, p1, p2, r1, r2)
		if b2 < factor*b1 && p2 < factor*p1 && r2 < factor*r1 {
			return
		}
		if try == 2 {
			t.Errorf("ten times the links cost %.0f, %.0f and %.0f times as much to build, replace and remove: want about 10",
				float64(b2)/float64(b1), float64(p2)/float64(p1), float64(r2)/float64(r1))
		}
	}
}
