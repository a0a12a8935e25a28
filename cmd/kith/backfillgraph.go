package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/live"
)

var _ backfill.Rewriter = (*graphHost)(nil)

// planTurn waits until nobody plans changes of the graph. Who has planned against a snapshot commits before done is called, so that
// the next one plans against what was committed. The feed takes it for each of its batches, a backfill for each page.
func (h *graphHost) planTurn(ctx context.Context) (done func(), err error) {
	select {
	case h.planning <- struct{}{}:
		return func() { <-h.planning }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another writer of the graph: %w", context.Cause(ctx))
	}
}

// Update implements [backfill.Graph].
func (h *graphHost) Update(ctx context.Context, plan func(context.Context, backfill.Views) ([]graphstore.Change, error)) error {
	done, err := h.planTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	g := h.live.Load()
	changes, err := plan(ctx, g.Snapshot)
	if err != nil || len(changes) == 0 {
		return err
	}
	return g.Apply(ctx, changes)
}

// ID implements [backfill.Graph].
func (h *graphHost) ID(ctx context.Context) (string, error) {
	head, err := h.file.Head(ctx)
	return head.ID, err
}

// Facts implements [backfill.Rewriter].
func (h *graphHost) Facts(ctx context.Context) (int64, error) {
	g := h.live.Load()
	select {
	case <-g.Loaded():
		return int64(g.Counts().Present), nil
	case <-g.Failed():
		_, err := g.View(probeSpace())
		return 0, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Rewrite implements [backfill.Rewriter]. The feed has stopped meanwhile: events wait in their stream.
func (h *graphHost) Rewrite(ctx context.Context, users func(yield backfill.YieldUser) error) error {
	return h.maintenance.wait(ctx, "backfill", func() error {
		var shown <-chan struct{}
		err := h.turns.ask(ctx, func(g *live.Graph) (*live.Graph, error) {
			seed := live.NewSeed(h.e.cfg.Graph.MemoryBytes)
			b, err := withBallast(func() (built, error) { return h.buildBackfilled(ctx, g, seed, users) })
			if err != nil {
				return nil, errors.Join(err, removeGraph(b.path))
			}
			if err := h.takeUpBackfilled(ctx, b, g); err != nil {
				return nil, errors.Join(fmt.Errorf("take up the backfilled graph: %w", err), removeGraph(b.path))
			}
			shown = h.next.shown
			next := h.newLive()
			if err := next.LoadSeed(ctx, seed); err != nil { // it is read from the file instead
				h.e.log.Debug("the backfilled graph is not taken from memory", "err", err)
			}
			return next, nil
		})
		if err != nil {
			return err
		}
		select {
		case <-shown:
		case <-h.turns.over:
		}
		return nil
	})
}

// buildBackfilled writes a file with the graphs of the users that are yielded as they become, and those of the others as they are.
func (h *graphHost) buildBackfilled(ctx context.Context, g *live.Graph, seed *live.Seed, users func(backfill.YieldUser) error) (built, error) {
	head, err := h.file.Head(ctx)
	if err != nil {
		return built{}, fmt.Errorf("read head of graph: %w", err)
	}
	spaces, err := h.file.Spaces(ctx)
	if err != nil {
		return built{}, fmt.Errorf("list users of graph: %w", err)
	}
	b, err := h.file.build(ctx, head.ID, head.Mark, func(yield func(graphstore.Change) error) error {
		w := newRewriting(ctx, g, seed, yield)
		done := map[graphstore.Space]bool{}
		err := users(func(space graphstore.Space, become backfill.Become) error {
			done[space] = true
			return w.user(space, become)
		})
		for _, space := range spaces {
			if err == nil && !done[space] {
				err = w.user(space, nil)
			}
		}
		return firstError(w.end(), err)
	})
	if err != nil {
		return b, fmt.Errorf("write backfilled graph: %w", err)
	}
	return b, nil
}

// takeUpBackfilled puts a graph that was built in the place of the one in the store; searches see it when it is loaded.
func (h *graphHost) takeUpBackfilled(ctx context.Context, b built, old *live.Graph) error {
	if err := h.file.replace(ctx, b); err != nil {
		return err
	}
	err := h.file.trust(ctx, func(_ context.Context, head graphstore.Head) error {
		if head.Digest != b.head.Digest {
			return fmt.Errorf("%w: digest %s after it was taken up, %s when it was written", graphstore.ErrDamaged, head.Digest, b.head.Digest)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if use := old.Usage(); use.Resident < use.Spaces { // it would read the other users from the new file
		h.withhold(errTakingUp)
	}
	h.next = &successor{make(chan struct{})}
	return nil
}
