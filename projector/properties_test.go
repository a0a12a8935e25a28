package projector_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// histories counts the random histories of all properties.
var histories atomic.Int64

// check runs a property over random histories and says over how many.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	var n int64
	rapid.Check(t, func(t *rapid.T) {
		n++
		property(t)
	})
	t.Logf("%d random histories, %d in all properties so far", n, histories.Add(n))
}

func newProjector(tb testing.TB) *projector.Projector {
	tb.Helper()
	p, err := projector.New(projectortest.SmallShape().Config())
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func user(tb testing.TB, id string) graphstore.Space {
	tb.Helper()
	space, err := graphstore.NewSpace(id)
	if err != nil {
		tb.Fatal(err)
	}
	return space
}

// apply plans an event, checks the plan by itself, and returns the snapshot after it: each change changes something, in
// the space of the event's user, and planned again there is none.
func apply(t *rapid.T, p *projector.Projector, view *graphstore.Snapshot, ev projector.Event) *graphstore.Snapshot {
	t.Helper()
	after, _ := applied(t, view, ev.ID, func(view *graphstore.Snapshot) (projector.Planned, error) { return p.Plan(view, ev) })
	return after
}

// applyStored is apply for stored facts.
func applyStored(t *rapid.T, p *projector.Projector, view *graphstore.Snapshot, facts ...projector.StoredFact) *graphstore.Snapshot {
	t.Helper()
	after, _ := applied(t, view, "stored facts", func(view *graphstore.Snapshot) (projector.Planned, error) { return p.PlanStored(view, facts) })
	return after
}

func applied(t *rapid.T, view *graphstore.Snapshot, what string, plan func(*graphstore.Snapshot) (projector.Planned, error)) (*graphstore.Snapshot, []graphstore.Change) {
	t.Helper()
	planned, err := plan(view)
	if err != nil {
		t.Fatalf("plan %s: %v", what, err)
	}
	for _, c := range planned.Changes {
		if c.Space != view.Space() {
			t.Fatalf("%s of %s changes %s of %s", what, view.Space(), c.Key(), c.Space)
		}
		old, had := view.Record(c.Key())
		same := had && projectortest.DiffRecords([]graphstore.Change{old}, []graphstore.Change{c}) == ""
		if c.Op == graphstore.Put && same || c.Op == graphstore.Delete && !had {
			t.Fatalf("%s puts or deletes %s and changes nothing by it", what, c.Key())
		}
	}
	after, err := view.With(planned.Changes)
	if err != nil {
		t.Fatalf("changes of %s: %v", what, err)
	}
	if again, err := plan(after); err != nil || len(again.Changes) != 0 {
		t.Fatalf("%s planned again: %v, %s", what, err, projectortest.Lines(again.Changes))
	}
	return after, planned.Changes
}

// inOrder projects events one after the other into the empty graph of a user.
func inOrder(t *rapid.T, p *projector.Projector, space graphstore.Space, events []projector.Event) *graphstore.Snapshot {
	t.Helper()
	view := graphstore.NewSnapshot(space)
	for _, ev := range events {
		view = apply(t, p, view, ev)
	}
	return view
}

func wantDigest(t *rapid.T, want, got *graphstore.Snapshot) {
	t.Helper()
	if got.Digest() != want.Digest() {
		t.Fatalf("digest %s: want %s\n%s", got.Digest(), want.Digest(),
			projectortest.DiffRecords(slices.Collect(want.Records()), slices.Collect(got.Records())))
	}
}
