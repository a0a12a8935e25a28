package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() live.Config {
	return live.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func loaded(t testing.TB, store graphstore.Store) *live.Graph {
	t.Helper()
	return loadedWithin(t, store, 0)
}

// loadedWithin returns a loaded graph with a bound of bytes.
func loadedWithin(t testing.TB, store graphstore.Store, maxBytes int64) *live.Graph {
	t.Helper()
	cfg := quiet()
	cfg.MaxBytes = maxBytes
	g := live.New(store, cfg)
	t.Cleanup(g.Close)
	if err := g.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return g
}

// storeDigest hashes the store by reading it, a second way to the live graph's own digest.
func storeDigest(t testing.TB, store graphstore.Store) graphstore.Digest {
	t.Helper()
	var d graphstore.Digest
	if err := store.LoadAll(context.Background(), func(c graphstore.Change) error { d.Add(c); return nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

func fact(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutFact(s, graphstore.Fact{ID: id, State: graphstore.StateActive})
}

func TestLiveFollowsTheStore(t *testing.T) {
	store := graphstoretest.NewMemory()
	g := loaded(t, store)
	for piece := range slices.Chunk(graphstoretest.Graph(1, 3, 200), 97) {
		if err := g.Apply(context.Background(), piece); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := g.Digest(), storeDigest(t, store); got != want {
		t.Errorf("live %s, store %s", got, want)
	}
	if again := loaded(t, store); again.Digest() != g.Digest() || again.Counts() != g.Counts() {
		t.Errorf("loaded again: %+v, want %+v", again.Counts(), g.Counts())
	}
	if c := g.Counts(); c.Spaces != 3 || c.Facts != 600 {
		t.Errorf("counts %+v: want 3 spaces of 200 facts", c)
	}
}

func TestViewBeforeLoad(t *testing.T) {
	s := graphstoretest.SpaceName(0)
	boom := errors.New("disk on fire")
	store := graphstoretest.NewFaulty(graphstoretest.NewMemory(), graphstoretest.OnNth(graphstoretest.MethodLoadAll, 1, graphstoretest.Fault{Before: boom}))
	g := live.New(store, quiet())
	if _, err := g.View(s); !errors.Is(err, live.ErrLoading) {
		t.Errorf("before Load: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Apply(ctx, []graphstore.Change{fact(s, "a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply before Load: %v: want it to wait until the caller gives up", err)
	}
	if err := g.Load(context.Background()); !errors.Is(err, boom) {
		t.Fatalf("Load: %v", err)
	}
	<-g.Failed()
	if _, err := g.View(s); !errors.Is(err, boom) {
		t.Errorf("after a failed Load: %v: want the reason", err)
	}
	if err := g.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-g.Loaded()
	if snap, err := g.View(s); err != nil || snap.Facts() != 0 || snap.Space() != s {
		t.Errorf("a user the graph does not know: %v, %v: want an empty snapshot", snap, err)
	}
	if _, err := g.View(graphstore.Space{}); !errors.Is(err, graphstore.ErrNoSpace) {
		t.Errorf("no space: %v", err)
	}
}

func TestRefusedChangesPublishNothing(t *testing.T) {
	s := graphstoretest.SpaceName(0)
	store := graphstoretest.NewMemory()
	g := loaded(t, store)
	edge := graphstore.PutEdge(s, graphstore.Edge{Source: "a", Target: "b", Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "a"}})
	if err := g.Apply(context.Background(), []graphstore.Change{fact(s, "a"), edge}); !errors.Is(err, graphstore.ErrDangling) {
		t.Errorf("edge to nowhere: %v", err)
	}
	if err := g.Apply(context.Background(), []graphstore.Change{fact(s, "a"), fact(s, "a")}); !errors.Is(err, graphstore.ErrBadChange) {
		t.Errorf("one fact twice: %v", err)
	}
	if g.Counts().Facts != 0 || storeDigest(t, store) != (graphstore.Digest{}) {
		t.Errorf("something was kept: %+v", g.Counts())
	}
}

// A commit whose answer was lost: readers keep what was published, planning sees what the store has, and nothing but the
// head is read to know which it is.
func TestUnknownOutcomeIsDecidedByTheHead(t *testing.T) {
	lost := errors.New("answer lost")
	for name, tc := range map[string]struct {
		fault graphstoretest.Fault
		facts int // that the store has of each user
	}{"committed": {graphstoretest.Fault{After: lost}, 2}, "not committed": {graphstoretest.Fault{Before: lost}, 1}} {
		t.Run(name, func(t *testing.T) {
			users := []graphstore.Space{graphstoretest.SpaceName(0), graphstoretest.SpaceName(1)}
			memory := graphstoretest.NewMemory()
			store := graphstoretest.NewFaulty(memory, graphstoretest.OnNth(graphstoretest.MethodApply, 2, tc.fault))
			g := loaded(t, store)
			ctx := context.Background()
			if err := g.Apply(ctx, []graphstore.Change{fact(users[0], "a"), fact(users[1], "a")}); err != nil {
				t.Fatal(err)
			}
			if err := g.Apply(ctx, []graphstore.Change{fact(users[0], "b"), fact(users[1], "b")}); !errors.Is(err, lost) {
				t.Fatalf("Apply: %v", err)
			}
			if snap, err := g.View(users[0]); err != nil || snap.Facts() != 1 {
				t.Errorf("reader: %d facts, %v: want the 1 that was published", snap.Facts(), err)
			}
			for _, u := range users {
				if snap, err := g.Snapshot(ctx, u); err != nil || snap.Facts() != tc.facts {
					t.Errorf("planner: %d facts, %v: want the %d that the store has", snap.Facts(), err, tc.facts)
				}
				if snap, err := g.View(u); err != nil || snap.Facts() != tc.facts {
					t.Errorf("reader afterwards: %d facts, %v", snap.Facts(), err)
				}
			}
			if n := store.Calls(graphstoretest.MethodLoad); n != 0 {
				t.Errorf("%d loads of single spaces: want none", n)
			}
			if err := g.Apply(ctx, []graphstore.Change{fact(users[0], "c")}); err != nil || g.Digest() != storeDigest(t, memory) {
				t.Errorf("the next commit: %v; live and store differ", err)
			}
		})
	}
}

// Readers see whole transactions only and never wait for a commit in progress.
func TestReadersDoNotWait(t *testing.T) {
	s := graphstoretest.SpaceName(0)
	hold := make(chan struct{})
	store := graphstoretest.NewFaulty(graphstoretest.NewMemory(), graphstoretest.OnNth(graphstoretest.MethodApply, 2, graphstoretest.Fault{Wait: hold}))
	g := loaded(t, store)
	pair := func(i int) []graphstore.Change {
		return []graphstore.Change{fact(s, fmt.Sprintf("a%d", i)), fact(s, fmt.Sprintf("b%d", i))}
	}
	if err := g.Apply(context.Background(), pair(0)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := g.Apply(context.Background(), pair(1)); err != nil {
			t.Error(err)
		}
	})
	for store.Calls(graphstoretest.MethodApply) < 2 {
		time.Sleep(time.Millisecond) // the commit has begun when the store is in it
	}
	if snap, err := g.View(s); err != nil || snap.Facts() != 2 {
		t.Errorf("during the commit: %d facts, %v: want the 2 of before", snap.Facts(), err)
	}
	close(hold)
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if snap, err := g.View(s); err != nil || snap.Facts()%2 != 0 {
					t.Errorf("half a transaction: %d facts, %v", snap.Facts(), err)
				}
			}
		})
	}
	for i := 2; i < 100; i++ {
		if err := g.Apply(context.Background(), pair(i)); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
