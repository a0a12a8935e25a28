package child

import (
	"context"
	"time"
)

// watch returns the child that takes over when p has ended or is to be replaced, or nil when the context ends.
func (v *supervisor) watch(ctx context.Context, p *process) *process {
	file := time.NewTicker(v.cfg.FileCheck)
	defer file.Stop()
	var memory <-chan time.Time
	var settled <-chan time.Time
	if v.cfg.MemoryLimit > 0 {
		ticker, timer := time.NewTicker(v.cfg.MemoryCheck), time.NewTimer(v.cfg.settle)
		defer ticker.Stop()
		defer timer.Stop()
		memory, settled = ticker.C, timer.C
	}
	for {
		next := p
		select {
		case <-ctx.Done():
			return nil
		case <-p.ended:
			return v.afterCrash(ctx, p)
		case done := <-v.recycles:
			next = v.recycle(ctx, p, done)
		case e := <-v.errands:
			next = v.perform(ctx, p, e)
		case <-file.C:
			if why := v.strayed(p); why != "" {
				p.condemnGraph(why)
			}
		case <-settled:
			p.measure()
		case <-memory:
			next = v.recycleLarge(ctx, p)
		}
		if next != p {
			return next
		}
	}
}

// recycle replaces the child p for [Store.Recycle]. It returns p if it stays.
func (v *supervisor) recycle(ctx context.Context, p *process, done chan<- error) *process {
	down := time.Now()
	err := v.retire(ctx, p)
	next := p
	if err == nil {
		close(p.noted)
		next = v.succeed(ctx, down, 0)
	}
	done <- err
	return next
}

func (v *supervisor) recycleLarge(ctx context.Context, p *process) *process {
	if !v.tooLarge(p) {
		return p
	}
	v.log.Info("store child is over its memory limit: replacing it", "pid", p.pid, "limit", v.cfg.MemoryLimit, "needs", p.needs.Load())
	done := make(chan error, 1)
	next := v.recycle(ctx, p, done)
	if err := <-done; err != nil {
		v.log.Warn("store child stays over its memory limit", "err", err)
	}
	return next
}

// afterCrash takes note of the end of the child p and returns its successor. A graph that is known to be damaged is moved
// aside at once.
func (v *supervisor) afterCrash(ctx context.Context, p *process) *process {
	down := time.Now()
	if down.Sub(p.since) > v.cfg.BackoffMax {
		v.delay = v.cfg.BackoffMin
	}
	wait := v.note(Crash{PID: p.pid, Phase: CrashedRunning, Reason: p.obituary(), At: down})
	v.due = v.verdict(p)
	close(p.noted)
	p.release()
	if err := v.discardDue(ctx); err != nil {
		v.log.Error("graph that is damaged stays in its place: trying again", "err", err)
	}
	return v.succeed(ctx, down, wait)
}

// succeed brings up the next child after a wait and lets it take calls. It returns nil when the context ends.
func (v *supervisor) succeed(ctx context.Context, down time.Time, wait time.Duration) *process {
	next, attempts := v.revive(ctx, wait)
	if next != nil {
		v.takeOver(next, attempts, down)
	}
	return next
}

// takeOver lets a child take calls after an interruption that began at a time.
func (v *supervisor) takeOver(next *process, attempts int, down time.Time) {
	next.untrusted.Store(v.cfg.HoldEmpty)
	v.mu.Lock()
	v.mu.health.Restarts++
	v.phaseLocked(PhaseRunning, next, nil)
	v.mu.Unlock()
	took := time.Since(down)
	v.log.Info("store child runs again", "pid", next.pid, "attempts", attempts, "down", took, "graph", next.graph)
	v.sweep()
	v.cfg.Hooks.Restarted(Restart{PID: next.pid, Attempts: attempts, Down: took})
}

// revive starts a child until one runs, or the context ends.
func (v *supervisor) revive(ctx context.Context, wait time.Duration) (_ *process, attempts int) {
	for {
		next, ok := v.pause(ctx, wait)
		if next != nil {
			return next, attempts + 1
		}
		if !ok {
			return nil, attempts
		}
		v.waiting()
		attempts++
		p, err := v.start(ctx)
		if err == nil {
			return p, attempts
		}
		if ctx.Err() != nil {
			return nil, attempts
		}
		wait = v.failed(ctx, err)
	}
}

// pause waits before the next start. An errand that succeeds ends the wait, and may bring a child with it.
func (v *supervisor) pause(ctx context.Context, d time.Duration) (next *process, ok bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil, true
		case <-ctx.Done():
			return nil, false
		case e := <-v.errands:
			next, err := e.run(ctx, v, nil)
			if err == nil {
				return next, true
			}
		}
	}
}
