// Package child runs a [graphstore.Store] in a process of its own, started and watched by this one, behind the same
// contract. It exists because the engine inside the store can end its process in ways that no recover catches, and a
// crash of the graph must not be a crash of the search.
//
// The child is the same binary started again with a command that calls [Serve]. The parent calls [Start]. Between them is
// hashicorp/go-plugin with gRPC over a Unix socket in a directory that only this user may enter. gRPC and not net/rpc,
// because a load is a long stream that needs flow control, and a call needs a context that ends it at the other side. The
// messages are written by hand (no generated code): a change is a few strings and numbers.
//
// # Guarantees
//
//  1. A call of the parent ends when the child ends, however that happens. It then returns [ErrChildDied]; of an Apply
//     the outcome is unknown, and applying again is right, as the contract says.
//  2. The child ends when the parent ends, however that happens, after the transaction in hand and not before it. It
//     waits for the end of a pipe that only the parent holds open. (A parent-death signal is no help: it comes when the
//     thread ends that started the child, and it does not wait for the transaction.)
//  3. A child that ended is started again, later each time; too many ends in too short a time stop that for a while
//     ([ErrBreakerOpen]).
//  4. A graph that cannot be opened twice in a row is moved aside, never deleted, and an empty one takes its place; so is
//     one that says it is damaged, that kills its child at every load, or whose file is gone. The owner is told before the
//     empty graph takes its first call. A child that does not even come to open the graph (a missing library, a full
//     process table) moves nothing.
//  5. [Store.Replace] puts another graph in its place. Whatever ends this process meanwhile, the next [Start] finds one of
//     the two whole.
//  6. After Close, and after [Build], there is no child, no socket and no goroutine left.
//
// docs/child.md has the protocol, the steps of a replacement and what is not promised.
package child
