package graphstore

import (
	"context"
	"errors"
)

// ErrDamaged reports that what is stored cannot be what was committed: records are missing or do not add up to the digest,
// or the file is gone. Nothing of the store is to be trusted any more; its owner has to build the graph anew.
var ErrDamaged = errors.New("graph is damaged")

// Mark says how far a graph has taken in the log of events that it is made from. The zero Mark says nothing.
type Mark struct {
	Log string // names one incarnation of one log: positions in another mean nothing
	Seq uint64 // every entry up to here is in the graph; some later ones may be too
}

// Head describes a graph as of its last transaction.
type Head struct {
	// ID is random, made with the graph, and stays the same for its life. A copy of the graph has the same one.
	ID string
	// Mark is the one of the last transaction that had one.
	Mark Mark
	// Digest is that of all records of all spaces.
	Digest Digest
}

// MarkedStore is a store that also keeps its head. Mark and digest are part of each transaction: a store that comes back in
// an older state, whatever the reason, says so by its head.
type MarkedStore interface {
	// ApplyMarked is [Store.Apply] that also replaces the mark, in the same transaction. Without changes it records the mark
	// alone. A zero mark keeps the stored one: Apply(ctx, changes) is ApplyMarked(ctx, changes, Mark{}).
	ApplyMarked(ctx context.Context, changes []Change, mark Mark) error

	// Head returns the head as of the last transaction.
	Head(ctx context.Context) (Head, error)
}
