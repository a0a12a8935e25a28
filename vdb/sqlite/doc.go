// Package sqlite is the embedded vector store: a [vdb.Store] in one SQLite file, exact, without a server.
//
// # Layout
//
// A point is one row in each of three tables, all with the same rowid user_no<<32 | seq, so that the points of a user lie
// together on disk: facts (id and payload), vecs (the vector, scaled to length 1, and its original length), and words
// (the full text index: no copy of the text, only its tokens). The table users gives each user id its number and counts
// the user's writes in rev. Numbers and seqs are never used twice.
//
// # Search
//
// A search compares the query with every vector of its user: exact by construction, and below a million vectors per user
// faster than it takes to be worth an approximate index. For that the vectors and what filters look at are kept in
// memory as one immutable matrix per user, in a cache bounded in bytes; only the payloads of the answer come from the
// file. The first pass is in float32; whatever may belong to the answer within its rounding error is scored again in
// float64, which makes scores comparable between stores and the order of equal vectors one of ids.
//
// # Invariants
//
//  1. Every answer is that of one state of the user between the call and its return, also while this or another process
//     writes: the statement that reads the payloads reads users.rev with them, and an answer from a matrix of another
//     rev is thrown away. PRAGMA data_version was rejected for this: it says that something in the file changed, which
//     would drop every user's matrix at every write of any user, and costs a statement of its own.
//  2. Every statement is a constant. Values are bound; lists of values are bound as one JSON array.
//  3. Every read is bounded by the user's range of rowids, or by the user's number and an id.
//  4. A write call is one transaction up to [BatchPoints] points, synced to disk before it returns.
//
// # Processes
//
// Any number of processes may open the file; SQLite lets one of them write at a time, and the others wait up to
// [DefaultBusyTimeout]. The file must be on a local disk, not on a network file system.
//
// Not promised: BM25 scores are computed over the words of all users of the file, so a user's score, though never the
// set of matches, may move when others write.
package sqlite
