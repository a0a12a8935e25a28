package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// call makes a call of the child and turns its loss into [ErrChildDied]. When the child answers that the graph is damaged,
// the graph is being moved aside when call returns.
func (s *Store) call(ctx context.Context, do func(*process) error) error {
	p, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	err = do(p)
	switch err := err.(type) { //nolint:errorlint // ours and never wrapped; an error of yield is not looked into
	case *lostError:
		return s.died(ctx, p, err)
	case *remoteError:
		if err.from == p.link && errors.Is(err, graphstore.ErrDamaged) && !s.cfg.Quarantine.Off {
			p.condemnGraph(err.Error())
			s.awaitNote(ctx, p)
		}
	}
	return err
}

// awaitNote waits until the supervisor knows of the end of a process: the next call does not meet it again.
func (s *Store) awaitNote(ctx context.Context, p *process) {
	select {
	case <-p.noted:
	case <-ctx.Done():
	case <-s.closing:
	}
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
	return s.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked implements [graphstore.Store], like Apply. [ErrUntrusted] and [ErrEmptied] leave the graph as it was.
func (s *Store) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	return s.call(ctx, func(p *process) error {
		if len(changes) == 0 && mark == (graphstore.Mark{}) {
			return nil
		}
		if p.untrusted.Load() {
			return ErrUntrusted
		}
		hung := p.patience.watch(s.cfg.ApplyLimit, func() {
			p.condemn(fmt.Sprintf("an apply was not answered within %v", s.cfg.ApplyLimit))
		})
		defer hung.end()
		return p.apply(ctx, s.cfg.AnswerWait, changes, mark)
	})
}

// Head implements [graphstore.Store].
func (s *Store) Head(ctx context.Context) (h graphstore.Head, err error) {
	err = s.call(ctx, func(p *process) (err error) {
		h, err = p.head(ctx)
		return err
	})
	return h, err
}

// Load implements [graphstore.Store]. After [ErrChildDied] some records may have been yielded.
func (s *Store) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	if space.IsZero() {
		return graphstore.ErrNoSpace
	}
	return s.load(ctx, &space, yield)
}

// LoadAll implements [graphstore.Store], like Load.
func (s *Store) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	err := s.load(ctx, nil, yield)
	if err == nil {
		s.loadDeaths.Store(0)
	}
	return err
}

func (s *Store) load(ctx context.Context, space *graphstore.Space, yield func(graphstore.Change) error) error {
	return s.call(ctx, func(p *process) error {
		err := p.whileLoading(func() error { return p.load(ctx, space, yield) })
		if err == nil && s.cfg.MemoryLimit > 0 {
			p.loaded.Do(p.measure)
		}
		return err
	})
}

// whileLoading does what reads the graph, and counts it as a load in flight. In the eyes of who looks into the death of the
// process, one that the death cut off goes on.
func (p *process) whileLoading(do func() error) error {
	p.loads.Add(1)
	err := do()
	if _, lost := err.(*lostError); !lost { //nolint:errorlint // as in call
		p.loads.Add(-1)
	}
	return err
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
