package projector_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// Same events, same graph, and the graph that a naive reading of the contract gives: after each event of a random
// history, in a random order with repetitions, the snapshot is the one the model derives from scratch from the events
// so far, registers and all.
func TestAnyOrderGivesTheGraphOfTheModel(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		history := projectortest.GenHistory(12, space).Draw(t, "history")
		m := projectortest.NewModel(projectortest.SmallShape())
		view := graphstore.NewSnapshot(space)
		for _, ev := range projectortest.GenOrder(history).Draw(t, "order") {
			view = apply(t, p, view, ev)
			m.Add(ev)
			if diff := m.Diff(view); diff != "" {
				t.Fatalf("after %s (-model +graph):\n%s", ev.ID, diff)
			}
		}
		if got := view.Digest(); got != m.Digest() {
			t.Fatalf("digest %s: the model's is %s", got, m.Digest())
		}
	})
}

// The same without a spine, which is how a projector is unless it is told otherwise.
func TestAnyOrderWithoutASpine(t *testing.T) {
	space, shape := user(t, "u"), projectortest.SmallShape()
	shape.TemporalSpine = false
	p, err := projector.New(shape.Config())
	if err != nil {
		t.Fatal(err)
	}
	check(t, func(t *rapid.T) {
		history := projectortest.GenHistory(8, space).Draw(t, "history")
		m := projectortest.NewModel(shape)
		m.Add(history...)
		if diff := m.Diff(inOrder(t, p, space, projectortest.GenOrder(history).Draw(t, "order"))); diff != "" {
			t.Fatalf("(-model +graph):\n%s", diff)
		}
	})
}

// Shuffled, repeated and cut into transactions anywhere, each the coalesced plans of its events, the graph is that of
// the events in order and that of the model. Histories are longer here than where each step is compared.
func TestAnySplitIntoTransactionsGivesTheSameDigest(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		history := projectortest.GenHistory(24, space).Draw(t, "history")
		want := inOrder(t, p, space, history)
		order := projectortest.GenOrder(history).Draw(t, "order")
		committed, ahead := graphstore.NewSnapshot(space), graphstore.NewSnapshot(space)
		var plans [][]graphstore.Change
		for i, ev := range order {
			planned, err := p.Plan(ahead, ev)
			if err != nil {
				t.Fatal(err)
			}
			if ahead, err = ahead.With(planned.Changes); err != nil {
				t.Fatal(err)
			}
			plans = append(plans, planned.Changes)
			if i+1 < len(order) && rapid.Bool().Draw(t, "go on") {
				continue
			}
			if committed, err = committed.With(projector.Coalesce(plans...)); err != nil {
				t.Fatalf("transaction of %d plans: %v", len(plans), err)
			}
			ahead, plans = committed, nil
		}
		wantDigest(t, want, committed)
		m := projectortest.NewModel(projectortest.SmallShape())
		m.Add(history...)
		if diff := m.Diff(committed); diff != "" {
			t.Fatalf("(-model +graph):\n%s", diff)
		}
	})
}
