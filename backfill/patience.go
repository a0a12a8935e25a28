package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// How long is waited before something is tried again: at first, and at the most.
const (
	retryMin = 100 * time.Millisecond
	retryMax = 5 * time.Second
)

// patiently does something again for as long as it fails for a reason that may pass, up to the configured patience.
func (r *run) patiently(ctx context.Context, what string, do func() error) error {
	start := time.Now()
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		err := do()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case !mayPass(err) || time.Since(start)+wait > r.b.cfg.Patience:
			return fmt.Errorf("%s: %w", what, err)
		}
		if wait == retryMin {
			r.b.log.Warn("backfill waits", "for", what, "err", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// mayPass reports whether an error may be over in a while: not one that the same call meets again for certain.
func mayPass(err error) bool {
	for _, never := range []error{
		vdb.ErrBadQuery, vdb.ErrBadPoint, vdb.ErrNoCollection, vdb.ErrUnsupported, vdb.ErrRefused, vdb.ErrCorrupt, vdb.ErrClosed, errDamagedFacts,
		graphstore.ErrBadChange, graphstore.ErrDangling, graphstore.ErrNoSpace,
	} {
		if errors.Is(err, never) {
			return false
		}
	}
	var rule *projector.FieldError
	var dimension *vdb.DimensionError
	return !errors.As(err, &rule) && !errors.As(err, &dimension)
}
