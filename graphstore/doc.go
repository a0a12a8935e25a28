// Package graphstore holds the words of kith's graph and the contract of a store that keeps it.
//
// A graph is a set of records per [Space] (one user): facts, entities and topics as nodes, typed [Edge] values between
// them. Every record has an identity inside its space ([Key]), every write is a [Change], and a [Store] commits changes
// in transactions. A [Snapshot] is the immutable picture of one space that searches read and the projector plans against.
//
// Nothing here does I/O or needs cgo, and nothing here knows events, vectors or ranking: a type stands in this package
// only if a graph can store it or a read of the graph returns it.
//
// Invariants:
//
//  1. No value joins two spaces. A [Space] is never empty, is part of every change and every read, and has no wildcard.
//  2. Same records, same [Digest], whatever store holds them and in whatever order they arrived.
//  3. A snapshot never changes. [Snapshot.With] returns a new one that shares what did not change.
//  4. An edge never dangles: both its ends are nodes of the same space (a fact not yet projected stands as [StateUnseen]).
package graphstore
