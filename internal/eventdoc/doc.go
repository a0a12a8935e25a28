// Package eventdoc writes down the wire contract for producers in any language: a JSON Schema (2020-12) of every event
// type, an AsyncAPI 3.0 document of the streams, and a page that says what a schema cannot.
//
// Names, nesting, order and what may be left out are read off the Go types of package projector, so that they cannot
// drift; what Go does not say of a member (that a string is an id, what it means) stands in a table here. Every member
// must be in it. That the schema accepts and refuses what [projector.Decode] does is for the tests to show.
package eventdoc

//go:generate go run ./gen ../../docs/schema
