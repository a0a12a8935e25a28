package child

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// supervisor starts children and watches them. One goroutine uses it: that of Start, then run.
type supervisor struct {
	*Store
	breaker  breaker
	delay    time.Duration // before the next start
	failures int           // openings that failed in a row
	barren   bool          // no graph was opened since the last was moved aside
	due      string        // why the graph is to be moved aside before anything is started; empty: it is not
	swapping bool          // a start is the test of another graph, which must succeed at once
}

func newSupervisor(s *Store) *supervisor {
	return &supervisor{Store: s, delay: s.cfg.BackoffMin,
		breaker: breaker{limit: s.cfg.BreakerCrashes, window: s.cfg.BreakerWindow}}
}

// first starts the first child. It tries again only what moving the graph aside may mend.
func (v *supervisor) first(ctx context.Context) (*process, error) {
	for {
		p, err := v.start(ctx)
		if err == nil {
			return p, nil
		}
		failed, is := errors.AsType[*startError](err)
		if !is || failed.kind != damaged && failed.kind != undone {
			return nil, err
		}
		wait := v.note(failed.crash())
		switch moved, qerr := v.quarantineIfDue(ctx, failed); {
		case qerr != nil:
			return nil, errors.Join(err, qerr)
		case moved, failed.kind == undone:
		case v.cfg.Quarantine.Off || v.failures >= v.cfg.Quarantine.After:
			return nil, err
		case !v.sleep(ctx, wait):
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

// run watches the child and its successors until the context ends; a child that lives then is left to Close.
func (v *supervisor) run(ctx context.Context, p *process) {
	defer close(v.supervised)
	v.sweep()
	for p != nil {
		p = v.watch(ctx, p)
	}
}

// failed takes note of a start that failed and returns how long to wait for the next.
func (v *supervisor) failed(ctx context.Context, err error) (wait time.Duration) {
	failure, is := errors.AsType[*startError](err)
	if !is {
		failure = &startError{phase: CrashedStarting, err: err}
	}
	if failure.kind == refused {
		v.refuse(failure)
		return v.cfg.BackoffMax
	}
	wait = v.note(failure.crash())
	moved, err := v.quarantineIfDue(ctx, failure)
	switch {
	case err != nil:
		v.log.Error("graph that cannot be opened stays in its place", "err", err)
	case moved: // and with it the cause: no need to wait
		v.waiting()
		return 0
	}
	return wait
}

// waiting lets calls wait for the next start.
func (v *supervisor) waiting() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.mu.health.Phase != PhaseRefused { // they go on being refused until a start succeeds
		v.phaseLocked(PhaseRestarting, nil, nil)
	}
}

func (v *supervisor) refuse(failure *startError) {
	v.log.Error("graph must be left alone: trying again", "err", failure, "in", v.cfg.BackoffMax)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.health.LastReason = failure.Error()
	v.phaseLocked(PhaseRefused, nil, failure)
}

// note counts an end of a child and returns how long to wait before the next start: the back-off, or the breaker's pause.
func (v *supervisor) note(c Crash) (wait time.Duration) {
	wait = v.backOff()
	open := v.breaker.add(c.At)
	until := c.At.Add(v.cfg.BreakerPause)
	v.mu.Lock()
	h := &v.mu.health
	h.Crashes++
	h.LastReason, h.LastCrash = c.Reason, c.At
	if open {
		wait = v.cfg.BreakerPause
		v.phaseLocked(PhaseBreaker, nil, fmt.Errorf("%w until %s: last: %s", ErrBreakerOpen, until.UTC().Format(time.RFC3339), c.Reason))
		h.Until = until
	} else {
		v.phaseLocked(PhaseRestarting, nil, nil)
	}
	v.mu.Unlock()
	v.log.Error("store child died", "pid", c.PID, "phase", c.Phase, "reason", c.Reason, "restart_in", wait, "breaker", open)
	v.cfg.Hooks.Crashed(c)
	if open {
		v.cfg.Hooks.BreakerOpen(Break{Crashes: v.cfg.BreakerCrashes, Until: until, Reason: c.Reason})
	}
	return wait
}

// backOff returns the wait before the next start and doubles the one after it.
func (v *supervisor) backOff() time.Duration {
	wait := v.delay
	v.delay = min(2*v.delay, v.cfg.BackoffMax)
	return wait
}

func (v *supervisor) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
