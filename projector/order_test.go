package projector

import (
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// inEveryOrder projects the events in every order and looks at the graph after each. All must be one graph.
func inEveryOrder(t *testing.T, p *Projector, events []Event, look func(t *testing.T, view *graphstore.Snapshot)) {
	t.Helper()
	var digest graphstore.Digest
	orders := 0
	permute(events, func(order []Event) {
		view, _ := project(t, p, order...)
		if orders++; orders == 1 {
			digest = view.Digest()
		}
		if view.Digest() != digest {
			t.Fatalf("order %d, %s: another graph than in the first", orders, idsOf(order))
		}
		if look(t, view); t.Failed() {
			t.Fatalf("in order %d: %s", orders, idsOf(order))
		}
	})
}

func idsOf(events []Event) (ids []string) {
	for _, ev := range events {
		ids = append(ids, ev.ID)
	}
	return ids
}

// permute calls visit with each order of the events.
func permute(events []Event, visit func([]Event)) {
	var rest func(done, left []Event)
	rest = func(done, left []Event) {
		if len(left) == 0 {
			visit(done)
		}
		for i := range left {
			others := append(append([]Event(nil), left[:i]...), left[i+1:]...)
			rest(append(append([]Event(nil), done...), left[i]), others)
		}
	}
	rest(nil, events)
}

// states returns the states of facts by id, those that have no node left out.
func states(view *graphstore.Snapshot) map[string]graphstore.State {
	all := map[string]graphstore.State{}
	for n := range view.Nodes() {
		all[view.ID(n)] = view.State(n)
	}
	return all
}
