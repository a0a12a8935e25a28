package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Quarantine moves the graph aside now, whatever Config.Quarantine says, and goes on with an empty one: for an owner that
// found it damaged. Calls in flight lose their child. As always the hook runs before the empty graph takes a call, also when
// there was no file to move. It works while no child runs as well, and then ends the wait for one. After an error the graph
// is in its place still. The context bounds the wait for the beginning.
//
// After a call that answered [graphstore.ErrDamaged] it has been done already, unless Config.Quarantine is off: doing it
// again would move the new graph.
func (s *Store) Quarantine(ctx context.Context, reason string) error {
	return s.send(ctx, func(ctx context.Context, v *supervisor, p *process) (*process, error) {
		if p != nil {
			v.mu.Lock()
			v.phaseLocked(PhaseRestarting, nil, nil)
			v.mu.Unlock()
			p.condemn("quarantine: " + reason)
			p.release()
			close(p.noted)
		}
		if _, err := v.settle(ctx); err != nil {
			return nil, err
		}
		return nil, v.discard(ctx, reason)
	})
}

// verdict says why the graph of the ended child p must not be opened again; empty: it may be.
func (v *supervisor) verdict(p *process) string {
	if why := p.damage.Load(); why != nil {
		return *why
	}
	if v.cfg.Quarantine.Off || !p.diedLoading() {
		return ""
	}
	deaths := v.loadDeaths.Add(1)
	if deaths <= int64(v.cfg.Quarantine.After) {
		return ""
	}
	return fmt.Sprintf("the child died %d times while the graph was loaded: last: %s", deaths, p.obituary())
}

// discardDue moves the graph aside if that is due. Where quarantine is off it is left to whoever opens it next, and the
// owner is told only if nothing is left.
func (v *supervisor) discardDue(ctx context.Context) error {
	if v.due == "" {
		return nil
	}
	if v.cfg.Quarantine.Off {
		if g, err := findGraph(v.cfg); err != nil || g.any() {
			v.due = ""
			return err
		}
	}
	if err := v.discard(ctx, v.due); err != nil {
		return err
	}
	v.due = ""
	return nil
}

// discard moves what there is of the graph aside, possibly nothing, and tells the owner that an empty graph takes its place.
func (v *supervisor) discard(ctx context.Context, reason string) error {
	g, err := findGraph(v.cfg)
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	q := Quarantine{At: time.Now()}
	if g.any() {
		if q, err = g.quarantine(ctx, q.At); err != nil {
			return fmt.Errorf("quarantine: %w", err)
		}
	}
	q.Reason = reason
	v.emptied()
	v.quarantined(q)
	return nil
}

// quarantineIfDue moves the graph aside if the openings of it failed often enough, or once because it is damaged, and tells
// the owner. An empty graph that cannot be opened either is not moved: that mends nothing.
func (v *supervisor) quarantineIfDue(ctx context.Context, failure *startError) (moved bool, err error) {
	if failure.kind != damaged {
		return false, nil
	}
	v.failures++
	if errors.Is(failure, graphstore.ErrDamaged) {
		v.failures = max(v.failures, v.cfg.Quarantine.After)
	}
	if v.cfg.Quarantine.Off || v.barren || v.failures < v.cfg.Quarantine.After {
		return false, nil
	}
	g, err := findGraph(v.cfg)
	if err != nil {
		return false, fmt.Errorf("quarantine: %w", err)
	}
	if !g.any() {
		return false, nil // it is not the graph that cannot be opened
	}
	q, err := g.quarantine(ctx, time.Now())
	if err != nil {
		return false, fmt.Errorf("quarantine: %w", err)
	}
	q.Reason = failure.Error()
	v.emptied()
	v.quarantined(q)
	return true, nil
}

// resumeQuarantine ends what a process that died did not: files of one graph must not stand in two places, and the owner
// must hear of it.
func (v *supervisor) resumeQuarantine(ctx context.Context, g graphFiles) error {
	q, err := g.resume(ctx)
	if err != nil {
		return fmt.Errorf("end an interrupted quarantine: %w", err)
	}
	if q != nil {
		q.Reason = "interrupted quarantine"
		v.quarantined(*q)
	}
	return nil
}

// emptied takes note that there is no graph any more.
func (v *supervisor) emptied() {
	v.failures, v.barren, v.delay = 0, true, v.cfg.BackoffMin // with the graph went the cause
	v.loadDeaths.Store(0)
}

func (v *supervisor) quarantined(q Quarantine) {
	v.mu.Lock()
	v.mu.health.Quarantines++
	v.mu.Unlock()
	v.log.Error("graph moved aside: an empty one takes its place and must be rebuilt", "dir", q.Dir, "files", q.Files, "reason", q.Reason)
	v.hold(true)
	v.cfg.Hooks.Quarantined(q)
}
