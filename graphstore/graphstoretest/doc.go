// Package graphstoretest is what makes a graph store trustworthy and testable: [Exercise] is the conformance suite that
// every [graphstore.Store] passes, [Memory] the simple store that is right by inspection and to which others are
// compared, [Faulty] the wrapper that makes any store fail on demand, [Graph] a generator of plausible graphs.
//
// A new store adds one test:
//
//	func TestExercise(t *testing.T) {
//		graphstoretest.Exercise(t, graphstoretest.Harness{Name: "mine", Open: open, Reopen: reopen})
//	}
package graphstoretest
