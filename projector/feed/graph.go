package feed

import (
	"context"
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

// Graph is what the feed plans against and writes to. The feed is its only writer while it runs.
type Graph interface {
	// Snapshot returns the graph of a space as it is after the last ApplyMarked that returned nil, or a later state; an empty one
	// for a space it does not know. After one of unknown outcome it is never older than what is durable.
	Snapshot(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error)

	// ApplyMarked commits the changes of any number of spaces and the mark in one transaction, durable when it returns nil,
	// under the rules of [graphstore.Store.ApplyMarked]: without changes it records the mark alone, a zero mark keeps
	// the one that is there, [graphstore.ErrBadChange] and [graphstore.ErrDangling] are permanent and change nothing, any
	// other error may be retried and may or may not have committed. It must fail if the store has lost what it committed
	// earlier in this run: the mark would claim that.
	ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error
}

// permanent reports whether an error of ApplyMarked or of a planned change fails the same way again.
func permanent(err error) bool {
	return errors.Is(err, graphstore.ErrBadChange) || errors.Is(err, graphstore.ErrDangling)
}
