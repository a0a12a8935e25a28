package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/server"
)

// errTakingUp is why searches have no graph while one that was rebuilt takes the place of one that is not whole in memory.
var errTakingUp = errors.New("the graph was rebuilt and is being read")

// rebuildName is a rebuild among the maintenance.
const rebuildName = "rebuild of the graph"

// RebuildState says how far a rebuild is.
func (s *service) RebuildState() server.RebuildState { return s.rebuilds.get() }

// Rebuild makes the whole graph, or one user's, again from the stream and the vector store.
func (s *service) Rebuild(ctx context.Context, req server.RebuildRequest) (server.Rebuild, error) {
	if s.host == nil {
		return server.Rebuild{}, fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	if s.js == nil {
		return server.Rebuild{}, fmt.Errorf("%w: there is no event stream here", server.ErrBadRequest)
	}
	req, err := rebuildRequest(req)
	if err != nil {
		return server.Rebuild{}, err
	}
	space, err := rebuildSpace(req)
	if err != nil {
		return server.Rebuild{}, fmt.Errorf("%w: %w", server.ErrBadRequest, err)
	}
	r, err := s.e.newRebuild(s.js, s.vectors, req, &s.rebuilds)
	if err != nil {
		return server.Rebuild{}, err
	}
	err = s.host.maintenance.try(rebuildName, func() error {
		if name := s.backfills.busy(); name != "" {
			return fmt.Errorf("%w: %s", server.ErrBusy, name)
		}
		if !s.verifies.turn.TryLock() {
			return fmt.Errorf("%w: verification of the graph", server.ErrBusy)
		}
		s.verifies.turn.Unlock() // one that begins now sees this rebuild
		if !s.erasing.TryLock() {
			return fmt.Errorf("%w: %s", server.ErrBusy, s.erasing.holder())
		}
		s.erasing.Unlock() // likewise
		defer r.close()
		s.rebuilds.begin(req)
		err := s.host.rebuild(ctx, r, space)
		r.out.TookMS = time.Since(r.start).Milliseconds()
		s.rebuilds.end(r.out, err)
		return err
	})
	if err == nil {
		s.e.log.Info("graph rebuilt", "from", req.From, "user", req.UserID, "done", r.out.Done, "refused", r.out.Refused, "facts", r.out.After.Facts,
			"seq", r.out.UpToSeq, "bad", r.out.Bad, "took", time.Since(r.start))
	}
	return r.out, err
}

// rebuild rebuilds one user's graph, or for the zero space the whole.
func (h *graphHost) rebuild(ctx context.Context, r *rebuild, space graphstore.Space) error {
	g := h.live.Load()
	select {
	case <-g.Loaded():
	default:
		_, err := g.View(probeSpace())
		return fmt.Errorf("%w: %w: stop the service to rebuild a graph that it cannot load", server.ErrNoGraph, err)
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	if !space.IsZero() {
		return h.rebuildUser(ctx, r, space)
	}
	return h.rebuildWhole(ctx, r, g)
}

// rebuildUser reads points and stream while the feed goes on, and then, while the feed has stopped, what came since, so that it
// compares two graphs of the same events.
func (h *graphHost) rebuildUser(ctx context.Context, r *rebuild, space graphstore.Space) error {
	if err := r.scan(ctx); err != nil {
		return err
	}
	u := r.newUserReplay(space)
	r.state.phase("reading the stream")
	start := time.Now()
	if err := r.readUser(ctx, u); err != nil {
		return err
	}
	r.state.phase("waiting for the feed to stop")
	return h.turns.ask(ctx, func(g *live.Graph) (*live.Graph, error) {
		r.state.phase("comparing")
		if err := r.readUser(ctx, u); err != nil {
			return nil, err
		}
		r.out.ReadMS = time.Since(start).Milliseconds()
		start := time.Now()
		head, err := h.file.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read head of graph: %w", err)
		}
		old, err := g.Snapshot(ctx, space)
		if err != nil {
			return nil, fmt.Errorf("read graph of user: %w", err)
		}
		r.out.GraphID = head.ID
		changes, err := r.compareUser(u, old, head.Mark)
		if err != nil || r.out.Refused != "" {
			return nil, err // the same graph goes on
		}
		r.state.swapping("changing the graph")
		if err := dropCheckpoints(r.e.cfg); err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			if err := g.ApplyMarked(context.WithoutCancel(ctx), changes, graphstore.Mark{}); err != nil {
				return nil, err
			}
		}
		r.out.Done, r.out.WriteMS = true, time.Since(start).Milliseconds()
		return nil, nil //nolint:nilnil // likewise
	})
}

