package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

// written returns a store with three spaces under a mark, and the snapshots that it was written from.
func written(t *testing.T) (graphstore.Store, []*graphstore.Snapshot) {
	t.Helper()
	changes := graphstoretest.Graph(5, 3, 100)
	of := map[graphstore.Space][]graphstore.Change{}
	for _, c := range changes {
		of[c.Space] = append(of[c.Space], c)
	}
	store := graphstoretest.NewMemory()
	if err := store.ApplyMarked(context.Background(), changes, graphstore.Mark{Log: "log", Seq: 7}); err != nil {
		t.Fatal(err)
	}
	var snaps []*graphstore.Snapshot
	for i := range 3 {
		space := graphstoretest.SpaceName(i)
		snap, err := graphstore.NewSnapshot(space).With(of[space])
		if err != nil {
			t.Fatal(err)
		}
		snaps = append(snaps, snap)
	}
	return store, snaps
}

func seedOf(maxBytes int64, snaps ...*graphstore.Snapshot) *live.Seed {
	seed := live.NewSeed(maxBytes)
	for _, s := range snaps {
		seed.Add(s)
	}
	return seed
}

// A graph that was loaded by a seed is the one that is loaded from the store, also for what is applied next.
func TestSeedIsALoad(t *testing.T) {
	ctx := context.Background()
	store, snaps := written(t)
	want, got := loaded(t, store), live.New(store, quiet())
	t.Cleanup(got.Close)
	empty := graphstore.NewSnapshot(graphstoretest.SpaceName(9))
	if err := got.LoadSeed(ctx, seedOf(0, append(snaps, empty)...)); err != nil {
		t.Fatal(err)
	}
	if got.Digest() != want.Digest() || got.Counts() != want.Counts() || got.Usage().Resident != 3 || got.Usage().TotalBytes != want.Usage().TotalBytes {
		t.Errorf("%s %+v %+v, loaded %s %+v %+v", got.Digest(), got.Counts(), got.Usage(), want.Digest(), want.Counts(), want.Usage())
	}
	for _, s := range snaps {
		if view, err := got.View(s.Space()); err != nil || view.Digest() != s.Digest() {
			t.Errorf("view of %s: %v", s.Space(), err)
		}
	}
	if err := got.Load(ctx); err != nil { // is no other load
		t.Fatal(err)
	}
	if view, err := got.View(snaps[0].Space()); err != nil || view != snaps[0] {
		t.Errorf("loaded again: %v", err)
	}
	err := got.Hold(ctx, func(_ context.Context, held *live.Held) error {
		if held.Mark() != (graphstore.Mark{Log: "log", Seq: 7}) || !held.Complete() {
			t.Errorf("mark %+v, complete %t", held.Mark(), held.Complete())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Apply(ctx, []graphstore.Change{fact(snaps[1].Space(), "new")}); err != nil {
		t.Fatal(err)
	}
	if got.Digest() != storeDigest(t, store) {
		t.Errorf("after a commit %s, the store has %s", got.Digest(), storeDigest(t, store))
	}
}

// A seed that is not what the store holds, or that does not fit, loads nothing.
func TestSeedThatIsNotTheGraph(t *testing.T) {
	ctx := context.Background()
	store, snaps := written(t)
	other, err := snaps[0].With([]graphstore.Change{fact(snaps[0].Space(), "other")})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		seed *live.Seed
		want error
	}{
		"a space is missing":        {seedOf(0, snaps[:2]...), graphstore.ErrDamaged},
		"a fact too many":           {seedOf(0, other, snaps[1], snaps[2]), graphstore.ErrDamaged},
		"nothing":                   {seedOf(0), graphstore.ErrDamaged},
		"larger than its own bound": {seedOf(snaps[0].Bytes()+snaps[1].Bytes(), snaps...), live.ErrNoSeed},
		"larger than the memory":    {seedOf(0, snaps...), live.ErrNoSeed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := quiet()
			if name == "larger than the memory" {
				cfg.MaxBytes = snaps[0].Bytes()
			}
			g := live.New(store, cfg)
			t.Cleanup(g.Close)
			if err := g.LoadSeed(ctx, test.seed); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if _, err := g.View(snaps[0].Space()); !errors.Is(err, live.ErrLoading) {
				t.Errorf("it answers: %v", err)
			}
			if err := g.Load(ctx); err != nil || g.Digest() != storeDigest(t, store) {
				t.Errorf("loaded from the store: %v", err)
			}
		})
	}
}
