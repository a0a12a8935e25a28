package child

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// failureKind says what may be done about a start that failed.
type failureKind int

const (
	machine failureKind = iota // try again later
	refused                    // the files must be left alone
	damaged                    // the graph could not be opened
	undone                     // another graph could not be opened; the one before it is back in its place
)

// startError is a start that failed.
type startError struct {
	phase CrashPhase
	kind  failureKind
	pid   int
	err   error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

func (e *startError) crash() Crash {
	return Crash{PID: e.pid, Phase: e.phase, Reason: e.Error(), At: time.Now()}
}

// start starts one child and has it open the graph. Its error is a *startError, or that of the context. A graph that takes
// the place of another must open, or the other gets its place back.
func (v *supervisor) start(ctx context.Context) (*process, error) {
	trial, err := v.settle(ctx)
	if err != nil {
		return nil, v.unsettled(ctx, err)
	}
	p, err := v.launch(ctx)
	if trial != nil {
		p, err = v.judge(ctx, trial, p, err)
	}
	if err != nil {
		return nil, err
	}
	v.failures, v.barren = 0, false
	return p, nil
}

// settle ends what was interrupted of moving files. It returns the replacement that the next opening decides on, or nil.
func (v *supervisor) settle(ctx context.Context) (*replacement, error) {
	g, err := findGraph(v.cfg)
	if err != nil {
		return nil, err
	}
	if err := v.resumeQuarantine(ctx, g); err != nil {
		return nil, err
	}
	if err := v.discardDue(ctx); err != nil {
		return nil, err
	}
	r, err := g.resumeReplacement(ctx, v.cfg)
	if err != nil {
		return nil, fmt.Errorf("end an interrupted replacement: %w", err)
	}
	return r, nil
}

func (v *supervisor) unsettled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failure := &startError{phase: CrashedStarting, err: err}
	if errors.Is(err, ErrInUse) || v.due != "" {
		failure.kind = refused
	}
	return failure
}

// launch starts one child and has it open what is at the path.
func (v *supervisor) launch(ctx context.Context) (*process, error) {
	p, err := spawn(ctx, v.cfg)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &startError{phase: CrashedStarting, err: err}
	}
	if err := v.open(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// open has the child open the graph. A child that fails is gone when it returns.
func (v *supervisor) open(ctx context.Context, p *process) error {
	var slow bool
	err := untilFree(ctx, v.cfg.WaitForOwner, func() (err error) {
		limited, cancel := context.WithTimeout(ctx, v.cfg.OpenTimeout)
		defer cancel()
		p.graph, err = p.open(limited, v.cfg.Path)
		slow = limited.Err() != nil || err == context.DeadlineExceeded //nolint:errorlint // as lost returns it when its clock is the faster
		return err
	})
	if err == nil {
		p.file = fileAt(v.cfg.Path)
		return nil
	}
	died := false
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		died = true
	}
	p.release()
	failure := &startError{phase: CrashedOpening, pid: p.pid, err: err, kind: damaged}
	switch {
	case ctx.Err() != nil && errors.Is(err, ErrInUse): // which is worth knowing when the time to wait is over
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case died:
		failure.err = fmt.Errorf("%w while it opened the graph: %s", ErrChildDied, p.obituary())
	case slow:
		failure.err = fmt.Errorf("store child killed: graph not open after %v", v.cfg.OpenTimeout)
	case errors.Is(err, ErrInUse), errors.Is(err, ErrForeign), errors.Is(err, ErrNewerSchema):
		failure.kind = refused
	case errors.Is(err, errMachine), errors.Is(err, errors.ErrUnsupported):
		failure.kind = machine
	}
	return failure
}
