// Package eventcheck explains what is wrong with a producer's events before they are published.
//
// [projector.Decode] alone decides what is an error, so that an event without one is an event that is projected. What it
// ignores on purpose and a producer hardly means (a misspelt member, versions stated in some events of a fact only) is a
// warning; what is projected as something else than it says is a note. Nothing here does I/O.
package eventcheck
