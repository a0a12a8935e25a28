package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// How a stream is read: in pulls of so many messages or bytes, by a consumer that the server removes when it has not heard
// of its reader for so long.
const (
	readBatch  = 1000
	readBytes  = 8 << 20
	readWait   = 2 * time.Second
	readerLife = time.Minute
	readTries  = 5 // in a row
)

// stored is a message as it stands in the stream.
type stored struct {
	seq     uint64
	subject string
	data    []byte
}

// reader reads a range of the stream in order, each message once. Pulls are the fast way. The client library drops messages that
// look like an answer of the server (see swallowed), and a lost connection takes messages along: both show as a gap in
// the consumer's own count of deliveries. What is missing is then read by its sequence, and another consumer goes on
// behind it.
type reader struct {
	js   jetstream.JetStream
	next uint64 // sequence to read
	to   uint64
	take func(stored) error
}

// errTake wraps what take returned.
type errTake struct{ error }

func (e errTake) Unwrap() error { return e.error }

// read reads all of the range that is there.
func (r *reader) read(ctx context.Context) error {
	for failures := 0; r.next <= r.to; {
		at := r.next
		err := r.once(ctx)
		if taken := (errTake{}); errors.As(err, &taken) {
			return taken.error
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil || r.next > at:
			failures = 0
			continue
		}
		if failures++; failures == readTries {
			return fmt.Errorf("read event stream from %d: %w", r.next, err)
		}
		sleep(ctx, time.Duration(failures)*200*time.Millisecond)
	}
	return nil
}

// once reads as far as a consumer gets, and one message more.
func (r *reader) once(ctx context.Context) error {
	stream, err := r.js.Stream(ctx, EventStream)
	if err != nil {
		return fmt.Errorf("ask for stream %s: %w", EventStream, err)
	}
	if err := r.pulled(ctx, stream); err != nil || r.next > r.to {
		return err
	}
	return r.one(ctx)
}

// one reads the next message by its sequence, whatever it is: also one that the client library would take for the server's
// answer that there is none, and one whose headers cannot be read.
func (r *reader) one(ctx context.Context) error {
	raw, err := getWithin(ctx, r.js, EventStream, r.next, EventSubjects)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound): // what was missing has been deleted meanwhile, and all behind it
		r.next = r.to + 1
		return nil
	case err != nil:
		return err
	}
	return r.hand(stored{raw.Sequence, raw.Subject, raw.Data})
}

// pulled reads until something is missing or nothing is left.
func (r *reader) pulled(ctx context.Context, stream jetstream.Stream) error {
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Description: "reads what the stream retains, to make a graph again",
		AckPolicy:   jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next,
		InactiveThreshold: readerLife, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return fmt.Errorf("read stream %s: %w", EventStream, err)
	}
	name := consumer.CachedInfo().Name
	defer func() { // else the server does after readerLife
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readWait)
		defer cancel()
		_ = stream.DeleteConsumer(ctx, name)
	}()
	left := consumer.CachedInfo().NumPending
	for count := uint64(0); left > 0 && r.next <= r.to && ctx.Err() == nil; {
		n, pending, err := r.pull(consumer, count, min(left, r.to-r.next+1, readBatch))
		if err != nil || n == 0 {
			return err
		}
		count, left = count+n, pending
	}
	if left == 0 && ctx.Err() == nil {
		r.next = r.to + 1
	}
	return ctx.Err()
}

// pull takes so many messages, of which the consumer has delivered count before. It returns how many it took, 0 when something
// is missing, and how many are behind them.
func (r *reader) pull(consumer jetstream.Consumer, count, want uint64) (n, left uint64, err error) {
	batch, err := consumer.Fetch(int(want), jetstream.FetchMaxWait(readWait), jetstream.FetchMaxBytes(readBytes))
	if err != nil {
		return 0, 0, fmt.Errorf("pull events: %w", err)
	}
	whole := true
	for msg := range batch.Messages() { // to its end, so that nothing of it stays behind
		if !whole || err != nil {
			continue
		}
		meta, merr := msg.Metadata()
		if merr != nil {
			err = fmt.Errorf("read metadata of message on %s: %w", msg.Subject(), merr)
			continue
		}
		if whole = meta.Sequence.Consumer == count+n+1; !whole {
			continue
		}
		n, left = n+1, meta.NumPending
		err = r.hand(stored{meta.Sequence.Stream, msg.Subject(), msg.Data()})
	}
	if !whole {
		n = 0
	}
	return n, left, err // an error of the pull shows as a gap
}

// hand passes a message on if it is in the range. What was handed on before an error of take is not handed on again.
func (r *reader) hand(m stored) error {
	if m.seq > r.to {
		r.next = r.to + 1
		return nil
	}
	if err := r.take(m); err != nil {
		return errTake{err}
	}
	r.next = m.seq + 1
	return nil
}

func isNoConsumer(err error) bool { return errors.Is(err, jetstream.ErrConsumerNotFound) }
