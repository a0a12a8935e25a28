// Package reader answers a query: it recalls candidates from the vector store, lets the graph rank them, and says what it
// did.
//
// Guarantees:
//
//  1. The vector store decides what is found. What it returns is checked again: a candidate of another user never reaches
//     an answer, and is counted and logged as the fault it is.
//  2. The graph never costs a search its answer. Whatever goes wrong in a stage (no graph yet, a panic, its budget spent, its
//     breaker open) the answer is what the groups of stages before it made, byte for byte, at the least the recall's order, and
//     [Rerank.Status] is "degraded" with stage and reason.
//  3. The vector store's failure is an error, never an empty answer; so is the caller's own cancellation.
//  4. Equal inputs over an unchanged store and graph give equal answers, times apart.
package reader
