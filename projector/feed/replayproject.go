package feed

import (
	"context"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// ReplayedUser is one user's graph, made again, and what it was made of.
type ReplayedUser struct {
	Space    graphstore.Space
	Snapshot *graphstore.Snapshot // empty if none of its events left anything
	Events   int                  // projected, or without effect
	Bad      int                  // events that cannot be projected
	BadFacts int                  // facts of projected events that cannot
}

// projection makes the graphs of some users. Events are read and decoded in one goroutine and planned in another.
type projection struct {
	*Replay
	wants   func(user string) bool
	nobodys bool  // bad events of which the user cannot be read count here
	limit   int64 // of bytes, unless there is one user only; 0: none

	users    map[graphstore.Space]*ReplayedUser
	bytes    int64
	progress ReplayProgress
	told     time.Time
	out      Replayed
}

func (r *Replay) newProjection(ext Extent, wants func(user string) bool) *projection {
	return &projection{
		Replay: r, wants: wants, users: map[graphstore.Space]*ReplayedUser{},
		progress: ReplayProgress{Pass: 1, To: ext.Last},
		out:      Replayed{Extent: ext, Events: map[projector.Type]int{}, Passes: 1},
	}
}

// How many messages change goroutines at once, and after how many that nobody wants it is told how far the reading is.
const (
	chunkEvents = 256
	chunkSeqs   = 4096
)

// chunk is what was read of a part of the stream.
type chunk struct {
	events []decoded
	seq    uint64 // up to here
}

// run projects the events of the extent from a sequence on. It may be run again, with a later extent.
func (p *projection) run(ctx context.Context, from uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	chunks := make(chan chunk, 4)
	var work conc.WaitGroup
	var gaps Replayed
	var readErr error
	work.Go(func() {
		defer close(chunks)
		readErr = p.read(ctx, from, chunks, &gaps)
	})
	var err error
	for c := range chunks {
		for i := 0; i < len(c.events) && err == nil; i++ {
			if err = p.project(&c.events[i]); err != nil {
				cancel(err)
			}
		}
		p.tell(c.seq)
	}
	work.Wait()
	p.out.addGaps(gaps)
	if err != nil {
		return err
	}
	return readErr
}

// read reads and decodes what is wanted, and notes what is not there.
func (p *projection) read(ctx context.Context, from uint64, to chan<- chunk, gaps *Replayed) error {
	c := chunk{seq: from - 1}
	sent := c.seq
	flush := func() error {
		select {
		case to <- c:
			sent = c.seq
			c.events = make([]decoded, 0, chunkEvents)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r := &reader{js: p.js, next: from, to: p.out.Extent.Last, take: func(m stored) error {
		gaps.gap(c.seq+1, m.seq-1)
		c.seq = m.seq
		if e, wanted := p.decode(m); wanted {
			c.events = append(c.events, e)
		}
		if len(c.events) < chunkEvents && c.seq < sent+chunkSeqs {
			return nil
		}
		return flush()
	}}
	if err := r.read(ctx); err != nil {
		return err
	}
	gaps.gap(c.seq+1, p.out.Extent.Last)
	c.seq = max(c.seq, p.out.Extent.Last)
	return flush()
}

// tellInterval is the time between two words on the progress.
const tellInterval = 200 * time.Millisecond

func (p *projection) tell(seq uint64) {
	p.progress.Seq, p.progress.Users, p.progress.Bytes = seq, len(p.users), p.bytes
	if now := time.Now(); now.Sub(p.told) >= tellInterval || seq == p.progress.To {
		p.told = now
		p.cfg.Progress(p.progress)
	}
}

// user returns the account of a user.
func (p *projection) user(space graphstore.Space) *ReplayedUser {
	u, ok := p.users[space]
	if !ok {
		u = &ReplayedUser{Space: space, Snapshot: graphstore.NewSnapshot(space)}
		p.users[space] = u
		p.bytes += u.Snapshot.Bytes()
	}
	return u
}

// project projects one event, or counts it as bad. The error says that the users do not fit.
func (p *projection) project(e *decoded) error {
	if e.err != nil {
		p.bad(e, ReasonBadEvent)
	} else if e.err = p.planned(e); e.err != nil {
		p.bad(e, ReasonPlan)
	}
	if p.limit > 0 && p.bytes > p.limit && len(p.users) > 1 {
		return crowded{e.seq}
	}
	return nil
}

// planned plans one event against the graph of its user as the events before it have left it. An error is the event's own
// fault and leaves the graph as it was.
func (p *projection) planned(e *decoded) error {
	u := p.user(e.event.Space)
	before := u.Snapshot
	var planned projector.Planned
	next := before
	err := guard(func() (err error) {
		if planned, err = p.plan(before, e.event); err != nil || len(planned.Changes) == 0 {
			return err
		}
		next, err = before.With(planned.Changes)
		return err
	})
	if err != nil {
		return err
	}
	u.Snapshot = next
	u.Events++
	p.bytes += next.Bytes() - before.Bytes()
	p.progress.Events++
	p.out.Events[e.event.Type()]++
	p.out.Report.Add(planned.Report)
	if len(e.rejected) > 0 {
		u.BadFacts += len(e.rejected)
		p.out.BadFacts += len(e.rejected)
		p.out.problem(Problem{Seq: e.seq, Reason: ReasonBadFact, EventID: e.id, User: e.user, Err: e.rejected[0].Err, keys: e.factKeys()})
	}
	return nil
}

// bad counts an event that cannot be projected.
func (p *projection) bad(e *decoded, reason Reason) {
	p.out.Bad++
	p.out.problem(Problem{Seq: e.seq, Reason: reason, EventID: e.id, User: e.user, Err: e.err, keys: []deadKey{{e.seq, wholeEvent}}})
	if space, err := graphstore.NewSpace(e.user); err == nil {
		p.user(space).Bad++
	}
}
