// Package calibrate measures the two cosines between which an embedding model's similarities lie in a collection: LO, what a question
// has in common with a fact taken at random, and HI, what a good hit has. The ranking maps [LO, HI] to [0, 1], so that its
// thresholds mean the same for every model.
//
// LO is the mean cosine of random (question, fact) pairs, HI the 90th percentile of the best cosine over questions. A pair is of one
// user, and only facts count that a search would find: a search never sees others.
package calibrate
