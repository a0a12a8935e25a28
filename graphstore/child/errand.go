package child

import (
	"context"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// errand is something to do with the files of the graph. The supervisor does it, so that nobody else has them then.
type errand struct {
	// do does it, in the place of the child p; nil: none runs. It returns the child that takes over: p if it stays, nil if
	// one is to be started.
	do   func(ctx context.Context, v *supervisor, p *process) (next *process, err error)
	done chan error // has room for one
}

// run does it and reports the outcome.
func (e errand) run(ctx context.Context, v *supervisor, p *process) (next *process, err error) {
	next, err = e.do(ctx, v, p)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", graphstore.ErrClosed, err)
	}
	e.done <- err
	return next, err
}

// perform runs an errand and returns the child that takes over, or nil when the context ends.
func (v *supervisor) perform(ctx context.Context, p *process, e errand) *process {
	down := time.Now()
	next, _ := e.run(ctx, v, p)
	switch next {
	case p:
	case nil:
		next = v.succeed(ctx, down, 0)
	default:
		v.takeOver(next, 1, down)
	}
	return next
}

// send has the supervisor run an errand and returns its outcome. The context bounds the wait for its beginning.
func (s *Store) send(ctx context.Context, do func(context.Context, *supervisor, *process) (*process, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := errand{do: do, done: make(chan error, 1)}
	select {
	case s.errands <- e:
		return <-e.done
	case <-s.supervised:
		return graphstore.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
