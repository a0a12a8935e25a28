package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// deadIndex knows which events of the stream have dead letters. It reads each dead letter once.
type deadIndex struct {
	js     jetstream.JetStream
	events time.Time // creation of the event stream
	stream time.Time // creation of the stream of the dead letters
	read   uint64    // up to here it is read
	dead   map[uint64]struct{}
}

// has reports whether an event has a dead letter of its own; that one of its facts has one is another matter.
func (x *deadIndex) has(ctx context.Context, seq uint64, events time.Time) (bool, error) {
	if _, there := x.dead[seq]; there && x.events.Equal(events) {
		return true, nil
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stream, err := x.js.Stream(asking, DeadStream)
	if err != nil {
		return false, fmt.Errorf("ask for stream %s: %w", DeadStream, err)
	}
	if created := stream.CachedInfo().Created; !x.stream.Equal(created) || !x.events.Equal(events) {
		x.stream, x.events, x.read, x.dead = created, events, 0, map[uint64]struct{}{}
	}
	for {
		raw, err := getWithin(ctx, x.js, DeadStream, x.read+1, DeadSubjects)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			_, there := x.dead[seq]
			return there, nil
		}
		if err != nil {
			return false, err
		}
		x.read = raw.Sequence
		l := newLetter(raw)
		if l.Foreign == nil && l.FactIndex < 0 && l.Stream == EventStream && !raw.Time.Before(events) && (l.Received.IsZero() || !l.Received.Before(events)) {
			x.dead[l.Sequence] = struct{}{}
		}
	}
}
