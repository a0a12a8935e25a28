package feed

import (
	"time"

	"github.com/kithgraph/kith/projector"
)

// Hooks are told what happens, for metrics and traces. They are called from the feed's own goroutine and hold it up:
// they must be quick and must not call the feed. A nil hook does nothing.
type Hooks struct {
	// Batch is called after each attempt to commit events together.
	Batch func(BatchStats)
	// Message is called when a message is settled or given back.
	Message func(MessageStats)
	// Dead is called when a dead letter has been stored.
	Dead func(DeadLetter)
	// Rebuilt is called when the consumer had to be made or taken up again, with the reason: it was deleted, it fed another
	// graph, or it stalled.
	Rebuilt func(reason string)
	// Rewound is called when the consumer was made again because the graph had gone back.
	Rewound func(Rewind)
}

func (h Hooks) withDefaults() Hooks {
	if h.Batch == nil {
		h.Batch = func(BatchStats) {}
	}
	if h.Message == nil {
		h.Message = func(MessageStats) {}
	}
	if h.Dead == nil {
		h.Dead = func(DeadLetter) {}
	}
	if h.Rebuilt == nil {
		h.Rebuilt = func(string) {}
	}
	if h.Rewound == nil {
		h.Rewound = func(Rewind) {}
	}
	return h
}

// BatchStats is the account of one attempt to commit events together.
type BatchStats struct {
	Events    int // planned
	Unchanged int // of these, those that change nothing: repeats, or older than what the graph knows
	Spaces    int
	Changes   int              // after coalescing
	Report    projector.Report // summed over the events; not part of the graph unless Err is nil
	Took      time.Duration    // planning and commit
	Err       error            // nil: committed
}

// Outcome is what became of a message.
type Outcome uint8

// The outcomes.
const (
	Applied  Outcome = iota + 1 // committed and acknowledged; facts of it may be among the dead letters
	Buried                      // dead-lettered and terminated
	Returned                    // given back, to be delivered again
	Left                        // bad, and the active service's of the group to settle; it comes again until that has
)

// String returns the outcome's name.
func (o Outcome) String() string {
	return [...]string{"unknown", "applied", "buried", "returned", "left"}[min(o, Left)]
}

// MessageStats is the account of one delivery of one message.
type MessageStats struct {
	Outcome     Outcome
	EventID     string        // empty if it cannot be read
	Type        string        // empty if the event could not be decoded
	Traceparent string        // the header of that name, in either case; empty without one
	Sequence    uint64        // in the stream
	Deliveries  int           // this one included
	Lag         time.Duration // from the server's receipt of the event until now
	Err         error         // why it was buried or returned
}
