// Package live is the graph that searches read: one immutable snapshot per user in memory over a durable store.
//
// Guarantees:
//
//  1. A read ([Graph.View]) takes no part in I/O: it returns at once with the newest committed snapshot, or an error
//     that says why there is none.
//  2. A snapshot is published only after the store has committed what it holds. A crash loses no published state.
//  3. One writer: [Graph.Apply] calls are serialised, and the snapshots of all spaces of one call are published before it
//     returns.
//  4. After a commit of unknown outcome the affected spaces are read from the store again before anything is planned
//     against them. Until then readers keep the last published snapshot.
//
// The working set is whole: every space is loaded by [Graph.Load] and stays. Rejected: answering from the store on a
// miss, because the fastest read of a pool's edges from the store costs hundreds of times the read from memory, and a
// search must not depend on it.
package live
