package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector/feed"
)

// pausedInterval is how often the stream is looked at while nothing is projected.
const pausedInterval = 5 * time.Second

// paused knows how many events wait while nothing is projected.
type paused struct {
	waiting atomic.Uint64
	trouble atomic.Pointer[string] // why they cannot be counted
}

// run counts until ctx ends.
func (p *paused) run(ctx context.Context, count func(context.Context) (uint64, error)) {
	tick := time.NewTicker(pausedInterval)
	defer tick.Stop()
	for {
		p.look(ctx, count)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *paused) look(ctx context.Context, count func(context.Context) (uint64, error)) {
	ctx, cancel := context.WithTimeout(ctx, pausedInterval)
	defer cancel()
	n, err := count(ctx)
	if err != nil {
		text := err.Error()
		p.trouble.Store(&text)
		return
	}
	p.waiting.Store(n)
	p.trouble.Store(nil)
}

// waiting makes sure that there is a stream that keeps events, and counts those that the graph lacks. A graph that cannot be
// asked, or that is not used, lacks all.
func (s *service) waiting(ctx context.Context) (uint64, error) {
	var mark graphstore.Mark
	if s.host != nil {
		if head, err := s.host.file.Head(ctx); err == nil {
			mark = head.Mark
		}
	}
	return feed.Waiting(ctx, s.js, s.e.streamsConfig(), mark)
}
