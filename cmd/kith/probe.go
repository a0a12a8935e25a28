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

// run asks until ctx ends, and tells found what the store says.
func (p *probe) run(ctx context.Context, store vdb.Store, found func(vdb.Info)) {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		p.ask(ctx, store, found)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *probe) ask(ctx context.Context, store vdb.Store, found func(vdb.Info)) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	info, err := store.Info(ctx)
	if err != nil {
		text := err.Error()
		p.trouble.Store(&text)
		return
	}
	p.trouble.Store(nil)
	found(info)
}
