package qdrant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kithgraph/kith/vdb"
)

// deadlineSlack is how far before the caller's deadline gRPC may report that it has passed.
const deadlineSlack = 20 * time.Millisecond

// begin starts one method of the store. When the error is nil the caller must call the function.
func (s *Store) begin(ctx context.Context, op string) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if !s.gate.enter() {
		return nil, fmt.Errorf("%s: %w", op, vdb.ErrClosed)
	}
	return s.gate.leave, nil
}

// rpc makes one call to the server within the configured timeout. bad is the kind of error when the server finds fault
// with the vectors: vdb.ErrBadQuery or vdb.ErrBadPoint.
func rpc[Resp any](ctx context.Context, s *Store, bad error, call func(context.Context) (Resp, error)) (Resp, error) {
	callCtx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	resp, err := call(callCtx)
	if err == nil {
		return resp, nil
	}
	err = s.errs.translate(err, callerEnded(ctx, err), bad)
	var dimension *vdb.DimensionError
	if errors.Is(err, vdb.ErrNoCollection) || errors.As(err, &dimension) || errors.Is(err, errVectorName) {
		s.shape.Store(nil)
	}
	return resp, err
}

// callerEnded returns ctx.Err(), also in the moment in which gRPC has seen the context's deadline pass and the context
// itself has not.
func callerEnded(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	deadline, ok := ctx.Deadline()
	if ok && status.Code(err) == codes.DeadlineExceeded && time.Until(deadline) < deadlineSlack {
		return context.DeadlineExceeded
	}
	return nil
}
