package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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

	mu struct {
		sync.Mutex
		process  *process      // takes calls; nil while none does
		refusal  error         // what calls get at once; nil: they wait
		changed  chan struct{} // closed at the next change of the above
		closed   bool
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
		closing: make(chan struct{}), recycles: make(chan chan error)}
	s.mu.changed = make(chan struct{})
	sup := newSupervisor(s)
	p, err := sup.first(ctx)
	if err != nil {
		return nil, fmt.Errorf("start store child: %w", err)
	}
	s.running(p)
	s.log.Info("store child runs", "pid", p.pid, "path", cfg.Path)
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

// call makes a call of the child and turns its loss into [ErrChildDied].
func (s *Store) call(ctx context.Context, do func(*process) error) error {
	p, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	err = do(p)
	if lost, is := err.(*lostError); is { //nolint:errorlint // ours and never wrapped; an error of yield is not looked into
		return s.died(ctx, p, lost)
	}
	return err
}

// died ends a process that gave no answer, and returns the call's error when the store knows of the end: the next call
// does not meet the dead child again.
func (s *Store) died(ctx context.Context, p *process, lost *lostError) error {
	p.kill()
	select {
	case <-p.noted:
	case <-ctx.Done():
		return fmt.Errorf("%w: process %d: %w: %w", ErrChildDied, p.pid, lost, ctx.Err())
	case <-s.closing:
		<-p.ended
		return fmt.Errorf("%w: %w: process %d: %s", ErrChildDied, graphstore.ErrClosed, p.pid, p.obituary())
	}
	return fmt.Errorf("%w: process %d: %s", ErrChildDied, p.pid, p.obituary())
}

// Apply implements [graphstore.Store]. [ErrChildDied] and [ErrUnanswered] leave the outcome unknown; [ErrBreakerOpen] and
// a context that ended leave the graph as it was.
func (s *Store) Apply(ctx context.Context, changes []graphstore.Change) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	return s.call(ctx, func(p *process) error {
		if len(changes) == 0 {
			return nil
		}
		hung := time.AfterFunc(s.cfg.ApplyLimit, func() {
			p.condemn(fmt.Sprintf("an apply was not answered within %v", s.cfg.ApplyLimit))
		})
		defer hung.Stop()
		return p.apply(ctx, s.cfg.AnswerWait, changes)
	})
}

// Load implements [graphstore.Store]. After [ErrChildDied] some records may have been yielded.
func (s *Store) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	if space.IsZero() {
		return graphstore.ErrNoSpace
	}
	return s.call(ctx, func(p *process) error { return p.load(ctx, &space, yield) })
}

// LoadAll implements [graphstore.Store], like Load.
func (s *Store) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	return s.call(ctx, func(p *process) error { return p.load(ctx, nil, yield) })
}

// Spaces implements [graphstore.Store].
func (s *Store) Spaces(ctx context.Context) (spaces []graphstore.Space, err error) {
	err = s.call(ctx, func(p *process) (err error) {
		spaces, err = p.spaces(ctx)
		return err
	})
	return spaces, err
}

// Stats implements [graphstore.Store].
func (s *Store) Stats(ctx context.Context) (st graphstore.Stats, err error) {
	err = s.call(ctx, func(p *process) (err error) {
		st, err = p.stats(ctx)
		return err
	})
	return st, err
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
		if lost := (*lostError)(nil); errors.As(err, &lost) || ctx.Err() != nil {
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
