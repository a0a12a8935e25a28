package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrStopped is returned by the waits of a feed whose Run has ended, once it is certain that they cannot be fulfilled.
var ErrStopped = errors.New("feed has stopped")

// progress knows up to which stream sequence every message is settled: applied and acknowledged, or dead-lettered and
// terminated. It learns from deliveries and settlements as they happen, so that nobody needs to ask the server; it asks
// for help (observe) only where deliveries alone leave a doubt:
//
//   - Messages that another process, or this one before a lost connection, took and did not acknowledge come again only
//     after the acknowledgement wait. A gap in the consumer's own count of deliveries shows that there are such.
//   - Messages that were deleted from the end of the stream never come.
//
// The floor never falls: what was applied once is in the graph, even if it is delivered again.
type progress struct {
	mu progressState
}

type progressState struct {
	sync.Mutex
	stream  time.Time // creation of the stream: sequences of another one mean nothing
	taken   time.Time // creation of the consumer: what another one of the same name has settled means nothing
	floor   uint64    // everything up to here is settled
	high    uint64    // greatest sequence delivered
	seen    uint64    // up to here every event was delivered, or is in the graph, or was gone at the start
	next    uint64    // consumer sequence of the delivery to come
	gap     Missing   // what was passed over by deliveries
	open    map[uint64]struct{}
	doubt   bool   // deliveries up to doubted are not all known
	doubted uint64 // until the server's own floor reaches this
	beyond  bool   // what was missed may be newer than high, but not than the next one that is sent for the first time
	waits   map[*wait]struct{}
	stopped bool
}

type wait struct {
	seq  uint64
	done chan struct{}
}

func newProgress() *progress {
	p := &progress{}
	p.mu.open = map[uint64]struct{}{}
	p.mu.waits = map[*wait]struct{}{}
	return p
}

// attach starts from what the server knows of the consumer, and the graph of itself: it has every event up to held.
func (p *progress) attach(streamCreated time.Time, info *jetstream.ConsumerInfo, held uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.stream.Equal(streamCreated) {
		p.mu.stream, p.mu.floor, p.mu.high, p.mu.seen, p.mu.doubt = streamCreated, 0, 0, 0, false
		p.mu.gap = Missing{}
		clear(p.mu.open)
	}
	p.mu.taken = info.Created
	p.mu.next = info.Delivered.Consumer + 1
	p.mu.high, p.mu.beyond = max(p.mu.high, info.Delivered.Stream), false
	p.mu.seen = max(p.mu.seen, p.mu.high, held)
	p.doubtLocked(p.mu.high)
	p.raiseLocked(max(info.AckFloor.Stream, held))
	p.advanceLocked()
}

// restart starts from a consumer that is new and delivers everything after held again; the graph has every event up to there.
func (p *progress) restart(streamCreated time.Time, info *jetstream.ConsumerInfo, held uint64) {
	p.mu.Lock()
	p.mu.high, p.mu.doubt = 0, false
	clear(p.mu.open)
	p.mu.Unlock()
	p.attach(streamCreated, info, held)
}

// streamCreated returns when the stream was made that the progress is about.
func (p *progress) streamCreated() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.stream
}

// lacks reports whether events up to seq may be unsettled, those aside that are left to others.
func (p *progress) lacks(seq uint64, left map[uint64]struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seq <= p.mu.floor {
		return false
	}
	if p.mu.doubt || p.mu.high < seq {
		return true
	}
	for open := range p.mu.open {
		if _, known := left[open]; !known && open <= seq {
			return true
		}
	}
	return false
}

// doubtLocked notes that there are deliveries up to seq that are not known. What is settled is not doubted.
func (p *progress) doubtLocked(seq uint64) {
	p.mu.doubt, p.mu.doubted = seq > p.mu.floor, seq
}

