package main

import (
	"context"
	"sync/atomic"

	"github.com/sourcegraph/conc/stream"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/live"
)

// rewriting yields the graphs of users as they become, in the order in which they are given. They are made side by side, since they
// have nothing to do with each other; no more of them are in memory than there are hands for.
type rewriting struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call
	from   *live.Graph
	seed   *live.Seed
	yield  func(graphstore.Change) error
	stream *stream.Stream
	failed atomic.Pointer[error] // the first error
}

// rewriters is how many users are planned at the same time, beside one that is being written.
const rewriters = 2

func newRewriting(ctx context.Context, from *live.Graph, seed *live.Seed, yield func(graphstore.Change) error) *rewriting {
	return &rewriting{ctx: ctx, from: from, seed: seed, yield: yield, stream: stream.New().WithMaxGoroutines(rewriters)}
}

// user takes one user on, nil as the user is. Its error is one of an earlier user.
func (w *rewriting) user(space graphstore.Space, become backfill.Become) error {
	if err := w.err(); err != nil {
		return err
	}
	w.stream.Go(func() stream.Callback {
		view, err := w.over(space, become)
		return func() {
			if err == nil && w.err() == nil {
				err = recordsOf(view.Records())(w.yield)
			}
			w.fail(err)
		}
	})
	return nil
}

// over returns the user's graph as it becomes.
func (w *rewriting) over(space graphstore.Space, become backfill.Become) (*graphstore.Snapshot, error) {
	if err := w.err(); err != nil {
		return nil, err
	}
	view, err := w.from.Snapshot(w.ctx, space)
	if err != nil {
		return nil, err
	}
	if become != nil {
		if view, err = become(view); err != nil {
			return nil, err
		}
	}
	w.seed.Add(view)
	return view, nil
}

// end waits for all users and returns the first error. It must be called, also after an error.
func (w *rewriting) end() error {
	w.stream.Wait()
	return w.err()
}

func (w *rewriting) fail(err error) {
	if err != nil {
		w.failed.CompareAndSwap(nil, &err)
	}
}

func (w *rewriting) err() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}
