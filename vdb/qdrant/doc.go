// Package qdrant is the [vdb.Store] over one collection of a Qdrant server, through its gRPC interface. It is written for
// servers 1.15 to 1.20 and needs the query interface of 1.10.
//
// # Point ids
//
// Qdrant has one id space per collection, of unsigned integers and UUIDs; kith's ids are texts, unique inside one user.
// A point is found like this:
//
//  1. An id that is a UUID or a canonical unsigned integer is the point id itself (the direct id), so that the points a
//     memory system wrote keep their names.
//  2. Every other id becomes the UUIDv5 of the user id, a zero byte and the id (the mapped id), and the point's payload
//     keeps the original in the field "kith_id".
//  3. When the direct id is already taken by a point of another user, an upsert stores under the mapped id instead of
//     overwriting, and stays with it. Reads look under both, so both users use their id as if it were theirs alone. The
//     point is only ever replaced by its own user: upserts carry the condition with them and are counted afterwards. A
//     server before 1.16 does not know that condition; there, two processes that claim one id for two users within the
//     same instant can still overwrite one another.
//
// "kith_id" is reserved: an upsert whose Extra holds it is refused, and where it does not fit its point it is ignored.
//
// # Payload
//
// Fields have kith's names unless [Config.Fields] says where the collection keeps them; what no field claims is
// Payload.Extra. Reading is lenient where memory systems differ: a user id may be an integer; tags may be one string; a
// time may be a text as the server itself reads times (without a zone it is UTC) or a number of seconds or milliseconds
// since 1970. A value of a type that makes no sense for its field is as if absent; a scroll counts and describes such
// values. Writing is strict: texts, lists, and RFC 3339 in UTC with microseconds.
//
// A time in a number is seconds between -1e11 and 1e11 and milliseconds from there to 1e14; anything else is absent. Where
// [Config.Fields] states the unit, every number has it.
//
// # Words
//
// Keyword search is a sparse vector beside the dense one, whose indices are hashes of words and whose weights are BM25
// without the inverse document frequency; the server multiplies that in when it searches ([Config.Keyword] says who makes
// words and weights). The frequency is that in the whole collection, all users' points counted, and points that were
// deleted until the server has cleaned up: the order of a user's answers can change by what other users write, the
// points in them cannot. A point is found by the words that it was written with: one that a memory system wrote without
// the sparse vector is never found by words.
//
// # Scores
//
// Only collections with the cosine distance are searched, because the score of another distance means something else.
// Cosines are the server's, of single precision. Vectors come back normalised, as the server keeps them. On large
// collections the server's index is approximate; [Config.Exact] turns that off.
package qdrant
