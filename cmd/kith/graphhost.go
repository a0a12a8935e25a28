package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/projector/feed"
)

// graphHost keeps the graph at work: the store in its child process, the live graph over it that searches read, and the
// feed that projects events into it. What the store loses it builds anew, from memory where memory has it all, else from
// the stream; searches are answered throughout.
type graphHost struct {
	e     *env
	file  *graphFile
	write bool // events are projected

	live   atomic.Pointer[live.Graph] // never nil
	events chan struct{}              // holds a token when the store's process has begun anew, maybe with an empty graph

	feed  atomic.Pointer[feed.Feed] // made when the graph is loaded
	fed   chan struct{}             // closed when the first is made
	ended atomic.Pointer[error]     // why projection stopped by itself

	maintenance maintenance
}

func (e *env) newGraphHost(write bool) (*graphHost, error) {
	h := &graphHost{e: e, write: write, events: make(chan struct{}, 1), fed: make(chan struct{})}
	file, err := e.openGraph(child.Hooks{
		Quarantined: func(child.Quarantine) { h.suspect() },
		Restarted:   func(child.Restart) { h.suspect() },
	})
	if err != nil {
		return nil, err
	}
	h.file = file
	h.live.Store(h.newLive())
	return h, nil
}

func (h *graphHost) newLive() *live.Graph {
	return live.New(h.file, live.Config{Logger: h.e.log, MaxBytes: h.e.cfg.Graph.MemoryBytes})
}

// suspect has the store looked at.
func (h *graphHost) suspect() {
	select {
	case h.events <- struct{}{}:
	default:
	}
}

// View returns the newest snapshot of a space without waiting, or why there is none.
func (h *graphHost) View(space graphstore.Space) (*graphstore.Snapshot, error) {
	return h.live.Load().View(space)
}

// Acquire implements [reader.Graph].
func (h *graphHost) Acquire(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	return h.live.Load().Acquire(ctx, space)
}

// run loads the graph and, with a stream, projects into it until ctx ends. When the store has lost the graph and memory does
// not have it all, it begins anew.
func (h *graphHost) run(ctx context.Context, js jetstream.JetStream) {
	for ctx.Err() == nil {
		g := h.live.Load()
		if !h.load(ctx, g) {
			return
		}
		h.keep(ctx, g, js)
		if ctx.Err() == nil {
			h.live.Store(h.newLive())
			g.Close()
		}
	}
}

// close ends what the graph does by itself and closes its store, after run.
func (h *graphHost) close() error {
	h.live.Load().Close()
	return h.file.Close()
}

// load reads the graph into memory, trying again until it can (true) or ctx ends. Searches are answered meanwhile.
func (h *graphHost) load(ctx context.Context, g *live.Graph) bool {
	logged := ""
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 15*time.Second) {
		h.file.open(ctx)
		err := g.Load(ctx)
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		if err.Error() != logged {
			logged = err.Error()
			h.e.log.Error("graph cannot be loaded; searches keep the vector order, events wait in their stream", "err", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

// keep projects events into the loaded graph and gives the store back what it loses. It returns when ctx ends or when the
// graph has to be loaded anew.
func (h *graphHost) keep(ctx context.Context, g *live.Graph, js jetstream.JetStream) {
	head, err := h.file.Head(ctx)
	if err != nil {
		h.e.log.Warn("graph was lost between its loading and its use", "err", err)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	var work conc.WaitGroup
	defer work.Wait()
	defer stop()
	if h.write && js != nil {
		work.Go(func() { h.project(ctx, g, js, head) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.events:
		}
		h.inspect(ctx, g)
		if h.file.lost() && !h.refill(ctx, g, head.ID) {
			return
		}
	}
}

// inspect looks whether a store's process that has begun anew still has the graph that memory has: first by its head, then
// by reading everything, which takes seconds and holds nobody up. A store that has not is emptied, so that it is filled
// again. Trouble that says nothing of the graph is left alone: the store is looked at again after its next start.
func (h *graphHost) inspect(ctx context.Context, g *live.Graph) {
	err := g.Verify(ctx)
	if err == nil {
		err = h.file.verify(ctx)
	}
	switch {
	case err == nil, ctx.Err() != nil, h.file.lost():
	case errors.Is(err, graphstore.ErrDamaged):
		if qerr := h.file.quarantine(ctx, err.Error()); qerr != nil && ctx.Err() == nil {
			h.e.log.Error("damaged graph cannot be moved aside", "err", qerr)
		}
	default:
		h.e.log.Warn("graph file was not verified after a restart of its process", "err", err)
	}
}

// project runs the feed until ctx ends. If projection ends by itself, also by a panic, searches go on and the service says
// why.
func (h *graphHost) project(ctx context.Context, g *live.Graph, js jetstream.JetStream, head graphstore.Head) {
	var err error
	if p := panics.Try(func() { err = h.runFeed(ctx, g, js, head) }); p != nil {
		err = p.AsError()
	}
	if err != nil {
		h.ended.Store(&err)
		h.e.log.Error("projection ended; searches go on", "err", err)
	}
}

func (h *graphHost) runFeed(ctx context.Context, g *live.Graph, js jetstream.JetStream, head graphstore.Head) error {
	plan, err := h.e.projector()
	if err != nil {
		return err
	}
	cfg := h.e.feedConfig()
	cfg.GraphID, cfg.Mark = head.ID, head.Mark
	if cfg.FormerIDs, err = noteGraphID(h.e.cfg.DataDir, head.ID); err != nil {
		h.e.log.Warn("a consumer of a lost graph may have to be watched before it is taken over", "err", err)
	}
	f, err := feed.New(js, plan, g, cfg)
	if err != nil {
		return err
	}
	if h.feed.Swap(f) == nil {
		close(h.fed)
	}
	return f.Run(ctx)
}

// errNotWhole reports that memory does not have the whole graph.
var errNotWhole = errors.New("the whole graph is not in memory")

// refill writes the graph that is in memory into a new file in the place of the one that was lost, trying again until it
// can (true), or until it is known that the graph has to come from the stream (false) or ctx ends (false).
func (h *graphHost) refill(ctx context.Context, g *live.Graph, id string) bool {
	start, logged := time.Now(), ""
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 15*time.Second) {
		err := h.maintenance.wait(ctx, "rebuild", func() error {
			return g.Hold(ctx, func(ctx context.Context, held *live.Held) error { return h.refillHeld(ctx, held, id) })
		})
		switch {
		case err == nil:
			h.e.log.Info("graph file was lost and is written again from memory", "took", time.Since(start))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, errNotWhole):
			h.e.log.Warn("graph file was lost and memory does not have all of it: projecting the stream again", "err", err)
			return false
		case err.Error() != logged:
			logged = err.Error()
			h.e.log.Error("graph file was lost and cannot be written again yet; searches go on, events wait", "err", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

func (h *graphHost) refillHeld(ctx context.Context, held *live.Held, id string) error {
	if !held.Resident() {
		return errNotWhole
	}
	b, err := h.file.build(ctx, id, held.Mark(), recordsOf(held.Records()))
	if err != nil {
		return fmt.Errorf("write graph from memory: %w", err)
	}
	if err := h.file.replace(ctx, b); err != nil {
		return fmt.Errorf("take up graph that was written from memory: %w", err)
	}
	held.Rebuilt()
	return nil
}
