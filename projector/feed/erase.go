package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/nats-io/nats.go/jetstream"
)

// The graph's projection forgets a user by itself when it gets the event that says so. What the log has of the user is
// erased by whoever published that event, here, when it is projected. The rules:
//
//  1. The event that asks for it stays. It holds the user's id and a time, and keeps older events from coming back, in this
//     graph and in every one that is built from the log later.
//  2. Whatever of the user has no later time goes: with the event in the log it means nothing any more. A time that cannot
//     be read is no later one. What is dated later stays: the graph has it.
//  3. The payload decides whose a message is; the subject only where the payload does not say.
//  4. Messages are erased, not purged. A purge marks messages as gone, and their bytes stay in the server's files until it
//     happens to write these anew, for the file in use never. To erase one the server overwrites its record with random
//     bytes, in a new copy of the file that takes the old one's place. That costs a write of up to 8 MiB for each message,
//     and does not reach what the file system keeps of the old copy in its free blocks.
//
// Rejected: deleting all but one message of a file, so that the server writes it anew. It does that only if more than half
// of the file is gone, never to the file in use, and says nothing of it.

// Eraser reads and erases what the streams keep of users. It is safe for concurrent use.
type Eraser struct {
	js      jetstream.JetStream
	timeout time.Duration
}

// NewEraser returns an eraser on the connection of js. Timeout bounds each question to the server; 0 is
// [DefaultEraseTimeout].
func NewEraser(js jetstream.JetStream, timeout time.Duration) (*Eraser, error) {
	if timeout < 0 {
		return nil, fmt.Errorf("eraser: timeout %s: want more than 0", timeout)
	}
	if timeout == 0 {
		timeout = DefaultEraseTimeout
	}
	return &Eraser{js: js, timeout: timeout}, nil
}

// Erasure says what is to be erased.
type Erasure struct {
	UserID   string
	Sequence uint64             // of the event in EventStream that asks for it, which stays; 0: none stays
	At       graphstore.Instant // its time
}

// Covers reports whether the message is one of those to be erased.
func (e Erasure) Covers(m KeptMessage) bool {
	covers, _ := e.look(m)
	return covers
}

// look reports whether the message is one of those to be erased, and whether it is the user's and dated later.
func (e Erasure) look(m KeptMessage) (covers, later bool) {
	switch {
	case m.UserID != e.UserID, m.Stream == EventStream && m.Sequence == e.Sequence:
		return false, false
	case graphstore.Tombstone{At: e.At}.Covers(m.Time):
		return true, false
	default:
		return false, true
	}
}

// Erased counts what was erased from the streams, or would be.
type Erased struct {
	Events int // of the event stream
	Asked  int // of those, earlier events that asked for an erasure
	Dead   int // dead letters
	Later  int // messages of the user in both streams that are dated later, and stay
	Read   int // messages looked at
}

// Count returns what Erase would erase.
func (e *Eraser) Count(ctx context.Context, what Erasure) (Erased, error) {
	return e.each(ctx, what, func(KeptMessage) error { return nil })
}

// Erase erases, and tells progress after each message. When it returns nil, no message that was in the streams when it began
// and that the erasure covers is there any more. After an error some may be; it may be repeated.
func (e *Eraser) Erase(ctx context.Context, what Erasure, progress func(Erased)) (Erased, error) {
	var done Erased
	return e.each(ctx, what, func(m KeptMessage) error {
		if err := e.erase(ctx, m); err != nil {
			return err
		}
		done.add(m)
		progress(done)
		return nil
	})
}

func (e *Erased) add(m KeptMessage) {
	switch {
	case m.Stream == DeadStream:
		e.Dead++
	default:
		e.Events++
		if m.Forgets(m.UserID) {
			e.Asked++
		}
	}
}

// each calls fn with every message that the erasure covers and counts them.
func (e *Eraser) each(ctx context.Context, what Erasure, fn func(KeptMessage) error) (sum Erased, err error) {
	if err := graphstore.CheckID(what.UserID); err != nil {
		return sum, fmt.Errorf("erase log: user %w", err)
	}
	if !what.At.Present() {
		return sum, errors.New("erase log: time of the erasure: missing")
	}
	for _, stream := range Streams() {
		read, err := e.EachKept(ctx, stream, func(m KeptMessage) error {
			covers, later := what.look(m)
			if later {
				sum.Later++
			}
			if !covers {
				return nil
			}
			if err := fn(m); err != nil {
				return err
			}
			sum.add(m)
			return nil
		})
		sum.Read += read
		if err != nil {
			return sum, fmt.Errorf("erase log of %s: %w", graphstore.Shorten(what.UserID), err)
		}
	}
	return sum, nil
}

// erase erases one message. One that is gone already is no error.
func (e *Eraser) erase(ctx context.Context, m KeptMessage) error {
	asking, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	err := eraseMessage(asking, e.js, m.Stream, m.Sequence)
	if err == nil {
		return nil
	}
	if _, there := getMessage(asking, e.js, m.Stream, m.Sequence, ""); errors.Is(there, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}
