// Package projector says what a memory event means for the graph.
//
// [Decode] turns the bytes of one event into an [Event] or says what is wrong with them; [Marshal] is its inverse for
// producers. [Projector.Plan] turns an event into the changes that bring one user's graph up to date with it, and
// [Coalesce] joins the changes of several events into one transaction. Nothing here does I/O, keeps state or looks at a
// clock: the same event planned against the same snapshot gives the same changes.
//
// Invariants:
//
//  1. Same events, same graph: any order of arrival and any repetition of a set of events ends in the same records.
//  2. Times come from the event. A missing time stays missing, a time without a zone is refused.
//  3. Nothing is dropped silently: what does not become a record is a [Rejected], an error, or a count in [Report].
//  4. An event touches the space of its own user and no other.
package projector
