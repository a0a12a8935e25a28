package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

var kuzuHistories = flag.Int("kuzu-histories", 4, "random histories that go through a Kuzu file and are compared with the model")

// TestHistoriesThroughKuzu takes random histories of every event type through one Kuzu file, in transactions of any size, each
// planned against what the file yields, with the file closed and opened between: it ends with the graphs of the model, by
// digest and record by record, next to those of the histories before.
func TestHistoriesThroughKuzu(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	shape := projectortest.SmallShape()
	plan, err := projector.New(shape.Config())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "graph.kuzu")
	open := func() *kuzu.Store {
		t.Helper()
		store, err := kuzu.Open(path, kuzu.Config{BufferPoolBytes: 64 << 20, MaxDBBytes: 1 << 34, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	reopen := func(store *kuzu.Store) *kuzu.Store {
		t.Helper()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		return open()
	}
	store, all := open(), projectortest.NewModel(shape)
	events, transactions, reopened := 0, 0, 0
	for i := range *kuzuHistories {
		spaces := []graphstore.Space{spaceOf(t, fmt.Sprint("ann", i)), spaceOf(t, fmt.Sprint("bob", i))}
		history := projectortest.GenHistory(60, spaces...).Example(int(rng.Uint64() >> 1))
		all.Add(history...)
		order := append(projectortest.History(nil), history...)
		for range len(history) / 3 {
			order = append(order, history[rng.IntN(len(history))])
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for len(order) > 0 {
			n := min(len(order), 1+rng.IntN(12))
			if err := projectortest.Through(t.Context(), store, plan, order[:n]); err != nil {
				t.Fatalf("seed %d, history %d: %v", seed, i, err)
			}
			events, transactions, order = events+n, transactions+1, order[n:]
			if rng.IntN(8) == 0 {
				store, reopened = reopen(store), reopened+1
			}
		}
		for _, space := range spaces {
			view, err := projectortest.Load(t.Context(), store, space)
			if err != nil {
				t.Fatal(err)
			}
			if diff := all.Diff(view); diff != "" {
				t.Fatalf("seed %d, history %d, user %s (-model +file):\n%s\nof%#v", seed, i, space, diff, history)
			}
			if err := graphstoretest.CheckSnapshot(view); err != nil {
				t.Fatalf("seed %d, history %d, user %s: %v", seed, i, space, err)
			}
		}
	}
	store = reopen(store)
	defer store.Close()
	if head, err := store.Head(t.Context()); err != nil || head.Digest != all.Digest() {
		t.Errorf("seed %d: digest %s, %v: the model's is %s", seed, head.Digest, err, all.Digest())
	}
	t.Logf("seed %d: %d histories, %d events in %d transactions, opened again %d times", seed, *kuzuHistories, events, transactions, reopened)
}

func spaceOf(t *testing.T, user string) graphstore.Space {
	t.Helper()
	space, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return space
}
