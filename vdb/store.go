package vdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Errors a caller branches on. Each is wrapped with the facts of the case.
var (
	ErrBadQuery     = errors.New("bad query")                     // the caller's mistake; nothing was asked of the store
	ErrBadPoint     = errors.New("bad point")                     // the caller's mistake; nothing of the call was stored
	ErrNoCollection = errors.New("collection does not exist")     // the store answers, the collection is not there
	ErrUnavailable  = errors.New("vector store is unavailable")   // cannot be reached, or did not answer in time; may be retried
	ErrUnsupported  = errors.New("not supported by this store")   // the collection has no index for it
	ErrRefused      = errors.New("refused by the vector store")   // a wrong key or setting: the same call is refused again
	ErrCorrupt      = errors.New("vector store file is corrupt")  // it contradicts itself; reads of the damaged part fail, nothing is repaired
	ErrClosed       = errors.New("vector store handle is closed") // after Close
)

// DimensionError reports a vector of another length than the collection's. It is wrapped in [ErrBadQuery] or
// [ErrBadPoint]. The usual cause is a changed embedding model.
type DimensionError struct{ Got, Want int }

// Error names both numbers.
func (e *DimensionError) Error() string {
	return fmt.Sprintf("vector has %d dimensions, the collection has %d: was the embedding model changed?", e.Got, e.Want)
}

// Info describes a collection.
type Info struct {
	Driver     string // "sqlite", "qdrant", "memory"
	Collection string
	Dimension  int // 0 when unknown: an embedded store before its first point
	Points     int64
	Keyword    bool // whether Keyword and Hybrid work
}

// Store searches one collection. What a method returns is the caller's, except the values inside payloads, which nobody may change; a
// method keeps and changes no slice that it is given. All methods are safe for concurrent use and honour the context's deadline: when it
// ends they return an error that matches ctx.Err() (or ErrUnavailable for a deadline of the driver's own).
type Store interface {
	// Info describes the collection.
	Info(ctx context.Context) (Info, error)

	// Search returns the points of the space that pass the filter, nearest first, at most q.Limit. A space without
	// points gives no matches and no error. Errors: ErrBadQuery (with *DimensionError where that is the reason),
	// ErrNoCollection, ErrUnavailable, ErrClosed.
	Search(ctx context.Context, q Query) ([]Match, error)

	// SearchMany answers several queries in one call. Result i is exactly what Search returns for queries[i]; no queries have no
	// results and no error. Queries may differ in everything. Each is restricted to its own space inside the store, as Search is;
	// those of one space are answered of one state of it, as far as the store has such states. It is made for queries of one space
	// and filter: an embedded store looks at each point once for all of them, one that speaks to a server sends them together.
	// All or nothing: where one query is bad the error is ErrBadQuery, names its index, as in "queries[3]", and nothing was asked; the
	// caller may ask again without it. At most MaxQueries, whose limits add up to at most MaxQueryMatches. Errors as Search's.
	SearchMany(ctx context.Context, queries []Query) ([][]Match, error)

	// Score returns those of the points with these ids that exist in the space and pass the filter, each with its cosine
	// to the vector, exactly as Search scores it, ordered as Search. Unknown ids are left out. At most MaxLimit ids; q.Limit is ignored.
	Score(ctx context.Context, q Query, ids []string) ([]Match, error)

	// Keyword returns the points of the space that share a word with the text, best BM25 first, then id. A text without
	// words gives no matches. ErrUnsupported where Info says so.
	Keyword(ctx context.Context, q KeywordQuery) ([]Match, error)

	// Hybrid returns what Search and Keyword would, and the cosines of the keyword matches, of one state of the collection as
	// far as the store has such states. A store that speaks to a server asks it once; again only where points of equal score
	// reach beyond what a limit asks for at first. ErrUnsupported where Info says that there is no keyword search: then the
	// dense half is not answered either.
	Hybrid(ctx context.Context, q HybridQuery) (HybridMatches, error)

	// Get returns the points with these ids that exist in the space, in the order of ids (a repeated id once). A point that has no
	// searched vector, as there are in collections of several, is left out where vectors are asked for, and only there.
	Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]Point, error)

	// Scroll returns one page of points in a fixed order of the driver's (by id inside the store), resumable by cursor. A
	// cursor that is none of the driver's is ErrBadQuery.
	Scroll(ctx context.Context, q ScrollQuery) (Page, error)

	// Upsert stores the points, replacing those with the same space and id as a whole, durable and visible to reads that
	// start after it returns. All or nothing up to the driver's batch size. Of points with one id the last one counts. The
	// slices are not kept or modified. ErrBadPoint also for payload texts a store cannot keep and Extra values that are not
	// JSON.
	Upsert(ctx context.Context, points []Point) error

	// Delete removes the points with these ids from the space; unknown ids do nothing.
	Delete(ctx context.Context, space graphstore.Space, ids []string) error

	// Count returns how many points the space has; 0 for one that is not known. Errors like Get's.
	Count(ctx context.Context, space graphstore.Space) (int64, error)

	// Erase removes every point of the space, and nothing else, and returns how many there were. A store whose files are its
	// own keeps none of their bytes in them, nor the space's id, also of points that were deleted or replaced earlier: files
	// are written anew for that, which takes longer the more all spaces have. One that speaks to a server leaves the server's
	// files to the server. After an error some may be gone; an Erase of a space that has no points does the rest of the work
	// that an interrupted one has left. The space can be written to again.
	Erase(ctx context.Context, space graphstore.Space) (int64, error)

	// Close releases the handle after the calls in flight. A second Close does nothing and returns nil.
	Close() error
}
