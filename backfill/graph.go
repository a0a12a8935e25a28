package backfill

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Views gives the newest snapshot of a space to plan against.
type Views func(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error)

// Graph is what a backfill writes to.
type Graph interface {
	// Update has changes planned and commits them in one transaction, durable when it returns nil. Nobody else plans or
	// commits changes of the graph meanwhile, so what the views give is still true at the commit. Without changes nothing
	// is committed. Errors of the plan are returned as they are; [graphstore.ErrBadChange] and [graphstore.ErrDangling] are permanent,
	// others may pass, and then the changes may or may not have been committed.
	Update(ctx context.Context, plan func(ctx context.Context, views Views) ([]graphstore.Change, error)) error
	// ID names the graph; one that was lost and begun anew has another.
	ID(ctx context.Context) (string, error)
}

// Points is what a backfill asks of the vector store, a part of [vdb.Store].
type Points interface {
	Info(ctx context.Context) (vdb.Info, error)
	Count(ctx context.Context, space graphstore.Space) (int64, error)
	Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error)
	Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error)
}
