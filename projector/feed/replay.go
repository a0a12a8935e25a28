package feed

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// ReplayConfig of a [Replay].
type ReplayConfig struct {
	// Limits bounds the events that are accepted, as in [Config]: larger ones are bad.
	Limits projector.Limits

	// MaxBytes bounds the graphs that are made at the same time, as [graphstore.Snapshot.Bytes] estimates them. If all users
	// do not fit, the stream is read several times, each time for some of the users. One user of any size is always
	// made. Defaults to 0, which is no bound.
	MaxBytes int64

	// Group says which users of a pass are yielded together: those of one number one after the other, the smallest first. Defaults
	// to one group.
	Group func(user string) int

	// Progress is told how far a replay is, some times a second, in the replay's own goroutine. Defaults to doing nothing.
	Progress func(ReplayProgress)

	// Logger logs each new pass over the stream at debug level. Defaults to slog.Default().
	Logger *slog.Logger
}

func (c ReplayConfig) withDefaults() ReplayConfig {
	c.Limits = c.Limits.WithDefaults()
	if c.Group == nil {
		c.Group = func(string) int { return 0 }
	}
	if c.Progress == nil {
		c.Progress = func(ReplayProgress) {}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

func (c ReplayConfig) validate() error {
	if c.MaxBytes < 0 {
		return fmt.Errorf("max bytes %d: want 0 or more", c.MaxBytes)
	}
	return c.Limits.Validate()
}

// ReplayProgress says how far a replay is.
type ReplayProgress struct {
	Pass    int    // over the stream, from 1
	Seq, To uint64 // stream sequence read last in this pass, and the last one to read
	Events  int    // of this pass, that were projected
	Users   int    // whose graphs are in memory
	Bytes   int64  // of those
}

// Replay makes graphs again from what the event stream retains, with the projector alone: each event is planned against
// the graph of its user as the events before it have left it, in the order of the stream. It reads the stream by consumers
// of its own that are gone afterwards, acknowledges nothing, stores no dead letters, and writes to no graph. The result
// is what a feed would have made of the same events, since that does not depend on their order.
//
// It is safe for concurrent use; feeds may run meanwhile.
type Replay struct {
	js   jetstream.JetStream
	plan planFunc
	cfg  ReplayConfig
}

// NewReplay returns a replay through the projector, or what is wrong with the configuration. It does no I/O.
func NewReplay(js jetstream.JetStream, proj *projector.Projector, cfg ReplayConfig) (*Replay, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return &Replay{js: js, plan: proj.Plan, cfg: cfg}, nil
}

// Extent is what the stream had at a moment.
type Extent struct {
	Log         string // names the incarnation of the stream, as in graphstore.Mark
	First, Last uint64 // sequences of the oldest and the newest event there; First is Last+1 when there is none
	FirstTime   time.Time
	LastTime    time.Time
	Events      uint64 // there
	Dropped     uint64 // events before First, which retention or a purge has removed
	Deleted     int    // events between First and Last that were removed one by one
	// Settled is up to where the feed's consumer had everything settled: what could not be projected up to there is
	// among the dead letters, or was. 0 if there is no such consumer.
	Settled uint64

	created time.Time // of the stream
}

// Whole reports whether the stream has every event that it ever had.
func (e Extent) Whole() bool { return e.Dropped == 0 && e.Deleted == 0 }

// Extent asks the server what the stream has. A stream that is not there is [jetstream.ErrStreamNotFound].
func (r *Replay) Extent(ctx context.Context) (Extent, error) {
	stream, err := r.js.Stream(ctx, EventStream)
	if err != nil {
		return Extent{}, fmt.Errorf("ask for stream %s: %w", EventStream, err)
	}
	info := stream.CachedInfo()
	st := info.State
	e := Extent{
		Log: logName(info.Created), First: max(st.FirstSeq, 1), Last: st.LastSeq, FirstTime: st.FirstTime, LastTime: st.LastTime,
		Events: st.Msgs, Deleted: st.NumDeleted, created: info.Created,
	}
	e.Dropped = e.First - max(info.Config.FirstSeq, 1)
	if st.Msgs == 0 {
		e.First, e.FirstTime, e.LastTime = e.Last+1, time.Time{}, time.Time{}
	}
	e.Settled, err = r.settled(ctx, stream)
	return e, err
}

// settled returns up to where the feed's consumer has everything settled.
func (r *Replay) settled(ctx context.Context, stream jetstream.Stream) (uint64, error) {
	consumer, err := stream.Consumer(ctx, Durable)
	if err != nil {
		if isNoConsumer(err) {
			return 0, nil
		}
		return 0, fmt.Errorf("ask for consumer %s: %w", Durable, err)
	}
	return consumer.CachedInfo().AckFloor.Stream, nil
}

// Problem is an event, or facts of one, that could not be projected.
type Problem struct {
	Seq     uint64
	Reason  Reason // as of dead letters
	EventID string // empty if it cannot be read
	User    string // likewise
	Err     error
	// Unburied says that the feed had settled it and that it is not among the dead letters, or not all of it: a dead letter
	// was dropped, or replayed; or the version that settled it could project what this one refuses.
	Unburied bool

	keys []deadKey // of its dead letters
}

// Range is some sequences of the stream, both ends included.
type Range struct{ From, To uint64 }

// What is kept of the problems and the gaps one by one; all are counted.
const (
	maxProblems = 20
	maxGaps     = 100
)

// Replayed is the account of a replay.
type Replayed struct {
	Extent   Extent
	Events   map[projector.Type]int // projected, or without effect
	Bad      int                    // events that cannot be projected
	BadFacts int                    // facts of projected events that cannot
	Unburied int                    // events among both that are Problem.Unburied
	Problems []Problem              // the first of both
	Report   projector.Report
	Passes   int // over the stream

	Gaps   []Range // the first of what was deleted between the first and the last event
	Gapped uint64  // events in all such gaps

	unsettled []uint64  // of problems whose dead letters may not be stored yet
	settled   []Problem // the others, until their dead letters were looked for
}

// Mark returns how far a graph is that holds what was replayed: as far as everything is in it or among the dead letters. What
// could not be projected is among them up to settled, which is Extent.Settled or newer; the feed goes on from the mark, and
// buries what comes after that.
func (r *Replayed) Mark(settled uint64) graphstore.Mark {
	m := graphstore.Mark{Log: r.Extent.Log, Seq: r.Extent.Last}
	for _, seq := range r.unsettled {
		if seq > settled {
			m.Seq = min(m.Seq, seq-1)
		}
	}
	return m
}

func (r *Replayed) problem(p Problem) {
	if p.Seq > r.Extent.Settled {
		r.unsettled = append(r.unsettled, p.Seq)
	} else {
		r.settled = append(r.settled, Problem{Seq: p.Seq, keys: p.keys})
	}
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, p)
	}
}

func (r *Replayed) gap(from, to uint64) {
	if from > to {
		return
	}
	r.Gapped += to - from + 1
	if len(r.Gaps) < maxGaps {
		r.Gaps = append(r.Gaps, Range{from, to})
	}
}

// add takes in the account of another pass over the same events.
func (r *Replayed) add(o Replayed) {
	for typ, n := range o.Events {
		r.Events[typ] += n
	}
	r.Bad += o.Bad
	r.BadFacts += o.BadFacts
	r.Problems = append(r.Problems, o.Problems[:min(len(o.Problems), maxProblems-len(r.Problems))]...)
	r.Report.Add(o.Report)
	r.unsettled = append(r.unsettled, o.unsettled...)
	r.settled = append(r.settled, o.settled...)
	if r.Passes == 0 {
		r.addGaps(o)
	}
	r.Passes++
}

// addGaps takes in the gaps of later events.
func (r *Replayed) addGaps(o Replayed) {
	r.Gapped += o.Gapped
	r.Gaps = append(r.Gaps, o.Gaps[:min(len(o.Gaps), maxGaps-len(r.Gaps))]...)
}
