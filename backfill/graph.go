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
	SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error)
	Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error)
}

// Rewriter is a [Graph] that can be written anew as a whole, which takes a fraction of the time that changing most of it does.
type Rewriter interface {
	Graph
	// Facts counts the facts that are present.
	Facts(ctx context.Context) (int64, error)
	// Rewrite makes a graph beside the present one and puts it in its place. Users yields each user once, with what becomes of the
	// user's present graph; the graphs of users that it does not yield stay as they are. Nothing else changes the graph meanwhile;
	// searches see the present one until the new one is in its place. After an error, also one of users, the graph is as it was.
	Rewrite(ctx context.Context, users func(yield YieldUser) error) error
}

// YieldUser takes a user and what the user's graph becomes, which may be asked for later, once, and beside that of other
// users. Its error, which may be one of an earlier user, ends the rewrite.
type YieldUser func(space graphstore.Space, become Become) error

// Become returns the graph of a user as it becomes, from what it is.
type Become func(view *graphstore.Snapshot) (*graphstore.Snapshot, error)
