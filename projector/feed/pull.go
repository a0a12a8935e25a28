package feed

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pull returns the next batch: it waits for one message and then, for at most BatchWait, for as many as make a batch
// (batchSize, BatchBytes). No
// pull is left open while a batch is worked on, so that no message ages in the client. Nothing within the wait is an
// empty batch and no error. With an error the batch may still hold messages.
//
// The end of ctx ends only the wait for the first message. In the instant in which that happens the server may send it
// all the same; it then comes again after AckWait.
func (f *Feed) pull(ctx context.Context, consumer jetstream.Consumer) ([]*delivery, error) {
	f.idle.CompareAndSwap(0, time.Now().UnixNano())
	defer func() { f.loop.seen = time.Now() }()
	first, err := f.takeClaimed(), error(nil)
	if first == nil {
		first, err = f.pullFirst(ctx, consumer)
	}
	if first == nil || f.notOurs(first) {
		return nil, err
	}
	f.idle.Store(0)
	size := f.loop.size.now
	batch := f.deliver(nil, first)
	room := f.cfg.BatchBytes - len(first.Data())
	if size == 1 || room <= 0 || err != nil {
		return batch, err
	}
	rest, err := f.fetch(consumer, size-1, jetstream.FetchMaxWait(f.cfg.BatchWait), jetstream.FetchMaxBytes(room))
	if err != nil {
		return batch, err
	}
	for msg := range rest.Messages() {
		if f.notOurs(msg) {
			continue
		}
		batch = f.deliver(batch, msg)
	}
	return batch, rest.Error()
}

// pullFirst waits for one message, until the wait or ctx is over, the graph's mark is due, the connection is lost or the monitor kicks.
func (f *Feed) pullFirst(ctx context.Context, consumer jetstream.Consumer) (jetstream.Msg, error) {
	nc := f.js.Conn()
	lost := nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	defer nc.RemoveStatusListener(lost)
	if !nc.IsConnected() {
		return nil, errLost
	}
	wait, cancel := context.WithTimeoutCause(ctx, f.untilMark(time.Now()), nil)
	defer cancel()
	fetched, err := f.fetch(consumer, 1, jetstream.FetchContext(wait))
	if err != nil {
		return nil, err
	}
	ended := error(nil)
	select {
	case msg := <-fetched.Messages():
		if msg != nil {
			return msg, nil
		}
	case <-f.again:
	case <-lost:
		ended = errLost
	case reason := <-f.kick:
		f.loop.consumer = nil
		if reason == "" {
			ended = errors.New("the consumer is gone")
		} else { // a stall, which the monitor has told of
			f.counters.rebuilt.Add(1)
			f.cfg.Hooks.Rebuilt(reason)
		}
	}
	cancel()
	if msg := <-fetched.Messages(); msg != nil { // arrived in the same instant
		return msg, ended
	}
	if err := fetched.Error(); ended == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		ended = err
	}
	return nil, ended
}

// deliver notes the arrival of a message and appends it to the batch.
func (f *Feed) deliver(batch []*delivery, msg jetstream.Msg) []*delivery {
	d, meta, err := newDelivery(msg)
	if err != nil { // not from JetStream: nothing to answer to
		f.health.noted(err)
		return batch
	}
	f.progress.delivered(meta.Sequence, d.count == 1)
	f.moved()
	f.health.delivered(d.pending)
	if d.count > 1 {
		f.counters.redelivered.Add(1)
	}
	return append(batch, d)
}
