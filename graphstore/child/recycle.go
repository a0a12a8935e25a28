package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
		return <-done
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

// tooLarge reports whether a child uses more memory than Config.MemoryLimit.
func (v *supervisor) tooLarge(p *process) bool {
	used, err := memoryOf(p.pid)
	if err != nil {
		v.log.Warn("memory of the store child is not known", "err", err)
		return false
	}
	return used > v.cfg.MemoryLimit
}

// memoryOf returns the resident memory of a process, in bytes.
func memoryOf(pid int) (int64, error) {
	name := fmt.Sprintf("/proc/%d/statm", pid)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b)) // size, resident, ... in pages
	if len(fields) < 2 {
		return 0, fmt.Errorf("%s: %q", name, b)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return pages * int64(os.Getpagesize()), nil
}
