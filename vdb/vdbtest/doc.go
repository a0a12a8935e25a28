// Package vdbtest holds what proves a [vdb.Store]: [Exercise], the conformance suite that every driver runs; [Memory], a
// store so simple that it can be believed, which other packages use as their vector store in tests; and generators of
// points.
//
// The suite is the contract in the form of a program. Expected values in it are written by hand, computed by arithmetic
// that is independent of every store ([Cosine]), or come from Memory, which shares no code with the drivers except
// [vdb.Tokenize] and the validation of arguments.
package vdbtest
