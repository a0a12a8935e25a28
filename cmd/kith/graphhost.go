package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	hooks feed.Hooks

	live     atomic.Pointer[live.Graph] // never nil
	withheld atomic.Pointer[error]      // why searches do not see it; nil: they do
	lostWhy  atomic.Pointer[error]      // why a lost graph could not be written again yet
	decided  chan struct{}              // closed when that was found out for the first time
	events   chan struct{}              // holds a token when the store's process has begun anew, maybe with an empty graph

	feed  atomic.Pointer[feed.Feed] // made when the graph is loaded
	fed   chan struct{}             // closed when the first is made
	ended atomic.Pointer[error]     // why projection stopped by itself

	planning    chan struct{} // holds a token while somebody plans changes and commits them; see planTurn
	maintenance maintenance
	turns       *turns
	next        *successor    // of what searches see, in the store already; belongs to run
	floor       atomic.Uint64 // every event up to here is in what searches see, though the feed begins before it; 0: none
	once        sync.Once
}

// newGraphHost returns the graph of a service, or of one command on its files.
func (e *env) newGraphHost(write, service bool) (*graphHost, error) {
	h := &graphHost{e: e, write: write, decided: make(chan struct{}), events: make(chan struct{}, 1), fed: make(chan struct{}), turns: newTurns(), planning: make(chan struct{}, 1)}
	file, err := e.openGraph(graphPath(e.cfg), child.Hooks{
		Quarantined: func(child.Quarantine) { h.suspect() },
		Restarted:   func(child.Restart) { h.suspect() },
	}, service)
	if err != nil {
		return nil, err
	}
	h.file = file
	h.withhold(live.ErrLoading)
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

// errReplaying is why searches have no graph while a lost one comes back from the stream: a part of it is not it.
var errReplaying = errors.New("the graph was lost and is being projected again from the stream")

// View returns the newest snapshot of a space without waiting, or why there is none.
func (h *graphHost) View(space graphstore.Space) (*graphstore.Snapshot, error) {
	return h.shown(h.live.Load().View(space))
}

// Acquire implements [reader.Graph].
func (h *graphHost) Acquire(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	return h.shown(h.live.Load().Acquire(ctx, space))
}

// withhold keeps the graph from searches for a reason.
func (h *graphHost) withhold(why error) { h.withheld.Store(&why) }

// shown keeps back what is only a part of the graph, and has the store looked at when it gave something else than was
// committed.
func (h *graphHost) shown(s *graphstore.Snapshot, err error) (*graphstore.Snapshot, error) {
	if errors.Is(err, graphstore.ErrDamaged) {
		h.suspect()
	}
	if why := h.withheld.Load(); why != nil && err == nil {
		return nil, *why
	}
	return s, err
}

// run loads the graph and, with a stream, projects into it until ctx ends. When the store has lost the graph and memory does
// not have it all, it begins anew. In between it does what others ask of it (see turns).
func (h *graphHost) run(ctx context.Context, js jetstream.JetStream) {
	defer h.turns.end()
	for g, loaded := h.live.Load(), false; ctx.Err() == nil; {
		if !loaded && !h.load(ctx, g) {
			g.Close()
			return
		}
		spell, end := h.turns.spell(ctx)
		h.keep(spell, g, js)
		h.show(g)
		anew := spell.Err() == nil && h.beginAnew(spell, g)
		end()
		if anew {
			g, loaded = h.live.Load(), false
			continue
		}
		g, loaded = h.serveErrand(g)
	}
}

// beginAnew puts an empty graph in the place of one that the store has lost, when no maintenance goes on. It fails when ctx
// ends.
func (h *graphHost) beginAnew(ctx context.Context, g *live.Graph) bool {
	return nil == h.maintenance.wait(ctx, reloadName, func() error {
		h.withhold(live.ErrLoading)
		h.live.Store(h.newLive())
		h.floor.Store(0)
		g.Close()
		return nil
	})
}

// serveErrand does what somebody asks for, if anybody does. It returns the graph to go on with, and whether that is loaded.
func (h *graphHost) serveErrand(g *live.Graph) (*live.Graph, bool) {
	e := h.turns.take()
	if e == nil {
		return g, true
	}
	if f := h.feed.Load(); f != nil { // the next one has to look first how far it is
		h.floor.Store(max(h.floor.Load(), f.Status().LastApplied))
	}
	next, err := e.work(g)
	e.done <- err
	if next != nil {
		return next, false
	}
	return g, true
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
		if ctx.Err() == nil {
			h.e.log.Warn("graph was lost between its loading and its use", "err", err)
		}
		return
	}
	former, err := noteGraphID(h.e.cfg.DataDir, head.ID)
	if err != nil {
		h.e.log.Warn("a consumer of a lost graph may have to be watched before it is taken over", "err", err)
	}
	projecting := h.write && js != nil
	// A graph without a mark where others were before is one that was lost: it is whole when it has caught up.
	replaying := projecting && len(former) > 0 && head.Mark == (graphstore.Mark{})
	switch {
	case replaying:
		h.withhold(errReplaying)
	case !projecting:
		h.reveal(g)
	case h.next == nil:
		h.withheld.Store(nil)
	}
	h.once.Do(func() { close(h.decided) })
	ctx, stop := context.WithCancel(ctx)
	var work conc.WaitGroup
	defer work.Wait()
	defer stop()
	if projecting {
		work.Go(func() { h.project(ctx, g, js, head, former) })
	}
	for full := false; ; full = true {
		h.inspect(ctx, g, full)
		if h.file.lost() && !h.refill(ctx, g, head.ID) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-h.events:
		}
	}
}

