// Package eval measures how well a ranked list answers a question whose answers are known, and how sure a difference
// between two ways of ranking is.
//
// The measures take the ids shown, best first, and the ids that answer the question. An answer counts once, at the first
// place it is shown; the order and repetition of the answers do not matter. All of them are NaN for a question without
// answers, of which nothing can be measured.
package eval
