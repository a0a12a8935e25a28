// Package wire is a Qdrant for tests and demonstrations: a real gRPC server on the loopback interface that answers the
// Points, Collections and Qdrant services over an exhaustive in-memory store.
//
// It is not a recording: every call is computed. It follows Qdrant 1.17.1 as that server's source reads, and says here
// where it knowingly differs:
//
//   - Points: Upsert, Delete, Get, SetPayload, Scroll, Query, QueryBatch, Count, CreateFieldIndex, DeleteFieldIndex.
//     Collections: Create, Delete, Get, List, CollectionExists. Qdrant: HealthCheck. Every other call answers
//     Unimplemented, and so do fusion, recommendation, formula and multi-vector queries and geo filters.
//   - Point ids are unsigned integers or UUIDs in any spelling; answers carry the hyphenated lower-case one. Scrolls run
//     over the integers ascending, then the UUIDs by value (all versions since 1.0).
//   - Cosine vectors are normalised when they are stored, so their length is lost (all versions). Scores are computed
//     exhaustively: the approximation of an HNSW index is not imitated.
//   - A sparse query finds the points that share an index with it. The IDF modifier counts the vectors of the collection as
//     they are; the server also counts deleted ones until its optimizer has run. A query over prefetches scores all that
//     they find; the server does so per shard, of which this one has one.
//   - A document of the model qdrant/bm25 (from 1.15 on, where the server has it from 1.15.2) becomes words in lower case,
//     separated by whatever is neither letter nor digit, with the server's weights but other numbers. Neither the
//     dictionaries that its tokenizer "multilingual" cuts Chinese or Japanese with are imitated, nor stop words and stems: a
//     language other than "none" is Unimplemented.
//   - Points of equal score come in descending id order. The real order is undefined; an ascending one would hide callers
//     that rely on it.
//   - Updates with wait=false are applied at once, but what is wrong with their vectors is not reported and the update is
//     dropped, as a server does that has already acknowledged it (all versions up to 1.20).
//   - UpsertPoints.update_filter holds from version 1.16 on, update_mode from 1.17 on; an older [Options.Version] ignores
//     the fields as an older server ignores what it does not know.
//   - [Options.FlatVectors] answers vectors in the deprecated flat fields of the protocol, as older servers do.
//   - Payload conditions are checked against the payload itself; an index never changes an answer. Full-text conditions are
//     substring tests, as on a field without a full-text index.
//   - A missing or wrong API key is Unauthenticated, as since 1.9; the health check needs none. Access tokens are not
//     known.
//   - There is no limit on the size of a request or an answer, as on the server; the clients have theirs.
package wire
