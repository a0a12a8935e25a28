// Package live is the graph that searches read: immutable snapshots of users in memory over a durable store, within a
// bound of bytes.
//
// Guarantees:
//
//  1. A read ([Graph.View]) takes no part in I/O: it returns at once with the newest committed snapshot, or an error
//     that says why there is none. [Graph.Acquire] waits for a user to be read, as long as its caller allows.
//  2. A snapshot is published only after the store has committed what it holds. A crash loses no published state.
//  3. One writer: [Graph.Apply] calls are serialised, and the snapshots of all spaces of one call are published together
//     before it returns.
//  4. A user's graph is served whole or not at all, and never an older one after a newer: a reload that began before a
//     commit is read again.
//  5. After a commit of unknown outcome the affected spaces are read from the store again before anything is planned
//     against them. Until then readers keep the last published snapshot.
//  6. Published snapshots stay within [Config.MaxBytes]. Those least recently used go; who holds one keeps it.
//  7. What the store gives back of a user has the counts that were committed, else it is [graphstore.ErrDamaged].
//  8. What [Graph.Load] lets through adds up to the digest of the store's head.
//
// The directory knows every space: its counts, its size, when it was used, and its snapshot or that it has none. Where
// everything fits, everything is resident from the start and a search never waits. Where it does not, a user is read
// at first use, by at most two readers, once however many ask.
//
// A reload and a commit of one space can overlap. They are ordered by the space's version in the directory, which each
// publication by the writer changes: what a reload has read at another version than the present one is dropped. Rejected:
// reloading under the writer's turn, because a commit takes milliseconds and one large user seconds, and either would
// wait for the other.
//
// Rejected: answering from the store on a miss, because the fastest read of a pool's edges from the store costs hundreds
// of times the read from memory, and a search must not depend on it.
package live
