package sqlite_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func manyPoints(t testing.TB, n, dim int) []vdb.Point {
	t.Helper()
	return vdbtest.Points(1, mustSpace("u"), n, dim)
}

// A store that can keep 3 of 20 users in memory answers as one that keeps all, while both are written to.
func TestCache_smallBoundSameAnswers(t *testing.T) {
	const users, each, dim = 20, 40, 32 // a user takes about 40*(4*32+300) bytes, 17 KiB
	path := filepath.Join(t.TempDir(), "vectors.db")
	small, big := open(t, path, sqlite.Config{CacheBytes: 60 << 10}), open(t, path, sqlite.Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	for u := range users {
		if err := big.Upsert(t.Context(), vdbtest.Points(uint64(u), mustSpace(fmt.Sprint(u)), each, dim)); err != nil {
			t.Fatal(err)
		}
	}
	filters := []vdb.Filter{{}, hotOnly, {Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{"active"}}}},
		{Match: []vdb.FieldMatch{{Field: "lang", Any: []string{"zh"}}}}}
	for i := range 300 {
		u := rng.IntN(users)
		sp := mustSpace(fmt.Sprint(u))
		q := vdb.Query{Space: sp, Vector: vdbtest.Vector(uint64(i), dim), Limit: 1 + rng.IntN(50), Filter: filters[rng.IntN(len(filters))], WithVectors: true}
		want, err := big.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := small.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })); diff != "" {
			t.Fatalf("search %d of user %d (-big +small):\n%s", i, u, diff)
		}
		if i%5 == 0 {
			if err := small.Upsert(t.Context(), vdbtest.Points(uint64(1000+i), sp, 3, dim)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// loadCounter counts the store's debug records, one for each matrix read from the file.
type loadCounter struct {
	slog.Handler
	mu    sync.Mutex
	loads int
}

func (c *loadCounter) Enabled(context.Context, slog.Level) bool { return true }

func (c *loadCounter) Handle(context.Context, slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	return nil
}

func (c *loadCounter) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.loads
	c.loads = 0
	return n
}

func TestCache_loads(t *testing.T) {
	const dim = 64
	counter := &loadCounter{Handler: slog.DiscardHandler}
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{Logger: slog.New(counter)})
	other := open(t, path, sqlite.Config{})
	if err := st.Upsert(t.Context(), manyPoints(t, 3000, dim)); err != nil {
		t.Fatal(err)
	}
	searches := func(n int) {
		t.Helper()
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				q := vdb.Query{Space: mustSpace("u"), Vector: vdbtest.Vector(uint64(i), dim), Limit: 5}
				if m, err := st.Search(t.Context(), q); err != nil || len(m) != 5 {
					t.Errorf("%d matches, error %v", len(m), err)
				}
			})
		}
		wg.Wait()
	}
	expect := func(what string, want int) {
		t.Helper()
		if n := counter.take(); n != want {
			t.Errorf("%s: %d loads, want %d", what, n, want)
		}
	}
	searches(16)
	expect("16 searches at once of a user not in memory", 1)
	searches(16)
	expect("16 more", 0)
	if err := other.Upsert(t.Context(), vdbtest.Points(1, mustSpace("another"), 10, dim)); err != nil {
		t.Fatal(err)
	}
	searches(4)
	expect("after another user was written to", 0)
	if err := other.Upsert(t.Context(), manyPoints(t, 1, dim)); err != nil {
		t.Fatal(err)
	}
	searches(4)
	expect("after the user was written to through the other handle", 1)
	if err := st.Delete(t.Context(), mustSpace("u"), []string{"no such point"}); err != nil {
		t.Fatal(err)
	}
	searches(4)
	expect("after a delete of nothing", 0)
}

// While one goroutine rewrites all points of a user, every answer shows them in one generation.
func TestSearch_oneGenerationWhileWriting(t *testing.T) {
	st := open(t, filepath.Join(t.TempDir(), "vectors.db"), sqlite.Config{})
	put := func(g int) {
		if err := st.Upsert(t.Context(), generation(mustSpace("a"), g)); err != nil {
			t.Error(err)
		}
	}
	put(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for g := 2; g < 60; g++ {
			put(g)
		}
	}()
	for {
		readHot(t, st)
		select {
		case <-done:
			return
		default:
		}
	}
}
