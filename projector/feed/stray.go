package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// stray is a message that the feed has to settle although it is in nobody's hands: the client has swallowed it, or the server
// has given up on it.
type stray struct {
	raw        *jetstream.RawStreamMsg // of a lost one only the sequence
	reason     Reason
	cause      error
	deliveries int
	givenUp    bool // the server waits for no answer
}

// A message on which the server gives up without a dead letter is in nobody's sight: the server's floor moves over it, and so
// do LastApplied and the mark. The feed sets no limit of deliveries and terminates only what has its dead letter, but anybody
// with the right to it can set a limit or terminate, and a process can die in between. The net under it:
//
//  1. A stream captures what the server says of such messages. It is there whether or not a feed runs.
//  2. The feed looks at each such word, and drops it when the message has a dead letter, or is none of the feed's matter.
//  3. A message without one is read from the stream and dead-lettered by the feed's own goroutine, like the ones that the
//     client has swallowed. One that the stream no longer has gets a dead letter that says so.
//  4. The word is dropped only after the dead letter is stored, so a crash repeats the look.
//
// It is not projected instead: whoever terminated it may have had a reason, and what ran out of deliveries may have brought
// the store down each time. An operator replays it.

const (
	// advisoriesPerLook bounds how many words are looked at between two questions.
	advisoriesPerLook = 256
	// advisoryRetry is when a stream that cannot be had is asked for again.
	advisoryRetry = time.Minute
)

// advisoryNet is what the goroutine that looks at advisories knows.
type advisoryNet struct {
	f      *Feed
	ready  bool                 // the stream is there
	again  time.Time            // when to ask for it again
	handed map[uint64]time.Time // strays that the feed was told of, until when it has time for them
	dead   deadIndex
}

