package projector_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector/projectortest"
)

func collect(view *graphstore.Snapshot) []graphstore.Change { return slices.Collect(view.Records()) }

// What a snapshot keeps beside its records is what follows from them: after each event, and in snapshots that are made
// of the same records at once, by a transaction and by a load.
func TestSnapshotsKeepWhatFollowsFromRecords(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		view := graphstore.NewSnapshot(space)
		for _, ev := range projectortest.GenHistory(14, space).Draw(t, "history") {
			view = apply(t, p, view, ev)
			if err := graphstoretest.CheckSnapshot(view); err != nil {
				t.Fatalf("after %s: %v", ev.ID, err)
			}
		}
		atOnce, err := graphstore.NewSnapshot(space).With(rapid.Permutation(collect(view)).Draw(t, "records"))
		if err != nil {
			t.Fatal(err)
		}
		loaded := graphstore.NewBuilder(graphstore.NewSnapshot(space))
		for c := range view.Records() {
			if err := loaded.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		for name, other := range map[string]*graphstore.Snapshot{"at once": atOnce, "loaded": loaded.Snapshot()} {
			wantDigest(t, view, other)
			if err := graphstoretest.CheckSnapshot(other); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// The same histories through a store: planned against what the store yields, in transactions of any size, the store ends
// with the graphs of the model.
func TestHistoriesThroughAStore(t *testing.T) {
	p := newProjector(t)
	spaces := []graphstore.Space{user(t, "one"), user(t, "two")}
	check(t, func(t *rapid.T) {
		store := graphstoretest.NewMemory()
		history := projectortest.GenHistory(16, spaces...).Draw(t, "history")
		for rest := projectortest.GenOrder(history).Draw(t, "order"); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "transaction")
			if err := projectortest.Through(t.Context(), store, p, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		m := projectortest.NewModel(projectortest.SmallShape())
		m.Add(history...)
		for _, space := range spaces {
			view, err := projectortest.Load(t.Context(), store, space)
			if err != nil {
				t.Fatal(err)
			}
			if diff := m.Diff(view); diff != "" {
				t.Fatalf("user %s (-model +graph):\n%s", space, diff)
			}
		}
		if head, err := store.Head(t.Context()); err != nil || head.Digest != m.Digest() {
			t.Fatalf("head %+v, %v: the model's digest is %s", head, err, m.Digest())
		}
	})
}
