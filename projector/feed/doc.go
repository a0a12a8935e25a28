// Package feed drives the projector from a JetStream stream: it pulls memory events in batches, plans them against the
// running snapshots of their spaces, commits each batch to the graph in one transaction and acknowledges it.
//
// Guarantees:
//
//  1. Acknowledged means durable: a message is acknowledged after the graph has committed it, and terminated after the
//     server has acknowledged its dead letter. A crash in between delivers it again, which changes nothing.
//  2. Trouble of the graph loses nothing and dead-letters nothing, however long it lasts: messages go back with a delay, and
//     pulling pauses.
//  3. What can never be projected (a bad event, a bad fact of a good event, an event that breaks the planner) goes to the
//     dead letters as it came, and everything around it is projected.
//  4. Order of delivery does not matter. Redeliveries overtake and repeat; the projector's versions sort it out.
//  5. What the consumer delivered for another graph is projected again: with Config.GraphID the consumer is bound to one graph.
//  6. What the graph has lost is projected again: each transaction carries a mark of how far the graph is, and a graph that
//     comes back in an older state gets the stream from there (Config.Mark).
//
// Not promised: each message exactly once (at least once it is), dead letters without repeats (a crash at the wrong moment
// outside the duplicate window of the stream repeats one), any order between users or events.
//
// One goroutine pulls, plans, applies and acknowledges, in this order, one batch at a time. Rejected: callbacks of a
// consume context, because they prefetch: messages age in the client while a batch is applied, expire, and come again.
package feed
