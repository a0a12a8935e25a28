package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// errBusy reports a child that is still in use after Config.CloseTimeout.
var errBusy = errors.New("calls are still in flight")

// Recycle replaces the child by a new one, in order: calls wait, those in flight end, the graph is closed and opened again.
// It frees what the store's engine leaks. When calls are still in flight after Config.CloseTimeout the child stays, and
// Recycle returns an error; a child that then does not come up is an error of later calls, not of Recycle.
func (s *Store) Recycle(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case s.recycles <- done:
		select {
		case err := <-done:
			return err
		case <-ctx.Done(): // it goes on
			return ctx.Err()
		}
	case <-s.supervised:
		return graphstore.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retire closes the child p in order. After an error it goes on taking calls.
func (v *supervisor) retire(ctx context.Context, p *process) error {
	deadline := time.Now().Add(v.cfg.CloseTimeout)
	v.mu.Lock()
	v.phaseLocked(PhaseRestarting, nil, nil)
	idle := v.whenIdleLocked()
	v.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	err := errBusy
	select {
	case <-idle:
		err = nil
	case <-timer.C:
	case <-p.ended:
		err = ErrChildDied
	case <-ctx.Done():
		err = graphstore.ErrClosed
	}
	if err != nil {
		v.running(p)
		return fmt.Errorf("recycle store child: %w", err)
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := p.close(limited); err != nil {
		v.log.Warn("store child is killed: it did not close the graph", "pid", p.pid, "err", err)
		p.release()
		return nil
	}
	p.stop(time.Until(deadline))
	return nil
}