// inspectAgain is when a store that could not be looked at is looked at again.
const inspectAgain = 2 * time.Second

// inspect looks whether a store's process that has begun anew has the graph that memory has: first by its head, before which
// it takes no commits, then by reading everything, which takes seconds and holds nobody up. A store that has not is emptied,
// so that it is filled again.
func (h *graphHost) inspect(ctx context.Context, g *live.Graph, full bool) {
	err := h.file.trust(ctx, g.Check)
	if errors.Is(err, graphstore.ErrDamaged) && !h.file.lost() {
		err = h.file.quarantine(ctx, err.Error())
	} else if err == nil && full {
		err = h.maintenance.wait(ctx, verifyName, func() error { return h.file.verify(ctx) })
	}
	// What was damaged is moved aside by the store itself, which tells of it; what was lost is noticed by the caller.
	if err != nil && ctx.Err() == nil && !h.file.lost() && !errors.Is(err, graphstore.ErrDamaged) {
		h.e.log.Warn("graph file cannot be verified after a restart of its process, trying again", "err", err)
		time.AfterFunc(inspectAgain, h.suspect)
	}
}

// project runs the feed until ctx ends. If projection ends by itself, also by a panic, searches go on and the service says
// why.
func (h *graphHost) project(ctx context.Context, g *live.Graph, js jetstream.JetStream, head graphstore.Head, former []string) {
	h.ended.Store(nil)
	var err error
	if p := panics.Try(func() { err = h.runFeed(ctx, g, js, head, former) }); p != nil {
		err = p.AsError()
	}
	if err != nil {
		h.ended.Store(&err)
		h.e.log.Error("projection ended; searches go on", "err", err)
	}
	if ctx.Err() == nil && h.next != nil { // it will not catch up
		h.reveal(g)
	}
}

func (h *graphHost) runFeed(ctx context.Context, g *live.Graph, js jetstream.JetStream, head graphstore.Head, former []string) error {
	plan, err := h.e.projector()
	if err != nil {
		return err
	}
	cfg := h.e.feedConfig()
	cfg.GraphID, cfg.FormerIDs, cfg.Mark, cfg.Hooks = head.ID, former, head.Mark, h.hooks
	cfg.Standby, cfg.Turn = h.e.standbyConfig(), h.planTurn
	f, err := feed.New(js, plan, g, cfg)
	if err != nil {
		return err
	}
	if h.feed.Swap(f) == nil {
		close(h.fed)
	}
	var work conc.WaitGroup
	defer work.Wait()
	work.Go(func() { h.follow(ctx, f, g) })
	return f.Run(ctx)
}

// follow waits until the feed has caught up with what searches have seen, and then lets them see its graph; one that was lost
// they see when it is whole.
func (h *graphHost) follow(ctx context.Context, f *feed.Feed, g *live.Graph) {
	if floor := h.floor.Load(); floor > 0 || h.next != nil {
		if f.WaitApplied(ctx, floor) != nil {
			return
		}
		h.floor.Store(0)
		if h.next != nil {
			h.reveal(g)
		}
	}
	if h.withheld.Load() != nil && f.WaitCaughtUp(ctx) == nil {
		h.withheld.Store(nil)
		h.e.log.Info("the lost graph is whole again")
	}
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
			h.lostWhy.Store(nil)
			h.e.log.Info("graph file was lost and is written again from memory", "took", time.Since(start))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, errNotWhole):
			h.e.log.Warn("graph file was lost and memory does not have all of it: projecting the stream again", "err", err)
			return false
		case err.Error() != logged:
			logged = err.Error()
			h.lostWhy.Store(&err)
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
