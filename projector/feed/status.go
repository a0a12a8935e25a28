package feed

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Status is the state of a feed. Counters count since it was made.
type Status struct {
	Connected bool // to the NATS server
	Attached  bool // to the consumer, which was there when it was last asked for

	// LastApplied is the stream sequence up to which every event is in the graph or among the dead letters.
	LastApplied uint64
	// Marked is the sequence up to which the graph itself says so, and will after a restart.
	Marked uint64
	// Missing are the events that the stream no longer had when the graph needed them, from the first to the last of this
	// run; zero if there are none.
	Missing Missing
	// Pending is how many events have not been delivered yet, and AckPending how many are delivered and not settled, as of
	// AsOf, the last time that the server said so.
	Pending    uint64
	AckPending int
	AsOf       time.Time
	// InHand is how many events this feed has been given and has not settled yet, now.
	InHand int

	// LastSuccess is when the feed last finished a cycle without trouble, also one that found nothing to do; zero if never.
	LastSuccess time.Time
	// LastError is the latest trouble and LastErrorAt its time; it stays after the trouble is over. Failures is how many
	// cycles in a row have failed, or ended with messages that wait for their dead letter; 0 when all is well.
	LastError   error
	LastErrorAt time.Time
	Failures    int
	// Undelivered is how many messages wait because their dead letter, or that of a fact of theirs, cannot be stored. They
	// are in nobody's way and count in AckPending. LastSuccess stands while there are any.
	Undelivered int
	// StalledSince is when it was found that the server has messages for the feed and delivers none, in the episode that lasts
	// now; zero if there is none. LastSuccess stands while there is. Stalls is how often the consumer was taken up again for that.
	StalledSince time.Time
	Stalls       uint64
	// AdvisoryTrouble is why the server's word of messages that it gives up on is not heard at present; nil if it is, and on a
	// standby, which leaves that to the active one.
	AdvisoryTrouble error
	// EarlierLog is the stream that the graph was made from, with the time it was made, if the feed has found another in its
	// place since it was started; what the graph has from there, this one may not have.
	EarlierLog string
	// BatchSize is how many messages make a batch now; see Config.CommitTarget.
	BatchSize int

	Applied     uint64 // events committed and acknowledged
	Unchanged   uint64 // of these, events that changed nothing: repeats, or older than what the graph knows
	Withdrawn   uint64 // writes of facts that came after their source had been retracted
	Forgotten   uint64 // of the applied, events that came after their user had been forgotten
	Dead        uint64 // events dead-lettered
	DeadFacts   uint64 // bad facts of applied events, dead-lettered
	Redelivered uint64 // deliveries of messages that had been delivered before
	Returned    uint64 // messages given back because of trouble
	Commits     uint64 // transactions
	MarkCommits uint64 // transactions that recorded the mark alone; not among Commits
	Rebuilt     uint64 // times that the consumer had to be made or taken up again
	Rewound     uint64 // times that the consumer was made again because the graph had gone back
	Caught      uint64 // of Dead, messages that the server had given up on without a dead letter

	// Of a feed that is one of a group. Pending and AckPending are those of the consumer that it reads by: how far its own
	// graph is behind.
	Role      Role
	Unsettled uint64 // events that the group has not settled yet
	Left      int    // bad events that this standby leaves to the active one
	Takeovers uint64 // times that it became the active one
	Skipped   uint64 // events that it could not project while standing by and that the active one has settled
}

// counters are written by the feed's goroutine and read by anyone.
type counters struct {
	stalls, caught atomic.Uint64

	applied, unchanged, withdrawn, forgotten, dead, deadFacts, redelivered, returned, commits, markCommits, rebuilt, rewound, takeovers, skipped atomic.Uint64
}

// health is what the feed knows of itself and the server.
type health struct {
	mu struct {
		sync.Mutex
		attached    bool
		pending     uint64
		ackPending  int
		asOf        time.Time
		lastSuccess time.Time
		lastError   error
		lastErrorAt time.Time
		failures    int
		undelivered int
		missing     Missing
		earlierLog  string

		stalled      error // nil outside of an episode
		stalledSince time.Time
		advisory     error
	}
}

