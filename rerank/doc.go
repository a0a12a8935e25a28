// Package rerank orders the candidates of a vector search better by what a graph knows of how they connect. It is a
// library of pure functions: a pool of candidates and a [graphstore.Snapshot] go in, an order with its account comes
// out. It does no I/O, starts no goroutine, reads no clock; a nil snapshot means "no graph".
//
// Support: a candidate rises a little when other good candidates of the same pool are tied to it. With s the calibrated
// cosine of a candidate, N(v) the pool members tied to v whose s reaches a floor, and W(u,v) the folded weight of all
// edges between u and v,
//
//	support(v)     = sum over u in N(v) of W(u,v) * min(x(u), 1) / sqrt(max(1, |N(v)|))
//	graph_score(v) = s(v) + Beta * min(support(v), SupportCap)
//
// where x is s in the first (and by default only) iteration. The shape follows a published design of graph reranking;
// where that leaves a choice open, the comment at the choice says which was taken and why.
//
// Expansion: strong paths from the best members nominate facts outside the pool ([Ranker.Nominate]); once the vector
// store has scored them, [Ranker.Admit] gates and places them. Paths: [Ranker.Paths] shows how the first results connect.
// The calls are separate because the caller's I/O lies between them, and each works on the output of the one before.
//
// Invariants:
//
//  1. The boost is bounded: s <= graph_score <= s + Beta*SupportCap, so nothing passes an item more than
//     Beta*SupportCap ahead of it.
//  2. Without a boost (no graph, no edges, Beta 0, no good neighbour) the incoming order stays, bit for bit.
//  3. Same inputs, same bytes out: edges may arrive in any order, repeated, from either end.
//  4. What the vector store says of a candidate decides whether it may appear; the graph never brings one back.
//  5. Nothing of another space is read or returned.
package rerank
