package projector

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestCoOccurs(t *testing.T) {
	batch := func(n int) FactsWritten {
		var w FactsWritten
		for i := range n {
			w.Facts = append(w.Facts, add(numbered(99)[n-1-i])) // ids run against the batch order
		}
		return w
	}
	tests := []struct {
		members, cap, edges, degree int
		why                         string
	}{
		{1, 10, 0, 0, "alone"},
		{2, 10, 1, 1, "a pair"},
		{10, 10, 45, 9, "10*9/2: in full"},
		{11, 10, 34, 8, "4 either side: 4*11-(1+2+3+4)"},
		{50, 10, 190, 8, "4*50-10"},
		{3, 3, 3, 2, "in full"},
		{4, 3, 3, 2, "a chain"},
		{4, 2, 0, 0, "no neighbour fits"},
		{2, 1, 0, 0, "switched off"},
	}
	for _, tt := range tests {
		view, _ := project(t, mustNew(t, Config{MaxCoOccurs: tt.cap}), event(t, "e", 1, batch(tt.members)))
		degree := 0
		for i := range tt.members {
			degree = max(degree, len(edges(view, numbered(99)[i], graphstore.CoOccurs)))
		}
		if view.Edges() != tt.edges || degree != tt.degree {
			t.Errorf("%d members, cap %d: %d edges, degree %d: want %d and %d (%s)", tt.members, tt.cap, view.Edges(), degree, tt.edges, tt.degree, tt.why)
		}
	}

	t.Run("nearest in batch order", func(t *testing.T) {
		view, _ := project(t, mustNew(t, Config{}), event(t, "e", 1, batch(20)))
		var got []string
		for _, e := range edges(view, "e10", graphstore.CoOccurs) {
			got = append(got, far(e, "e10"))
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"e06", "e07", "e08", "e09", "e11", "e12", "e13", "e14"}, got); diff != "" {
			t.Errorf("neighbours of e10 (-want +got):\n%s", diff)
		}
	})
	t.Run("a delete brings a large batch under the cap", func(t *testing.T) {
		p := mustNew(t, Config{})
		view, _ := project(t, p, event(t, "e", 1, batch(11)), event(t, "e2", 2, FactDeleted{FactID: "e05"}))
		if view.Edges() != 45 {
			t.Errorf("%d edges: want 45, all pairs of 10", view.Edges())
		}
		view, _ = apply(t, p, view, event(t, "e3", 3, FactShadowed{FactID: "e06"}))
		if view.Edges() != 45 {
			t.Errorf("%d edges after a shadow: want 45, a shadowed fact is still of the batch", view.Edges())
		}
	})
	t.Run("which batch", func(t *testing.T) {
		p := mustNew(t, Config{})
		one := FactsWritten{BatchID: "b", Facts: []FactWrite{add("a1"), add("a2")}}
		view, _ := project(t, p, event(t, "e1", 1, one), event(t, "e2", 2, FactsWritten{BatchID: "b", Facts: []FactWrite{add("a3")}}))
		if view.Edges() != 3 {
			t.Errorf("two events with one batch id: %d edges, want 3", view.Edges())
		}
		if e := edges(view, "a1", graphstore.CoOccurs)[0]; e.Asserter != (graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b"}) || e.Weight != 1 {
			t.Errorf("edge %+v", e)
		}
		stays, _ := apply(t, p, view, event(t, "e3", 3, written(tagged(OpUpdate, "a1"), tagged(OpUpdate, "a2"))))
		if stays.Edges() != 3 || fact(t, stays, "a1").BatchID != "b" {
			t.Errorf("an update that names no batch: %d edges, batch %q", stays.Edges(), fact(t, stays, "a1").BatchID)
		}
		moves, _ := apply(t, p, view, event(t, "e3", 3, FactsWritten{BatchID: "c", Facts: []FactWrite{tagged(OpUpdate, "a1")}}))
		if moves.Edges() != 1 || fact(t, moves, "a1").BatchID != "c" {
			t.Errorf("an update that names another batch: %d edges, batch %q", moves.Edges(), fact(t, moves, "a1").BatchID)
		}
	})
}
