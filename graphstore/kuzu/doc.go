// Package kuzu keeps a graph in one file of the embedded graph database Kuzu (github.com/kuzudb/go-kuzu v0.11.3, whose
// development has ended). It is the only package that imports it, and most of what it does is to keep to the ways of using
// Kuzu that were measured to be safe.
//
// # Who may do what
//
//   - One process owns a file, by a lock file beside it. The file is never read while Kuzu has it.
//   - One goroutine writes, on one connection. Readers have a connection and statements each.
//   - Kuzu's crashes cannot be recovered from in Go. What must not die does not run a store in its own process.
//
// # Writes
//
//   - One Apply is one transaction. What it must write is worked out before it begins: an index in memory knows every
//     node, edges of known nodes are read and compared. No record is written twice in a transaction, nothing that is
//     already so is written.
//   - After an error in a transaction the database is closed and opened again, because a rollback leaves pointers
//     dangling in Kuzu's memory. The error may be retried.
//   - Updates hold memory until the next checkpoint. A checkpoint is made when it is time by a count of what was written,
//     while no load runs; the database is closed and opened again after each.
//
// # Reads
//
//   - A load reads pages of a table in one read transaction: one state, that of a whole number of transactions. It holds
//     checkpoints up while it lasts.
//   - Kuzu answers no search: reading the edges among fifty facts takes hundreds of times longer from it than from
//     memory. PoolEdges is there to measure that.
//
// # The file
//
// Nodes are Space, Memory, Entity, Topic, Schema and VdbRef, edges RELATED (between facts, all types), MENTIONS, TAGGED_WITH
// and DERIVED_FROM (to Memory or VdbRef); MergeLog and Tombstone are nodes without edges. Meta has
// the version of the schema, Identity the id of the graph, Head what each transaction left (the greatest no counts), Log the name
// of the log of its mark. Nodes are numbered; key is the id that the rest of the program knows, space the number of the
// user. Times are codes of [graphstore.Instant]: microseconds since 1970, plus one from then on, and 0 for none.
//
// Every text that can change, and every text of an edge, stands in the table Text and is referred to by number (0: the
// empty text): Kuzu never gives the memory of a column's different texts back, copies all of them when one changes, and
// can lose the file when that no longer fits its pool. Texts of more than 256 bytes go on in the row numbered rest. An
// edge's asserter is -1 for its source, -2 for its target, else a text. To read names by hand, on a copy of the file:
//
//	MATCH (s:Space {user_id: 'ada'}) WITH s.no AS no
//	MATCH (m:Memory)-[r:MENTIONS]->(e:Entity) WHERE m.space = no
//	MATCH (t:Text) WHERE t.id = e.name
//	RETURN m.key, m.state, t.text, r.weight LIMIT 20
//
// # Damage
//
// Each transaction also writes the digest of all records and the mark of what it is made from, under a seal. What does not
// decode, refers to nothing, or does not add up to the digest is [graphstore.ErrDamaged], and so is a file that was removed or
// replaced while it was open. A log that Kuzu cannot read on ends there for it: the graph is then an earlier one, whose head
// says so.
//
// # Known limits
//
//   - The binding never frees the text of parameters: see [Store.Leaked].
//   - The file never shrinks; freed pages are used again, but not the bytes of deleted texts: a changed text costs about
//     four times its length. Building the file anew gives them back.
//   - A checkpoint of a graph of a million edges takes about two seconds, in which loads wait.
//   - A flipped bit in the file or the log is not noticed by Kuzu (it keeps no checksums) and may crash Open. What it does to
//     the records is found when all are loaded, by the digest of the head; a load of one space compares with nothing.
package kuzu
