// Package vdb holds the words and the contract of similarity search over stored facts: a [Point] is a fact with its
// vector and payload, a [Query] asks for the points of one user nearest to a vector, a [Match] is one answer.
//
// The vector store is the source of truth of the memory system; kith only reads it, except where it plays the memory
// system itself (samples, tests, loading a file). Payload fields have kith's names here; a driver translates them to
// the names of its collection.
//
// Invariants of every [Store]:
//
//  1. Every read is restricted to one [graphstore.Space] inside the store, not after it.
//  2. Scores are raw cosine similarities in [-1, 1], larger is nearer, ordered by score descending, then id ascending
//     bytewise. Equal inputs give equal answers.
//  3. A failure is an error, never an empty answer.
package vdb
