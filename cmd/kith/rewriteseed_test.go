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
			changed, kept := spaceOf(t, "user-1"), spaceOf(t, "user-2")
			var now, still *graphstore.Snapshot // they are planned side by side
			err := s.host.Rewrite(ctx, func(yield backfill.YieldUser) error {
				err := yield(changed, func(view *graphstore.Snapshot) (_ *graphstore.Snapshot, err error) {
					now, err = view.With([]graphstore.Change{graphstore.PutFact(changed, graphstore.Fact{ID: "new", State: graphstore.StateActive})})
					return now, err
				})
				return errors.Join(err, yield(kept, func(view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
					still = view
					return view, nil
				}))
			})
			if err != nil {
				t.Fatal(err)
			}
			for space, want := range map[graphstore.Space]*graphstore.Snapshot{changed: now, kept: still} {
				got, err := s.host.live.Load().Acquire(ctx, space)
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
