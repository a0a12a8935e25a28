package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Build writes a new graph in a child of its own, which opens nothing else: the records, in whatever order the child's
// builder asks for, become the graph at cfg.Path with cfg.ID and cfg.Mark. It returns what the child answers. records is
// called once, in this goroutine, and must stop at an error of yield; a child that is slower than it holds it up.
//
// A record that cannot be stored is [graphstore.ErrBadChange] or what the child's builder says, the death of the child is
// [ErrChildDied], and nothing is tried twice. After an error, and when ctx or the records end early, the child has
// cfg.StopWait to remove what it began; if it was killed instead, part of a file may be left at cfg.Path. The child is gone
// when Build returns, however it returns.
func Build(ctx context.Context, cfg BuildConfig, records func(yield func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return graphstore.Head{}, graphstore.Stats{}, err
	}
	b := build(ctx, cfg, records)
	if b.err != nil {
		return graphstore.Head{}, graphstore.Stats{}, fmt.Errorf("build graph in a child: %w", b.err)
	}
	return b.head, b.stats, nil
}

func build(ctx context.Context, cfg BuildConfig, records func(func(graphstore.Change) error) error) built {
	p, err := spawn(ctx, cfg.process())
	if err != nil {
		return built{err: err}
	}
	defer p.release()
	b := p.link.build(ctx, cfg, records)
	lost := (*lostError)(nil)
	switch {
	case errors.As(b.err, &lost):
		if ctx.Err() != nil {
			p.condemn(fmt.Sprintf("it did not end the build within %v of its context", cfg.StopWait))
		}
		p.release()
		b.err = fmt.Errorf("%w: process %d: %s", ErrChildDied, p.pid, p.obituary())
		if ctx.Err() != nil {
			b.err = fmt.Errorf("%w: %w", ctx.Err(), b.err)
		}
	case !b.hung:
		p.stop(cfg.StopWait)
	}
	return b
}
