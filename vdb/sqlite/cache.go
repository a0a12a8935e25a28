package sqlite

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"sync"

	"github.com/maypok86/otter/v2"

	"github.com/kithgraph/kith/graphstore"
)

// cache keeps the newest known matrix of each user, bounded in bytes, and lets one caller load what several want.
type cache struct {
	matrices *otter.Cache[graphstore.Space, *matrix]
	log      *slog.Logger
	loads    struct {
		sync.Mutex
		running map[loadKey]*loading
	}
}

// loadKey names one state of one user: whoever waits for it gets exactly that state.
type loadKey struct {
	space  graphstore.Space
	userNo int64
	rev    int64
}

// is reports whether the matrix is that of the key. A user that was erased and comes again has another number.
func (m *matrix) is(key loadKey) bool { return m.userNo == key.userNo && m.rev == key.rev }

// notBefore reports whether the matrix is of the same state as the other, or of a later one.
func (m *matrix) notBefore(other *matrix) bool {
	return cmp.Or(cmp.Compare(m.userNo, other.userNo), cmp.Compare(m.rev, other.rev)) >= 0
}

type loading struct {
	done      chan struct{} // closed when the rest is set
	matrix    *matrix
	err       error
	abandoned bool // the caller that loaded was cancelled
}

func newCache(cfg Config) (*cache, error) {
	const unit = 1 << 10 // weights are 32 bits wide: in KiB they reach 4 TiB
	matrices, err := otter.New(&otter.Options[graphstore.Space, *matrix]{
		MaximumWeight: uint64(max(1, cfg.CacheBytes/unit)),
		Weigher: func(_ graphstore.Space, m *matrix) uint32 {
			return uint32(min(math.MaxUint32, m.bytes()/unit+1))
		},
		Executor: func(fn func()) { fn() }, // evict at once: the bound is on memory
	})
	if err != nil {
		return nil, err
	}
	c := &cache{matrices: matrices, log: cfg.Logger}
	c.loads.running = make(map[loadKey]*loading)
	return c, nil
}

func (c *cache) close() {
	c.matrices.InvalidateAll()
	c.matrices.StopAllGoroutines()
}

// get returns the newest known matrix of the user, nil when there is none.
func (c *cache) get(space graphstore.Space) *matrix {
	m, _ := c.matrices.GetIfPresent(space)
	return m
}

// put keeps a matrix unless a newer one is there.
func (c *cache) put(space graphstore.Space, m *matrix) {
	c.matrices.Compute(space, func(old *matrix, found bool) (*matrix, otter.ComputeOp) {
		if found && old.notBefore(m) {
			return old, otter.CancelOp
		}
		return m, otter.WriteOp
	})
}

// drop forgets the user.
func (c *cache) drop(space graphstore.Space) { c.matrices.Invalidate(space) }

// written notes that this process has brought the user to a rev.
func (c *cache) written(space graphstore.Space, rev int64) {
	if m := c.get(space); m != nil && m.rev < rev {
		m.stale.Store(true)
	}
}

// load returns the matrix of one state of a user, from the cache, from a load that another caller has begun, or by load,
// which gets the newest known matrix of the user (nil: none) to build upon. A waiting caller whose context lives does not
// inherit the cancellation of the one that loads: it loads itself.
func (c *cache) load(ctx context.Context, key loadKey, load func(base *matrix) (*matrix, error)) (*matrix, error) {
	for {
		base := c.get(key.space)
		if base != nil && base.is(key) {
			return base, nil
		}
		l, mine := c.join(key)
		if mine {
			c.run(ctx, key, l, func() (*matrix, error) { return load(base) })
			return l.matrix, l.err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !l.abandoned {
			return l.matrix, l.err
		}
	}
}

// join returns the load of the key, and whether the caller is the one to run it.
func (c *cache) join(key loadKey) (l *loading, mine bool) {
	c.loads.Lock()
	defer c.loads.Unlock()
	if l := c.loads.running[key]; l != nil {
		return l, false
	}
	l = &loading{done: make(chan struct{}), abandoned: true} // true until load returns: it may panic
	c.loads.running[key] = l
	return l, true
}

func (c *cache) run(ctx context.Context, key loadKey, l *loading, load func() (*matrix, error)) {
	defer func() {
		c.loads.Lock()
		delete(c.loads.running, key)
		c.loads.Unlock()
		close(l.done)
	}()
	l.matrix, l.err = load()
	l.abandoned = l.err != nil && ctx.Err() != nil
	if l.err == nil {
		c.put(key.space, l.matrix)
	}
}