// catchStrays looks at advisories until the context ends. Nothing that goes wrong with it holds the feed up.
func (f *Feed) catchStrays(ctx context.Context) {
	n := advisoryNet{f: f, handed: map[uint64]time.Time{}, dead: deadIndex{js: f.js}}
	tick := time.NewTicker(f.cfg.StatusInterval)
	defer tick.Stop()
	for {
		switch {
		case f.group.role(f.grouped()) == RoleStandby: // the active one hears it; what this one had as such is over
			n.again = time.Time{}
			_ = f.health.advise(nil)
		case f.js.Conn().IsConnected() && f.health.isAttached():
			n.turn(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// turn looks at what is there, and says when trouble begins and ends.
func (n *advisoryNet) turn(ctx context.Context) {
	if !n.ready && time.Now().Before(n.again) {
		return
	}
	err := n.ensure(ctx)
	for more := err == nil; more && ctx.Err() == nil; {
		more, err = n.look(ctx)
	}
	if ctx.Err() != nil || !n.f.js.Conn().IsConnected() {
		return
	}
	n.ready = err == nil
	n.again = time.Now().Add(advisoryRetry)
	switch was := n.f.health.advise(err); {
	case err != nil && was == nil:
		n.f.log.Warn("what the server gives up on is not heard; all else works", "stream", AdvisoryStream, "err", err)
	case err == nil && was != nil:
		n.f.log.Info("what the server gives up on is heard again", "stream", AdvisoryStream)
	}
}

// ensure makes the stream if it is not there. A stop waits for the answer: a server in this process that is shut down while it
// makes a stream leaves parts of it running.
func (n *advisoryNet) ensure(ctx context.Context) error {
	if n.ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	stream, err := n.f.js.Stream(ctx, AdvisoryStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = n.f.js.CreateStream(ctx, n.f.cfg.Streams.advisories())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s, as if it were not permitted to ask for or to make the stream: %w", askTimeout, err)
	}
	if err != nil {
		return err
	}
	return checkAdvisoryStream(stream.CachedInfo().Config)
}

// look looks at the first words in the stream, drops those that are done with, and reports whether to go on at once.
func (n *advisoryNet) look(ctx context.Context) (more bool, err error) {
	events, err := n.f.streamInfo(ctx)
	if err != nil {
		return false, err
	}
	looked, dropped := 0, 0
	for next := uint64(1); looked < advisoriesPerLook; looked++ {
		raw, err := getWithin(ctx, n.f.js, AdvisoryStream, next, ">")
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return false, err
		}
		next = raw.Sequence + 1
		done, err := n.judge(ctx, raw, events)
		if err == nil && done {
			dropped++
			err = n.drop(ctx, raw.Sequence)
		}
		if err != nil {
			return false, err
		}
	}
	return looked == advisoriesPerLook && dropped > 0, nil
}

// judge reports whether a word is done with, and hands over the message that it is about if not. What is known of the event
// stream may be older than the word; it is brought up to date before a word is believed to be about nothing.
func (n *advisoryNet) judge(ctx context.Context, raw *rawMessage, events *jetstream.StreamInfo) (done bool, err error) {
	a, err := parseAdvisory(raw)
	if err != nil {
		n.f.log.Debug("foreign message among the advisories", "err", err)
		return true, nil
	}
	if n.f.caught.take(a.Sequence) {
		delete(n.handed, a.Sequence)
		return true, nil
	}
	if a.Sequence > events.State.LastSeq { // published since the look began, or forged
		now, err := n.f.streamInfo(ctx)
		if err != nil {
			return false, err
		}
		*events = *now
	}
	if a.settled() || raw.Time.Before(events.Created) || a.Sequence > events.State.LastSeq {
		return true, nil
	}
	if there, err := n.dead.has(ctx, a.Sequence, events.Created); there || err != nil {
		delete(n.handed, a.Sequence)
		return there, err
	}
	if time.Now().Before(n.handed[a.Sequence]) {
		return false, nil
	}
	s := stray{deliveries: a.Deliveries, givenUp: true}
	s.reason, s.cause = a.death()
	msg, err := getWithin(ctx, n.f.js, EventStream, a.Sequence, "")
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		s.cause = fmt.Errorf("%w; the event stream does not have it any more (%s)", s.cause, s.reason)
		s.raw, s.reason = &jetstream.RawStreamMsg{Sequence: a.Sequence}, ReasonLost
	case err != nil:
		return false, err
	default:
		s.raw = &msg.RawStreamMsg
	}
	if n.f.hand(s) {
		n.handed[a.Sequence] = time.Now().Add(n.f.cfg.AckWait)
	}
	return false, nil
}

func (n *advisoryNet) drop(ctx context.Context, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := deleteMessage(ctx, n.f.js, AdvisoryStream, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) { // another feed was faster
		return nil
	}
	return err
}

// buryStray stores the dead letter of a message that the server has given up on. If that cannot be, it is handed over again.
func (f *Feed) buryStray(ctx context.Context, s stray) {
	d := &delivery{msg: &swallowed{f.js.Conn(), s.raw, f.following()}, seq: s.raw.Sequence, count: s.deliveries, received: s.raw.Time}
	d.id = readLoosely(s.raw.Data).id()
	if err := f.buryEvent(ctx, d, s.reason, s.cause); err != nil {
		f.health.noted(err)
		return
	}
	f.counters.dead.Add(1)
	f.counters.caught.Add(1)
	f.caught.add(d.seq)
	delete(f.loop.suspects, d.seq)
	f.loop.done = append(f.loop.done, d.seq)
	f.cfg.Hooks.Message(f.messageStats(d, buried(s.reason, s.cause)))
}

// caught are the strays that have their dead letters since this run began and whose word is still there: somebody may drop
// a dead letter before the word is looked at again.
type caught struct {
	mu struct {
		sync.Mutex
		seqs map[uint64]struct{}
	}
}

func (c *caught) add(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.seqs == nil {
		c.mu.seqs = map[uint64]struct{}{}
	}
	c.mu.seqs[seq] = struct{}{}
}

// take reports whether a message is one of these, and forgets it.
func (c *caught) take(seq uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, there := c.mu.seqs[seq]
	delete(c.mu.seqs, seq)
	return there
}

// advise notes whether advisories are heard and returns what was known before.
func (h *health) advise(err error) (was error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, h.mu.advisory = h.mu.advisory, err
	return was
}
