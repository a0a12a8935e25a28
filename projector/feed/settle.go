package feed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// verdict is what shall become of a delivery. Made by applied, buried and returned.
type verdict struct {
	outcome Outcome
	reason  Reason        // of a burial
	err     error         // of a burial or a return
	delay   time.Duration // of a return
}

func applied() verdict { return verdict{outcome: Applied} }
func buried(reason Reason, cause error) verdict {
	return verdict{outcome: Buried, reason: reason, err: cause}
}

// returned gives a message back. Its delay grows with its deliveries, which the server counts and a restart does not
// forget. Work that was cut off by a stop goes back at once.
func (f *Feed) returned(ctx context.Context, d *delivery, cause error) verdict {
	v := verdict{outcome: Returned, err: cause}
	if ctx.Err() == nil {
		v.delay = f.cfg.backoff(d.count)
	}
	return v
}

// settle answers the server for one delivery. It is the only place that does:
//
//	applied   dead letters of bad facts stored, then ack
//	buried    dead letter stored, then term with the reason
//	returned  nak with a delay
//
// A dead letter that cannot be stored turns the verdict into a return. An answer that cannot be sent is none: the server
// delivers the message again after AckWait, which changes nothing.
func (f *Feed) settle(ctx context.Context, d *delivery, v verdict) {
	v = f.standIn(d, v)
	switch v.outcome {
	case Applied:
		if err := f.buryFacts(ctx, d); err != nil {
			f.suspectError(d, d.rejected[0].Err)
			v = f.undeliverable(ctx, d, err)
		}
	case Buried:
		if err := f.buryEvent(ctx, d, v.reason, v.err); err != nil {
			f.suspectError(d, v.err)
			v = f.undeliverable(ctx, d, err)
		}
	}
	var sent error
	switch v.outcome {
	case Applied:
		f.counters.applied.Add(1)
		sent = d.msg.Ack()
	case Buried:
		f.counters.dead.Add(1)
		sent = d.msg.TermWithReason(string(v.reason))
	case Returned:
		f.counters.returned.Add(1)
		sent = d.msg.NakWithDelay(v.delay)
	case Left:
		if sent = d.msg.NakWithDelay(v.delay); v.err == nil {
			sent = d.msg.Ack()
		}
	}
	if sent != nil {
		f.health.noted(fmt.Errorf("answer for event %d: %w", d.seq, sent))
	}
	d.settled.Store(true)
	if v.outcome != Returned && !errors.Is(v.err, errLeft) {
		delete(f.loop.suspects, d.seq)
		delete(f.loop.undelivered, d.seq)
		f.countUndelivered()
		f.loop.done = append(f.loop.done, d.seq)
	}
	f.cfg.Hooks.Message(f.messageStats(d, v))
}

// report makes known what has been settled, after the status knows of it.
func (f *Feed) report() {
	f.progress.settled(f.loop.done...)
	f.loop.done = f.loop.done[:0]
}

func (f *Feed) messageStats(d *delivery, v verdict) MessageStats {
	return MessageStats{
		Outcome: v.outcome, EventID: d.id, Type: string(d.event.Type()), Traceparent: Traceparent(d.msg.Headers()),
		Sequence: d.seq, Deliveries: d.count, Lag: time.Since(d.received), Err: v.err,
	}
}

// returnAll gives messages back.
func (f *Feed) returnAll(ctx context.Context, ds []*delivery, cause error) {
	for _, d := range ds {
		f.suspectError(d, cause)
		f.settle(ctx, d, f.returned(ctx, d, cause))
	}
}

// errPanic marks an error that was a panic.
var errPanic = errors.New("panic")
