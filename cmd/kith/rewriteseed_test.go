package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
)

// A graph that was written anew and fits is the one in memory afterwards, snapshot by snapshot, also of users who stay as they are: it
// is not read from the file. One that does not fit is, and is the same.
func TestRewrittenGraphIsTakenFromMemory(t *testing.T) {
	for name, fits := range map[string]bool{"fits": true, "does not fit": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, rand.New(rand.NewPCG(20, 20)), 100)
			mustRebuild(t, w.dir)
			_, s := w.opened()
			ctx, stop := context.WithCancel(t.Context())
			s.work.Go(func() { s.host.run(ctx, nil) })
			if n, err := s.host.Facts(ctx); err != nil || n == 0 {
				t.Fatalf("%d facts, %v", n, err)
			}
			if !fits { // all of its five users
				s.e.cfg.Graph.MemoryBytes = s.host.live.Load().Usage().TotalBytes / 2
			}
			wrote := map[graphstore.Space]*graphstore.Snapshot{spaceOf(t, "user-1"): nil, spaceOf(t, "user-2"): nil}
			err := s.host.Rewrite(ctx, func(yield backfill.YieldUser) error {
				err := yield(spaceOf(t, "user-1"), func(view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
					view, err := view.With([]graphstore.Change{graphstore.PutFact(view.Space(), graphstore.Fact{ID: "new", State: graphstore.StateActive})})
					wrote[spaceOf(t, "user-1")] = view
					return view, err
				})
				return errors.Join(err, yield(spaceOf(t, "user-2"), func(view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
					wrote[spaceOf(t, "user-2")] = view
					return view, nil
				}))
			})
			if err != nil {
				t.Fatal(err)
			}
			for space, want := range wrote {
				got, err := s.host.Acquire(ctx, space)
				if err != nil || got.Digest() != want.Digest() || (got == want) != fits {
					t.Errorf("%s: the same snapshot %v, %v", space, got == want, err)
				}
			}
			stop()
			s.work.Wait()
			if err := errors.Join(s.disconnect(), s.closeStores()); err != nil {
				t.Error(err)
			}
		})
	}
}
