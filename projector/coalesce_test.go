package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestCoalesceKeepsTheLastChangeOfEachRecord(t *testing.T) {
	u, v := mustSpace(t, "u"), mustSpace(t, "v")
	f := func(agent string) graphstore.Fact {
		return graphstore.Fact{ID: "f", State: graphstore.StateActive, AgentID: agent}
	}
	edge := graphstore.Edge{Source: "f", Target: "g", Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f"}}
	got := Coalesce(
		[]graphstore.Change{graphstore.PutFact(v, f("other user")), graphstore.PutEdge(u, edge)},
		nil,
		[]graphstore.Change{graphstore.PutFact(u, f("one")), graphstore.DeleteKey(u, edge.Key())},
		[]graphstore.Change{graphstore.PutFact(u, f("two"))},
	)
	want := []graphstore.Change{graphstore.PutFact(u, f("two")), graphstore.DeleteKey(u, edge.Key()), graphstore.PutFact(v, f("other user"))}
	if diff := cmp.Diff(want, got, eventOptions); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if err := graphstore.ValidateChanges(got); err != nil {
		t.Error(err)
	}
}
