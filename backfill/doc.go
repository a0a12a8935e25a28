// Package backfill makes a graph of facts that are in the vector store already: it scans the points in the store's order, makes
// stored facts of them ([projector.StoredFact]), and has them planned and committed beside the events.
//
// Guarantees:
//
//  1. Nothing that an event wrote is overridden by a point of version 0, and by a point of a version only what is older: the
//     projector's versions decide, so a backfill and events may come in any order and any number of times.
//  2. A page's changes are planned and committed while nothing else plans changes of the same graph ([Graph.Update]).
//  3. The checkpoint is written after a page's commit. A run that was killed at any point and resumed ends in the graph of a run
//     that was not; at most the last page is done again, which changes nothing.
//  4. What a fact asserts does not depend on the options of a run: its neighbours are looked for among all of the user's
//     points, also those that the run leaves out.
//  5. A point that cannot be a fact is counted and the first of them are named; nothing is dropped silently.
//
// Not promised: a graph as rich as that of events. A vector store does not know decisions on entities, merges, retractions, typed
// relations and triples unless its payloads hold them; [Account.Missing] says what was not there. Neighbours are those that the
// store has at the time; points that come later bring their own.
package backfill
