package graphstore

import "errors"

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
