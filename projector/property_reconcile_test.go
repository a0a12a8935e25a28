package projector_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

func reconciled(t *rapid.T, p *projector.Projector, view *graphstore.Snapshot, facts ...projector.StoredFact) *graphstore.Snapshot {
	t.Helper()
	after, err := p.Reconcile(view, facts, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return after
}

func wantRecords(t *rapid.T, want, got *graphstore.Snapshot) {
	t.Helper()
	list := func(s *graphstore.Snapshot) (out []graphstore.Change) {
		for c := range s.Records() {
			out = append(out, c)
		}
		return out
	}
	if diff := projectortest.DiffRecords(list(want), list(got)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
}

// What plans made, one change at a time, is what comes out when everything derived is derived at once.
func TestReconcileOfPlansChangesNothing(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		b := projectortest.GenBackfilled(10, space).Draw(t, "backfilled")
		view := takeSteps(t, p, graphstore.NewSnapshot(space), genSteps(b).Draw(t, "steps"))
		wantRecords(t, view, reconciled(t, p, view))
	})
}

// Stored facts settle in a reconciliation what they settle in a plan, also a second time.
func TestReconcileSettlesStoredFactsAsPlansDo(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		view := inOrder(t, p, space, projectortest.GenHistory(8, space).Draw(t, "history"))
		stored := projectortest.GenUnversioned().Draw(t, "stored")
		want := applyStored(t, p, view, stored...)
		wantRecords(t, want, reconciled(t, p, view, stored...))
		wantRecords(t, want, reconciled(t, p, want, stored...))
	})
}