// rebuildWhole makes a new file while the feed goes on with the old one, and takes it up while the feed has stopped. Searches see
// the old graph until the new one has caught up with it.
func (h *graphHost) rebuildWhole(ctx context.Context, r *rebuild, g *live.Graph) error {
	head, err := h.file.Head(ctx)
	if err != nil { // the file is lost: memory is not
		r.out.DigestError = err.Error()
		if ids, err := graphIDs(h.e.cfg.DataDir); err == nil && len(ids) > 0 {
			head.ID = ids[len(ids)-1]
		}
		head.Digest = g.Digest()
	}
	n := statsOf(g)
	r.before(head, n)
	if err := r.scan(ctx); err != nil {
		return err
	}
	if n.Facts > 0 {
		why, err := r.emptied(func() (bool, error) { return storedIn(ctx, h.file) })
		if r.out.Refused = why; err != nil || why != "" {
			return err
		}
	}
	b, err := r.build(ctx, h.file)
	if err != nil {
		return err
	}
	if why := h.loses(ctx, r); why != "" && !r.req.Force {
		r.out.Refused = why + " (force does it all the same)"
		return removeGraph(b.path)
	}
	r.state.phase("waiting for the feed to stop")
	start := time.Now()
	var shown <-chan struct{}
	err = h.turns.ask(ctx, func(old *live.Graph) (*live.Graph, error) {
		r.state.swapping("taking up the new graph")
		next, err := h.takeUp(ctx, r, b, old)
		if err == nil {
			shown = h.next.shown
		}
		return next, err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("take up the rebuilt graph: %w", err), removeGraph(b.path))
	}
	select {
	case <-shown:
	case <-h.turns.over:
	}
	r.out.Done, r.out.SwapMS = true, time.Since(start).Milliseconds()
	return nil
}

func statsOf(g *live.Graph) graphstore.Stats {
	n := g.Counts()
	return graphstore.Stats{Spaces: n.Spaces, Facts: n.Facts, Schemas: n.Schemas, Merges: n.Merges, Tombstones: n.Tombstones}
}

// loses says what would be lost, as rebuild.loses does. What has gone since from the present graph as well, as of a user who
// was forgotten meanwhile, is no loss of the new one: the present one is counted once more when it has the same events.
func (h *graphHost) loses(ctx context.Context, r *rebuild) string {
	why := r.loses(r.out.Before)
	if why == "" || r.req.Force || h.feed.Load() == nil {
		return why
	}
	r.state.phase("waiting until the present graph has the same events")
	ctx, cancel := context.WithTimeout(ctx, eraseFeedWait)
	defer cancel()
	if err := h.waitApplied(ctx, r.account.Extent.Last); err != nil {
		return why
	}
	g := h.live.Load()
	b, now := r.out.Before, countsOf(g.Digest(), statsOf(g))
	return r.loses(server.RebuildCounts{
		Users: min(b.Users, now.Users), Facts: min(b.Facts, now.Facts), Schemas: min(b.Schemas, now.Schemas), Merges: min(b.Merges, now.Merges),
		Tombstones: min(b.Tombstones, now.Tombstones), Records: min(b.Records, now.Records),
	})
}

// takeUp puts a graph that was built in the place of the one in the store.
func (h *graphHost) takeUp(ctx context.Context, r *rebuild, b built, old *live.Graph) (*live.Graph, error) {
	if err := dropCheckpoints(r.e.cfg); err != nil {
		return nil, err
	}
	if err := h.file.replace(ctx, b); err != nil {
		return nil, err
	}
	r.settle(ctx, h.file, b, h.floor.Load())
	if use := old.Usage(); use.Resident < use.Spaces { // it would read the other users from the new file
		h.withhold(errTakingUp)
	}
	h.next = &successor{make(chan struct{})}
	return h.newLive(), nil
}
