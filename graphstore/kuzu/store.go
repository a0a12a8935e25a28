package kuzu

import (
	"context"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"github.com/kithgraph/kith/graphstore"
)

// Store is a [graphstore.Store] in one Kuzu file. See the package documentation for its invariants. All methods are safe
// for concurrent use; none may be called from the yield function of a load.
type Store struct {
	path  string
	cfg   Config
	log   *slog.Logger
	owner *flock.Flock
	id    string      // of the graph, set by Open
	file  fs.FileInfo // as Open found it

	requests chan func() // to the writer goroutine
	written  chan struct{}
	leaked   atomic.Int64

	// gate keeps readers out while the engine is replaced: they hold it shared for a whole load, the writer goroutine
	// alone takes it exclusively. engine is nil after a replacement that failed, until the next write succeeds in it.
	gate   sync.RWMutex
	engine *engine

	index  *index // its pointer changes under gate only
	head   headState
	budget budget // the writer goroutine's

	life struct {
		sync.Mutex
		closed bool
		calls  sync.WaitGroup // in flight
		once   sync.Once
	}
}

var _ graphstore.Store = (*Store)(nil)

func newStore(path string, cfg Config, owner *flock.Flock) *Store {
	return &Store{path: path, cfg: cfg, log: cfg.Logger.With("component", "graphstore/kuzu"), owner: owner,
		requests: make(chan func()), written: make(chan struct{}), budget: budget{cfg: cfg}}
}

// enter begins a call; leave ends it.
func (s *Store) enter(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.life.closed {
		return graphstore.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.calls.Add(1)
	return nil
}

func (s *Store) leave() { s.life.calls.Done() }

// Close implements [graphstore.Store]. It waits for the calls in flight, checkpoints if the disk has the space, and gives
// the file up. Its error is that of giving up the lock; what was committed is durable in any case.
func (s *Store) Close() error {
	s.life.Lock()
	s.life.closed = true
	s.life.Unlock()
	var err error
	s.life.once.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	s.life.calls.Wait()
	close(s.requests)
	<-s.written
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.engine != nil && s.budget.records > 0 && !s.cfg.hooks.keepLog {
		if err := s.checkpointLocked(); err != nil {
			s.log.Warn("no checkpoint at close: the next open replays the log", "err", err)
		}
	}
	s.closeEngine()
	return s.owner.Unlock()
}

func (s *Store) closeEngine() {
	if s.engine != nil {
		s.engine.close()
		s.engine = nil
	}
}

// Leaked returns how many bytes of text were handed to Kuzu so far. The binding copies each text and never frees the copy
// (go-kuzu v0.11.3), so this much native memory is lost until the process ends. References keep it small: a fact costs its
// id and the texts that no other record of its space has, an edge nothing, or the names of its type and of its asserter's kind if
// it is written alone. A supervisor restarts the process when the number grows too large.
func (s *Store) Leaked() int64 { return s.leaked.Load() }
