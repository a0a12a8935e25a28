// Package projectortest is the second way to what events mean: [Model] sorts the set of events of a user and derives the
// whole graph from scratch, [GenHistory] makes random histories that are hard on a projector.
//
// The model shares no code with the projector but the types of events and records. Normal forms of names and ids it
// reads off tables made by hand, from which the histories draw: it knows no others.
package projectortest
