package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/server"
)

var (
	_ server.Verifier     = (*verifies)(nil)
	_ backfill.Verifiable = (*graphHost)(nil)
)

// caughtUpTime is how long a verification waits until events are projected before it gives up.
const caughtUpTime = 2 * time.Minute

// verifies lets one verification go on at a time.
type verifies struct {
	s     *service
	turn  sync.Mutex
	mu    sync.Mutex
	state server.VerifyState // guarded by mu; what it points to is never changed
}

// VerifyState implements [server.Verifier].
func (v *verifies) VerifyState() server.VerifyState {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state
}

// say has the state say how far the present verification is; nil: there is none.
func (v *verifies) say(running *backfill.VerifyReport) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Running = running
}

// Users implements [backfill.Verifiable].
func (h *graphHost) Users(ctx context.Context) ([]graphstore.Space, error) { return h.file.Spaces(ctx) }

// Verify implements [server.Verifier].
func (v *verifies) Verify(ctx context.Context, req backfill.VerifyRequest) (backfill.VerifyReport, error) {
	s := v.s
	if s.host == nil {
		return backfill.VerifyReport{}, fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	if !v.turn.TryLock() {
		return backfill.VerifyReport{}, fmt.Errorf("%w: another verification", server.ErrBusy)
	}
	defer v.turn.Unlock()
	if req.Repair && !req.DryRun { // a user who is erased is not brought back
		if !s.erasing.try("repair of the graph") {
			return backfill.VerifyReport{}, fmt.Errorf("%w: %s", server.ErrBusy, s.erasing.holder())
		}
		defer s.erasing.free()
	}
	// Whoever begins second sees the other: backfills and rebuilds look for a repair after they have begun.
	if name := s.backfills.busy(); name != "" { // what it has not brought yet would be drift
		return backfill.VerifyReport{}, fmt.Errorf("%w: %s", server.ErrBusy, name)
	}
	if name, _ := s.host.maintenance.now(); name == rebuildName {
		return backfill.VerifyReport{}, fmt.Errorf("%w: %s", server.ErrBusy, name)
	}
	if err := s.host.ready(ctx); err != nil {
		return backfill.VerifyReport{}, err
	}
	worker, err := v.worker()
	if err != nil {
		return backfill.VerifyReport{}, err
	}
	v.say(&backfill.VerifyReport{Request: req, Started: time.Now().UTC()})
	defer v.say(nil)
	out, err := worker.Verify(ctx, req)
	if err != nil {
		return out, namingSetting(err)
	}
	s.metrics.CountVerify(out, time.Now())
	s.e.log.Info("graph verified", "user", req.UserID, "users", out.Users, "points", out.Points, "coverage", out.Coverage, "drifted_users", out.Drifted,
		"repaired_users", out.Repaired, "took", millis(out.TookMS))
	return out, nil
}

// ready waits until the graph is loaded, but not for one that could not be, which is tried again in vain where it is damaged.
func (h *graphHost) ready(ctx context.Context) error {
	g := h.live.Load()
	select {
	case <-g.Loaded():
		return nil
	case <-g.Failed():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return h.unloadable()
}

// unloadable returns why the graph could not be loaded, nil if it is loaded, or still being.
func (h *graphHost) unloadable() error {
	_, err := h.live.Load().View(probeSpace())
	switch {
	case err == nil, errors.Is(err, live.ErrLoading):
		return nil
	case errors.Is(err, child.ErrInUse):
		return fmt.Errorf("%w: %w", server.ErrNoGraph, err)
	case errors.Is(err, child.ErrForeign), errors.Is(err, child.ErrNewerSchema):
		return fmt.Errorf("%w: %w: kith rebuild --force, while no service runs, moves it aside and makes a new graph", server.ErrNoGraph, err)
	default:
		return fmt.Errorf("%w: %w: if it stays so, kith rebuild, while no service runs, makes it anew", server.ErrNoGraph, err)
	}
}

// worker returns what verifies, with the mapping and the rules of a backfill.
func (v *verifies) worker() (*backfill.Backfill, error) {
	s := v.s
	plan, err := s.e.projector()
	if err != nil {
		return nil, err
	}
	points, err := s.e.mapped(s.vectors)
	if err != nil {
		return nil, err
	}
	cfg := backfill.Config{Dir: backfillDir(s.e.cfg), Logger: s.e.log, CaughtUp: v.caughtUp, Verifying: func(r backfill.VerifyReport) { v.say(&r) }}
	override(&cfg.MinScore, s.e.cfg.Project.EdgeMinScore)
	return backfill.New(points, s.host, plan, cfg)
}

// caughtUp waits until the events that are in the stream are projected. Where none are projected there is nothing to wait for.
func (v *verifies) caughtUp(ctx context.Context) error {
	f := v.s.host.feed.Load()
	if f == nil || !v.s.serving {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, caughtUpTime, errors.New("the feed is behind: verify again when it has caught up"))
	defer cancel()
	return f.WaitCaughtUp(ctx)
}
