package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Store is a [graphstore.Store] in a child process. All methods are safe for concurrent use; no hook and no yield function
// may close it.
//
// While the child is started again calls wait for it, for as long as their contexts allow; while the breaker is open, or
// the graph must be left alone, they return at once.
type Store struct {
	cfg Config
	log *slog.Logger

	stop       context.CancelFunc // of the supervisor
	supervised chan struct{}      // closed when the supervisor has ended
	closing    chan struct{}      // closed when Close no longer waits for calls
	recycles   chan chan error    // to the supervisor
	errands    chan errand        // likewise
	// loadDeaths counts the children that died in a load since the last LoadAll that succeeded.
	loadDeaths atomic.Int64

	mu struct {
		sync.Mutex
		process  *process      // takes calls; nil while none does
		refusal  error         // what calls get at once; nil: they wait
		changed  chan struct{} // closed at the next change of the above
		closed   bool
		emptied  bool // calls are refused until somebody accepts the empty graph
		inflight int
		idle     chan struct{} // closed when no call is in flight; nil while nobody waits for that
		health   Health
	}
	once sync.Once
}

var _ graphstore.Store = (*Store)(nil)

// Start starts the child and returns when its graph is open. Files that must be left alone ([ErrInUse], [ErrForeign],
// [ErrNewerSchema]) and a child that does not come up are errors; a graph that cannot be opened is moved aside as
// Config.Quarantine says, and Start goes on with an empty one. The context bounds Start, not the store.
func Start(ctx context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, log: cfg.Logger.With("component", "graphstore/child"), supervised: make(chan struct{}),
		closing: make(chan struct{}), recycles: make(chan chan error), errands: make(chan errand)}
	s.mu.changed = make(chan struct{})
	sup := newSupervisor(s)
	p, err := sup.first(ctx)
	if err != nil {
		return nil, fmt.Errorf("start store child: %w", err)
	}
	s.running(p)
	s.log.Info("store child runs", "pid", p.pid, "path", cfg.Path, "graph", p.graph)
	life, stop := context.WithCancel(context.Background())
	s.stop = stop
	go sup.run(life, p)
	return s, nil
}

func (s *Store) running(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phaseLocked(PhaseRunning, p, nil)
}

// enter begins a call: it waits for a child that takes it. leave ends it.
func (s *Store) enter(ctx context.Context) (*process, error) {
	for {
		p, changed, err := s.tryEnter(ctx)
		if p != nil || err != nil {
			return p, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("store child is being restarted after %s: %w", s.Health().LastReason, ctx.Err())
		}
	}
}

func (s *Store) tryEnter(ctx context.Context) (*process, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, nil, graphstore.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.mu.emptied {
		return nil, nil, ErrEmptied
	}
	if s.mu.process != nil {
		s.mu.inflight++
		return s.mu.process, nil, nil
	}
	return nil, s.mu.changed, s.mu.refusal
}

func (s *Store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.inflight--; s.mu.inflight == 0 && s.mu.idle != nil {
		close(s.mu.idle)
		s.mu.idle = nil
	}
}

// whenIdleLocked returns a channel that is closed when no call is in flight.
func (s *Store) whenIdleLocked() <-chan struct{} {
	if s.mu.inflight == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if s.mu.idle == nil {
		s.mu.idle = make(chan struct{})
	}
	return s.mu.idle
}

// Close implements [graphstore.Store]: it waits for the calls in flight, lets the child close the graph, and ends it. What
// is not done after Config.CloseTimeout is killed, and the error says so; what was committed is durable in any case.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	deadline := time.Now().Add(s.cfg.CloseTimeout)
	drained := s.drain(deadline)
	s.stop()
	<-s.supervised
	close(s.closing)
	s.mu.Lock()
	p := s.mu.process
	s.phaseLocked(PhaseClosed, nil, nil)
	s.mu.Unlock()
	switch {
	case p == nil:
		return nil
	case !drained:
		p.release()
		return fmt.Errorf("close: calls still in flight after %v: store child killed", s.cfg.CloseTimeout)
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if err := p.close(ctx); err != nil {
		if lost := (*lostError)(nil); errors.As(err, &lost) || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) { // by the child's clock, too
			p.release()
			return fmt.Errorf("close: store child did not answer: %w: %s", err, p.obituary())
		}
		p.stop(time.Until(deadline))
		return fmt.Errorf("close: %w", err)
	}
	p.stop(time.Until(deadline))
	return nil
}

// drain refuses new calls and waits for those in flight.
func (s *Store) drain(deadline time.Time) (drained bool) {
	s.mu.Lock()
	s.mu.closed = true
	idle := s.whenIdleLocked()
	close(s.mu.changed) // wakes calls that wait for a child
	s.mu.changed = make(chan struct{})
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}
