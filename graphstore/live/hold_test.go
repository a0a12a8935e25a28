package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

func TestLoadVerifiesTheDigest(t *testing.T) {
	memory, _ := filled(t, 2, 50)
	lost := &loses{Memory: memory}
	for c := range snapshotOf(t, memory, graphstoretest.SpaceName(0)).Records() {
		if c.Edge != nil { // nothing dangles without one
			lost.record = c.Key()
		}
	}
	for name, limit := range map[string]int64{"whole": 0, "counted only": 1} {
		t.Run(name, func(t *testing.T) {
			cfg := quiet()
			cfg.MaxBytes = limit
			g := live.New(lost, cfg)
			t.Cleanup(g.Close)
			err := g.Load(context.Background())
			head, headErr := memory.Head(context.Background())
			if headErr != nil {
				t.Fatal(headErr)
			}
			if !errors.Is(err, graphstore.ErrDamaged) || !containsAll(err.Error(), head.Digest.String(), storeDigest(t, lost).String()) {
				t.Errorf("load of a store that lost a record: %v: want damage and both digests", err)
			}
			if _, err := g.View(graphstoretest.SpaceName(0)); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("view: %v", err)
			}
		})
	}
}

func TestHold(t *testing.T) {
	memory, bytes := filled(t, 3, 50)
	ctx := context.Background()
	mark := graphstore.Mark{Log: "log", Seq: 7}
	if err := memory.ApplyMarked(ctx, nil, mark); err != nil {
		t.Fatal(err)
	}
	g := loaded(t, memory)
	s := graphstoretest.SpaceName(0)
	boom := errors.New("boom")
	applied := make(chan error, 1)
	err := g.Hold(ctx, func(ctx context.Context, held *live.Held) error {
		if !held.Complete() || !held.Resident() || held.Mark() != mark {
			t.Errorf("complete %t, resident %t, mark %+v: want all, and %+v", held.Complete(), held.Resident(), held.Mark(), mark)
		}
		before := g.Counts()
		go func() {
			applied <- g.ApplyMarked(ctx, []graphstore.Change{fact(s, "late")}, graphstore.Mark{Log: "log", Seq: 8})
		}()
		other := graphstoretest.NewMemory() // takes the records as they come: nodes of a space before its edges
		var d graphstore.Digest
		for c := range held.Records() {
			d.Add(c)
			if err := other.Apply(ctx, []graphstore.Change{c}); err != nil {
				t.Fatal(err)
			}
		}
		if d != g.Digest() || d != storeDigest(t, other) {
			t.Errorf("records have digest %s, the graph %s", d, g.Digest())
		}
		select {
		case err := <-applied:
			t.Errorf("applied while held: %v", err)
		default:
		}
		if _, err := g.View(s); err != nil || g.Counts() != before {
			t.Errorf("search while held: %v; %+v, was %+v", err, g.Counts(), before)
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("hold returns %v", err)
	}
	if err := <-applied; err != nil || g.Counts().Facts != 151 {
		t.Errorf("apply after the hold: %v, %+v", err, g.Counts())
	}
	cancelled, cancel := context.WithCancel(ctx)
	err = g.Hold(ctx, func(_ context.Context, held *live.Held) error {
		if held.Mark().Seq != 8 {
			t.Errorf("mark %+v: want that of the last commit", held.Mark())
		}
		cancel()
		return g.Hold(cancelled, nil)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("hold in a hold with a context that ends: %v", err)
	}
	bounded := loadedWithin(t, memory, bytes[0]*2)
	if err := bounded.Hold(ctx, func(_ context.Context, held *live.Held) error {
		if held.Complete() || held.Resident() {
			t.Error("complete, and not everything is resident")
		}
		for c := range held.Records() {
			if c.Validate() == nil {
				t.Error("a part of the records")
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// After a commit of unknown outcome memory is not known to be what the store has, until the store has been read again or
// written anew.
func TestHoldAfterUnknownOutcome(t *testing.T) {
	for name, resolve := range map[string]func(t *testing.T, g *live.Graph, memory *graphstoretest.Memory){
		"planned against": func(t *testing.T, g *live.Graph, _ *graphstoretest.Memory) {
			if _, err := g.Snapshot(context.Background(), graphstoretest.SpaceName(0)); err != nil {
				t.Fatal(err)
			}
		},
		"rebuilt": func(t *testing.T, g *live.Graph, memory *graphstoretest.Memory) {
			if err := g.Hold(context.Background(), func(ctx context.Context, held *live.Held) error {
				if err := memory.Apply(ctx, []graphstore.Change{graphstore.DeleteKey(graphstoretest.SpaceName(0), graphstore.Key{Kind: graphstore.KindFact, Node: "b"})}); err != nil {
					return err // the store is what memory is
				}
				held.Rebuilt()
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory, _ := filled(t, 2, 50)
			store := graphstoretest.NewFaulty(memory, graphstoretest.OnNth(graphstoretest.MethodApply, 1, graphstoretest.Fault{After: errors.New("answer lost")}))
			g := loaded(t, store)
			before := g.Digest()
			if err := g.Apply(context.Background(), []graphstore.Change{fact(graphstoretest.SpaceName(0), "b")}); err == nil {
				t.Fatal("no error")
			}
			complete := func() (c bool) {
				if err := g.Hold(context.Background(), func(_ context.Context, held *live.Held) error {
					c = held.Complete()
					if !held.Resident() {
						t.Error("everything is resident")
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return c
			}
			if complete() || g.Digest() != before {
				t.Errorf("complete with a commit in doubt, or digest %s: want %s", g.Digest(), before)
			}
			resolve(t, g, memory)
			if !complete() || g.Digest() != storeDigest(t, memory) {
				t.Errorf("still in doubt, or digest %s: want %s", g.Digest(), storeDigest(t, memory))
			}
			if err := g.Apply(context.Background(), []graphstore.Change{fact(graphstoretest.SpaceName(0), "c")}); err != nil || g.Digest() != storeDigest(t, memory) {
				t.Errorf("the next commit: %v, digest %s: want %s", err, g.Digest(), storeDigest(t, memory))
			}
		})
	}
}
