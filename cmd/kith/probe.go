package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/vdb"
)

// How often the vector store is asked whether it is there, and how long it may take to answer.
const (
	probeInterval = 5 * time.Second
	probeTimeout  = 2 * time.Second
)

// probe knows whether the vector store answered lately, so that readiness does not have to ask.
type probe struct{ trouble atomic.Pointer[string] }

func (p *probe) run(ctx context.Context, store vdb.Store) {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		p.ask(ctx, store)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *probe) ask(ctx context.Context, store vdb.Store) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := store.Info(ctx); err != nil {
		text := err.Error()
		p.trouble.Store(&text)
		return
	}
	p.trouble.Store(nil)
}
