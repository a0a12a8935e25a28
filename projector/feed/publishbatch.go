package feed

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Result is what became of one event of a batch.
type Result struct {
	Receipt
	Err error // nil: stored
}

// PublishBatch stores many events, sending up to MaxPending ahead of their acknowledgements, and returns one result for
// each, in order. Every acknowledgement is read; what was not acknowledged is sent again one by one, under the same id.
// When one event is out of attempts the others are not sent again, since the server is then not there for them either.
//
// The error is nil if every event is stored; otherwise it counts those that are not and wraps the first one's. The events
// after a bad one are published all the same. A payload must not be changed before PublishBatch returns.
func (p *Publisher) PublishBatch(ctx context.Context, payloads iter.Seq[[]byte]) ([]Result, error) {
	b := publishing{p: p}
	for payload := range payloads {
		b.add(ctx, payload)
	}
	for len(b.pending) > 0 {
		b.settleOldest(ctx)
	}
	b.sendAgain(ctx)
	return b.results, b.summary()
}

// publishing is the state of one PublishBatch.
type publishing struct {
	p       *Publisher
	results []Result
	pending []sent // oldest first
	again   []sent
}

type sent struct {
	index  int
	msg    *nats.Msg
	future jetstream.PubAckFuture
}

func (b *publishing) add(ctx context.Context, payload []byte) {
	index := len(b.results)
	b.results = append(b.results, Result{})
	msg, err := b.p.message(ctx, payload)
	if err != nil {
		b.results[index].Err = fmt.Errorf("publish event: %w", err)
		return
	}
	b.results[index].EventID = msg.Header.Get(jetstream.MsgIDHeader)
	if len(b.pending) == b.p.cfg.MaxPending {
		b.settleOldest(ctx)
	}
	if ctx.Err() != nil {
		b.results[index].Err = fmt.Errorf("publish event %q: not sent: %w", b.results[index].EventID, context.Cause(ctx))
		return
	}
	future, err := b.p.js.PublishMsgAsync(msg, publishOptions()...)
	if err != nil {
		b.failed(sent{index: index, msg: msg}, err)
		return
	}
	b.pending = append(b.pending, sent{index, msg, future})
}

// settleOldest reads the acknowledgement of the oldest event that waits for one. It comes, or its timeout does.
func (b *publishing) settleOldest(ctx context.Context) {
	s := b.pending[0]
	b.pending = b.pending[1:]
	select {
	case ack := <-s.future.Ok():
		b.results[s.index].Receipt = receipt(b.results[s.index].EventID, ack)
	case err := <-s.future.Err():
		b.failed(s, err)
	case <-ctx.Done():
		b.results[s.index].Err = fmt.Errorf("publish event %q: it may be stored or not: %w", b.results[s.index].EventID, context.Cause(ctx))
	}
}

func (b *publishing) failed(s sent, err error) {
	b.results[s.index].Err = fmt.Errorf("publish event %q: %w", b.results[s.index].EventID, err)
	if passing(err) && b.p.cfg.Attempts > 1 {
		b.again = append(b.again, s)
	}
}

func (b *publishing) sendAgain(ctx context.Context) {
	for _, s := range b.again {
		r, err := b.p.send(ctx, s.msg)
		if err != nil {
			b.results[s.index].Err = err
			if passing(err) {
				return
			}
			continue
		}
		b.results[s.index] = Result{Receipt: r}
	}
}

func (b *publishing) summary() error {
	var first error
	bad := 0
	for _, r := range b.results {
		if r.Err != nil {
			bad++
			first = cmp.Or(first, r.Err)
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d events are not stored, the first one: %w", bad, len(b.results), first)
}
