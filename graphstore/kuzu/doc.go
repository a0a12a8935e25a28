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
// # Known limits
//
//   - The binding never frees the text of parameters: see [Store.Leaked].
//   - The file never shrinks; freed pages are used again.
//   - A flipped bit in the file or the log is not noticed by Kuzu (it keeps no checksums) and may crash Open.
package kuzu
