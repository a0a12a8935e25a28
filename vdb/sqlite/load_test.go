package sqlite

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

func testCache(t *testing.T) (*cache, loadKey) {
	t.Helper()
	c, err := newCache(Config{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	space, err := graphstore.NewSpace("u")
	if err != nil {
		t.Fatal(err)
	}
	return c, loadKey{space, 0, 5}
}

// A caller that waits for a load which another caller's cancellation ends does the load itself.
func TestCache_waiterOutlivesCancelledLoad(t *testing.T) {
	c, key := testCache(t)
	leaderCtx, cancel := context.WithCancel(t.Context())
	loadBegun := make(chan struct{})
	leaderErr := make(chan error)
	go func() {
		_, err := c.load(leaderCtx, key, func(*matrix) (*matrix, error) {
			close(loadBegun)
			<-leaderCtx.Done()
			return nil, leaderCtx.Err()
		})
		leaderErr <- err
	}()
	<-loadBegun
	want := &matrix{rev: key.rev}
	waiter := make(chan error)
	go func() {
		m, err := c.load(t.Context(), key, func(*matrix) (*matrix, error) { return want, nil })
		if err == nil && m != want {
			err = errors.New("got another matrix than its own")
		}
		waiter <- err
	}()
	cancel() // before or after the waiter has joined: both must work
	if err := <-leaderErr; !errors.Is(err, context.Canceled) {
		t.Errorf("leader: got error %v, want context.Canceled", err)
	}
	if err := <-waiter; err != nil {
		t.Errorf("waiter: %v", err)
	}
}

func TestCache_waiterSharesErrorAndPanicFreesTheKey(t *testing.T) {
	c, key := testCache(t)
	broken := errors.New("broken")
	if _, err := c.load(t.Context(), key, func(*matrix) (*matrix, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of a load was swallowed")
			}
		}()
		_, _ = c.load(t.Context(), key, func(*matrix) (*matrix, error) { panic("load") })
	}()
	want := &matrix{rev: key.rev}
	if m, err := c.load(t.Context(), key, func(*matrix) (*matrix, error) { return want, nil }); err != nil || m != want {
		t.Errorf("after an error and a panic: got %v, error %v", m, err)
	}
}

func TestCache_newerStays(t *testing.T) {
	c, key := testCache(t)
	for _, rev := range []int64{5, 7, 6} { // 6 was read by someone slower than the reader of 7
		c.put(key.space, &matrix{rev: rev})
	}
	if m := c.get(key.space); m == nil || m.rev != 7 {
		t.Errorf("got %+v, want rev 7", m)
	}
}

// The bound counts memory: weights of what is kept never sum to more.
func TestCache_bound(t *testing.T) {
	vectors := make([][]float32, 100)
	for i := range vectors {
		vectors[i] = make([]float32, 128)
		vectors[i][0] = 1
	}
	m := matrixOf(vectors)
	least := 100 * 128 * 4 // the numbers alone
	if n := m.bytes(); n < least || n > 2*least {
		t.Errorf("a matrix of %d bytes of numbers weighs %d", least, n)
	}
	cfg := Config{CacheBytes: int64(3 * m.bytes())}
	c, err := newCache(cfg.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	kept := 0
	for _, user := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		space, err := graphstore.NewSpace(user)
		if err != nil {
			t.Fatal(err)
		}
		c.put(space, m)
	}
	for range c.matrices.All() {
		kept++
	}
	if kept == 0 || kept > 3 {
		t.Errorf("%d matrices kept, want 1 to 3", kept)
	}
}