func (h *health) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.lastError, h.mu.lastErrorAt = err, time.Now()
	h.mu.failures++
}

// noted keeps trouble that does not hold the feed up.
func (h *health) noted(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.lastError, h.mu.lastErrorAt = err, time.Now()
}

func (h *health) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.lastSuccess, h.mu.failures = time.Now(), 0
}

// waiting notes how many messages wait for their dead letter.
func (h *health) waiting(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.undelivered = n
}

func (h *health) isAttached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.attached
}

func (h *health) attach(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.attached = yes
}

func (h *health) observe(info *jetstream.ConsumerInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.pending, h.mu.ackPending, h.mu.asOf = info.NumPending, info.NumAckPending, time.Now()
}

// delivered notes what the newest message said of those behind it.
func (h *health) delivered(pending uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.pending, h.mu.asOf = pending, time.Now()
}

// Status returns the state of the feed. It asks nobody and takes less than a microsecond.
func (f *Feed) Status() Status {
	s := Status{
		Connected: f.js.Conn().IsConnected(), LastApplied: f.progress.position(),
		Applied: f.counters.applied.Load(), Unchanged: f.counters.unchanged.Load(), Withdrawn: f.counters.withdrawn.Load(), Forgotten: f.counters.forgotten.Load(),
		Dead: f.counters.dead.Load(), DeadFacts: f.counters.deadFacts.Load(), Redelivered: f.counters.redelivered.Load(),
		Returned: f.counters.returned.Load(), Commits: f.counters.commits.Load(), Rebuilt: f.counters.rebuilt.Load(),
		MarkCommits: f.counters.markCommits.Load(), Rewound: f.counters.rewound.Load(),
		Stalls: f.counters.stalls.Load(), Caught: f.counters.caught.Load(),
		Marked: f.marks.Load(), BatchSize: int(f.batch.Load()), InHand: f.progress.inHand(),
	}
	s.Role, s.Takeovers, s.Skipped = f.group.role(f.grouped()), f.counters.takeovers.Load(), f.counters.skipped.Load()
	s.Unsettled, s.Left = f.group.unsettled.Load(), int(f.group.left.Load())
	h := &f.health
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Attached = h.mu.attached && s.Connected
	s.Pending, s.AckPending, s.AsOf = h.mu.pending, h.mu.ackPending, h.mu.asOf
	s.Undelivered, s.Missing = h.mu.undelivered, h.mu.missing
	s.StalledSince, s.AdvisoryTrouble, s.EarlierLog = h.mu.stalledSince, h.mu.advisory, h.mu.earlierLog
	s.LastSuccess, s.LastError, s.LastErrorAt, s.Failures = h.mu.lastSuccess, h.mu.lastError, h.mu.lastErrorAt, h.mu.failures
	return s
}

// WaitApplied returns when every event up to this sequence of the event stream is in the graph or among the dead letters:
// after it, a read of the graph sees what was published with this sequence (read your writes). It may be called before Run.
// Errors: the context's, with the sequence reached; [ErrStopped].
func (f *Feed) WaitApplied(ctx context.Context, seq uint64) error { return f.progress.await(ctx, seq) }

// WaitCaughtUp waits like WaitApplied for everything that is in the event stream now.
func (f *Feed) WaitCaughtUp(ctx context.Context) error {
	stream, err := f.streamInfo(ctx)
	if err != nil {
		return fmt.Errorf("wait for feed to catch up: %w", err)
	}
	return f.progress.await(ctx, stream.State.LastSeq)
}

// streamInfo returns what the server says of the event stream; with an error, of an empty one.
func (f *Feed) streamInfo(ctx context.Context) (*jetstream.StreamInfo, error) {
	stream, err := f.js.Stream(ctx, EventStream)
	if err != nil {
		return &jetstream.StreamInfo{}, fmt.Errorf("ask for stream %s: %w", EventStream, err)
	}
	return stream.CachedInfo(), nil
}