// delivered notes a message that came, and whether the server sent it for the first time: messages are sent in the order
// of the stream, but for repeats.
func (p *progress) delivered(seq jetstream.SequencePair, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	missed, newer := seq.Consumer != p.mu.next, seq.Stream > p.mu.high
	p.mu.next = seq.Consumer + 1
	p.mu.high = max(p.mu.high, seq.Stream)
	if seq.Stream > p.mu.seen+1 {
		p.mu.gap = p.mu.gap.hull(Missing{p.mu.seen + 1, seq.Stream - 1})
	}
	p.mu.seen = max(p.mu.seen, p.mu.high)
	if missed || (p.mu.beyond && newer) {
		p.doubtLocked(p.mu.high)
	}
	p.mu.beyond = (p.mu.beyond || missed) && !(first && newer)
	if seq.Stream > p.mu.floor { // else it is applied and merely not acknowledged
		p.mu.open[seq.Stream] = struct{}{}
	}
}

// settled notes messages that are done with.
func (p *progress) settled(seqs ...uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, seq := range seqs {
		delete(p.mu.open, seq)
	}
	p.advanceLocked()
}

// observe takes in what the server says, and last, what was the stream's last sequence before it said so: if the consumer
// then has nothing left to deliver or to settle, all up to there is settled. The floor of a consumer only grows, so an
// answer that is already old is still true. It returns false, and learns nothing, if the answer is not about the consumer
// that was taken up.
func (p *progress) observe(info *jetstream.ConsumerInfo, last uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !info.Created.Equal(p.mu.taken) {
		return false
	}
	p.raiseLocked(info.AckFloor.Stream)
	if info.NumPending == 0 && info.NumAckPending == 0 {
		p.raiseLocked(last)
	}
	p.advanceLocked()
	return true
}

func (p *progress) raiseLocked(floor uint64) {
	p.mu.floor = max(p.mu.floor, floor)
	p.mu.doubt = p.mu.doubt && p.mu.doubted > p.mu.floor
	for seq := range p.mu.open {
		if seq <= p.mu.floor {
			delete(p.mu.open, seq)
		}
	}
}

// advanceLocked computes the floor and lets go of who waited for it.
func (p *progress) advanceLocked() {
	p.mu.floor = p.floorLocked(nil)
	for w := range p.mu.waits {
		if w.seq <= p.mu.floor {
			close(w.done)
			delete(p.mu.waits, w)
		}
	}
}

// floorLocked returns the floor as it is when these messages are settled too.
func (p *progress) floorLocked(settled map[uint64]struct{}) uint64 {
	if p.mu.doubt {
		return p.mu.floor
	}
	floor := p.mu.high
	for seq := range p.mu.open {
		if _, done := settled[seq]; !done {
			floor = min(floor, seq-1)
		}
	}
	return max(p.mu.floor, floor)
}

// positionAfter returns the floor as it will be when these messages are settled.
func (p *progress) positionAfter(settled map[uint64]struct{}) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.floorLocked(settled)
}

// unsettled returns how many messages the feed has, or has given back.
func (p *progress) unsettled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.open)
}

// has reports whether a message is one of these.
func (p *progress) has(seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, open := p.mu.open[seq]
	return open
}

// doubtful reports whether the server must be asked: something is unknown, or somebody waits for a sequence that has
// not been delivered.
func (p *progress) doubtful() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.doubt || len(p.mu.waits) > 0
}

// position returns the floor.
func (p *progress) position() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.floor
}

// stop ends all waits, now and later.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.stopped = true
	for w := range p.mu.waits {
		close(w.done)
		delete(p.mu.waits, w)
	}
}

// await returns when the floor has reached seq.
func (p *progress) await(ctx context.Context, seq uint64) error {
	w := &wait{seq: seq, done: make(chan struct{})}
	p.mu.Lock()
	reached, stopped := seq <= p.mu.floor, p.mu.stopped
	if !reached && !stopped {
		p.mu.waits[w] = struct{}{}
	}
	p.mu.Unlock()
	if !reached && !stopped {
		select {
		case <-w.done:
		case <-ctx.Done():
			p.mu.Lock()
			delete(p.mu.waits, w)
			p.mu.Unlock()
			return fmt.Errorf("wait for stream sequence %d (at %d): %w", seq, p.position(), context.Cause(ctx))
		}
	}
	if at := p.position(); at < seq {
		return fmt.Errorf("wait for stream sequence %d (at %d): %w", seq, at, ErrStopped)
	}
	return nil
}

// inHand returns how many deliveries are not settled.
func (p *progress) inHand() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.open)
}
