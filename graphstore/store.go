package graphstore

import (
	"context"
	"errors"
)

// ErrClosed is returned by every method of a store after Close. Nothing was read or written.
var ErrClosed = errors.New("graph store is closed")

// ErrDangling reports a transaction that would leave an edge without one of its ends: an edge put between nodes that do
// not exist after the transaction, or a node deleted while edges of it remain. Nothing of the transaction is applied.
var ErrDangling = errors.New("edge would dangle")

// Stats counts what a store holds over all spaces.
type Stats struct {
	Spaces     int
	Facts      int // every Memory node, also unseen and deleted ones
	Entities   int
	Topics     int
	Schemas    int // also deleted ones
	Refs       int
	Merges     int // rows of the merge log
	Tombstones int // of retracted sources and forgotten users
	Edges      int
	Bytes      int64 // on disk; 0 when nothing is
}

// Store keeps graphs durably. Nothing in the contract needs shared memory: arguments and results are plain values that
// could cross a process. Implementations are safe for concurrent use; Apply calls are serialised by the implementation.
type Store interface {
	// Apply commits the changes of any number of spaces in one transaction: all or nothing, durable when it returns nil.
	//
	// It is idempotent: applying the same changes twice in a row ends in the same graph, so a caller that does not
	// know whether a commit happened applies again. Changes are unordered among themselves: nodes exist before their
	// edges and edges go before their nodes however the slice is ordered. Errors: [ErrBadChange] and [ErrDangling] are
	// permanent and leave the graph as it was; any other error may be retried, and may or may not have committed.
	// An empty slice is a no-op. The store does not keep or modify the slice or what it points to. A cancelled context
	// stops Apply before the transaction begins, never in the middle of it.
	Apply(ctx context.Context, changes []Change) error

	// ApplyMarked is Apply that also replaces the mark of the head, in the same transaction. Without changes it records the mark
	// alone. A zero mark keeps the stored one: Apply(ctx, changes) is ApplyMarked(ctx, changes, Mark{}).
	ApplyMarked(ctx context.Context, changes []Change, mark Mark) error

	// Head returns the head as of the last transaction. Mark and digest are part of each transaction: a store that comes back in
	// an older state, whatever the reason, says so by its head.
	Head(ctx context.Context) (Head, error)

	// Load yields every record of one space as Put changes, all others before edges, in no other promised order. An unknown
	// space yields nothing and is no error. An error of yield ends the load and is returned as it is. What is yielded is
	// one consistent state: the one after some whole number of transactions.
	Load(ctx context.Context, space Space, yield func(Change) error) error

	// LoadAll yields every record of every space under the rules of Load; records of different spaces may interleave,
	// but all nodes come before all edges.
	LoadAll(ctx context.Context, yield func(Change) error) error

	// Spaces lists the spaces that hold at least one record, ordered by user id bytewise.
	Spaces(ctx context.Context) ([]Space, error)

	// Stats counts the records.
	Stats(ctx context.Context) (Stats, error)

	// Close releases the store after the calls in flight. A second Close does nothing and returns nil.
	Close() error
}
