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

// start starts one child and has it open the graph. Its error is a *startError, or that of the context.
func (v *supervisor) start(ctx context.Context) (*process, error) {
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
	v.failures, v.barren = 0, false
	return p, nil
}

// open has the child open the graph. A child that fails is gone when it returns.
func (v *supervisor) open(ctx context.Context, p *process) error {
	limited, cancel := context.WithTimeout(ctx, v.cfg.OpenTimeout)
	defer cancel()
	err := p.open(limited, v.cfg.Path)
	if err == nil {
		return nil
	}
	died := false
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		died = true
	}
	p.release()
	failure := &startError{phase: CrashedOpening, pid: p.pid, err: err, kind: damaged}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case died:
		failure.err = fmt.Errorf("%w while it opened the graph: %s", ErrChildDied, p.obituary())
	case limited.Err() != nil:
		failure.err = fmt.Errorf("store child killed: graph not open after %v", v.cfg.OpenTimeout)
	case errors.Is(err, ErrInUse), errors.Is(err, ErrForeign), errors.Is(err, ErrNewerSchema):
		failure.kind = refused
	case errors.Is(err, errMachine):
		failure.kind = machine
	}
	return failure
}
