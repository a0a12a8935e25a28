package feed

import (
	"context"
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

// Graph is what the feed plans against and writes to. The feed is its only writer while it runs.
type Graph interface {
	// Snapshot returns the graph of a space as it is after the last Apply that returned nil, or a later state; an empty one
	// for a space it does not know. After an Apply of unknown outcome it is never older than what is durable.
	Snapshot(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error)

	// Apply commits the changes of any number of spaces in one transaction, durable when it returns nil, under the rules of
	// [graphstore.Store.Apply]: [graphstore.ErrBadChange] and [graphstore.ErrDangling] are permanent and change nothing, any
	// other error may be retried and may or may not have committed.
	Apply(ctx context.Context, changes []graphstore.Change) error
}

// permanent reports whether an error of Apply or of a planned change fails the same way again.
func permanent(err error) bool {
	return errors.Is(err, graphstore.ErrBadChange) || errors.Is(err, graphstore.ErrDangling)
}
