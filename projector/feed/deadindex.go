package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// deadIndex knows which events of the stream, and which of their facts, have dead letters. It reads each dead letter once.
type deadIndex struct {
	js     jetstream.JetStream
	events time.Time // creation of the event stream
	stream time.Time // creation of the stream of the dead letters
	read   uint64    // up to here it is read
	dead   map[deadKey]struct{}
}

// deadKey is what a dead letter is of.
type deadKey struct {
	seq  uint64
	fact int // its place in the event; wholeEvent: of the event
}

const wholeEvent = -1

// has reports whether an event has a dead letter of its own; that one of its facts has one is another matter.
func (x *deadIndex) has(ctx context.Context, seq uint64, events time.Time) (bool, error) {
	if x.knows(deadKey{seq, wholeEvent}) && x.events.Equal(events) {
		return true, nil
	}
	err := x.update(ctx, events)
	return err == nil && x.knows(deadKey{seq, wholeEvent}), err
}

func (x *deadIndex) knows(key deadKey) bool {
	_, there := x.dead[key]
	return there
}

// update reads the dead letters that were not read yet, of the event stream that was created then.
func (x *deadIndex) update(ctx context.Context, events time.Time) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stream, err := x.js.Stream(asking, DeadStream)
	if err != nil {
		return fmt.Errorf("ask for stream %s: %w", DeadStream, err)
	}
	if created := stream.CachedInfo().Created; !x.stream.Equal(created) || !x.events.Equal(events) {
		x.stream, x.events, x.read, x.dead = created, events, 0, map[deadKey]struct{}{}
	}
	for {
		raw, err := getWithin(ctx, x.js, DeadStream, x.read+1, DeadSubjects)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		x.read = raw.Sequence
		l := newLetter(raw)
		if l.Foreign == nil && l.Stream == EventStream && !raw.Time.Before(events) && (l.Received.IsZero() || !l.Received.Before(events)) {
			x.dead[deadKey{l.Sequence, max(l.FactIndex, wholeEvent)}] = struct{}{}
		}
	}
}
