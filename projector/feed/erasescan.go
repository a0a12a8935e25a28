package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// KeptMessage is a message of one of the streams, with what can be read of whose it is.
type KeptMessage struct {
	Stream   string
	Sequence uint64
	Subject  string
	Header   nats.Header // nil if it cannot be read
	Payload  []byte

	// UserID is the user that the payload names; failing that, the one that the subject names; empty: nobody can be read.
	UserID string
	// Time is the time that the payload states; absent if none can be read.
	Time graphstore.Instant
	// Type is the event type that the payload states, whether kith knows it or not.
	Type projector.Type
}

// Forgets reports whether the message is an event that asks for the erasure of the user.
func (m KeptMessage) Forgets(userID string) bool {
	return m.Stream == EventStream && m.Type == projector.TypeUserForgotten && m.UserID == userID
}

// EachKept calls fn with every message of a stream, from the first one to the one that is last when it begins, and returns
// how many those were. It asks for each message by itself, about 20,000 a second: what a consumer delivers lacks the messages
// that the client takes for answers of the server, and these are somebody's too. A stream that is not there has no messages.
func (e *Eraser) EachKept(ctx context.Context, stream string, fn func(KeptMessage) error) (read int, err error) {
	last, err := e.Last(ctx, stream)
	if err != nil {
		return 0, err
	}
	for seq := uint64(1); seq <= last; read++ {
		raw, err := e.next(ctx, stream, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
		if seq = raw.Sequence + 1; raw.Sequence > last {
			return read, nil
		}
		if err := fn(keptMessage(stream, raw)); err != nil {
			return read, err
		}
	}
	return read, nil
}

// Last returns the sequence of the last message that a stream has got, 0 if there is none.
func (e *Eraser) Last(ctx context.Context, stream string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	s, err := e.js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("take up stream %s: %w", stream, err)
	}
	return s.CachedInfo().State.LastSeq, nil
}

// next returns the first message from seq on.
func (e *Eraser) next(ctx context.Context, stream string, seq uint64) (*rawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return getMessage(ctx, e.js, stream, seq, ">")
}

func keptMessage(stream string, raw *rawMessage) KeptMessage {
	loose := readLoosely(raw.Data)
	m := KeptMessage{
		Stream: stream, Sequence: raw.Sequence, Subject: raw.Subject, Header: raw.Header, Payload: raw.Data,
		UserID: looseID(loose.data["user_id"]), Type: projector.Type(looseID(loose.attributes["type"])),
		Time: looseTime(loose.attributes["time"]),
	}
	if m.UserID == "" {
		m.UserID = subjectUser(raw.Subject)
	}
	return m
}

// subjectUser returns the user of a subject of either stream, whatever the type.
func subjectUser(subject string) string {
	for _, prefix := range []string{projector.SubjectPrefix, deadPrefix} {
		if rest, ok := strings.CutPrefix(subject, prefix); ok {
			token, _, _ := strings.Cut(rest, ".")
			user, _ := tokenUser(token)
			return user
		}
	}
	return ""
}

// looseTime returns the time that a JSON string states, as an event's is read, or an absent one.
func looseTime(raw json.RawMessage) graphstore.Instant {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return 0
	}
	var at graphstore.Instant
	if at.UnmarshalText([]byte(text)) != nil {
		return 0
	}
	return at
}

// Streams are those that hold messages of users.
func Streams() []string { return []string{EventStream, DeadStream} }

// DefaultEraseTimeout bounds one question to the server: to erase one message it writes a file of some MiB anew.
const DefaultEraseTimeout = 30 * time.Second
