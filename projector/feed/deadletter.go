package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Reason says in one word why something is among the dead letters.
type Reason string

// The reasons.
const (
	ReasonBadEvent Reason = "bad_event" // it cannot be decoded, or its subject names another user than its payload
	ReasonBadFact  Reason = "bad_fact"  // one fact of an event that was applied otherwise
	ReasonPlan     Reason = "plan"      // the projector cannot plan it
	ReasonCommit   Reason = "commit"    // the graph refuses what it means
	ReasonPoison   Reason = "poison"    // it failed alone too often while others were committed (Config.PoisonAfter)

	// Of messages that the server has stopped delivering although nothing was decided on them; found by their advisories.
	ReasonExhausted  Reason = "exhausted"  // it ran out of deliveries: somebody has given the consumer a limit
	ReasonTerminated Reason = "terminated" // somebody terminated it
	ReasonLost       Reason = "lost"       // one of both, and the event stream does not have it any more: there is no payload
)

// Headers of a dead letter beside those of the original, which are kept except for the server's own (Nats-...).
const (
	HeaderReason     = "Kith-Dead-Reason"
	HeaderStream     = "Kith-Dead-Stream"
	HeaderSequence   = "Kith-Dead-Sequence"
	HeaderDeliveries = "Kith-Dead-Deliveries"
	HeaderFirstError = "Kith-Dead-First-Error"
	HeaderLastError  = "Kith-Dead-Last-Error"
	HeaderFirstTime  = "Kith-Dead-First-Error-Time"
	HeaderLastTime   = "Kith-Dead-Last-Error-Time"
	HeaderSubject    = "Kith-Dead-Subject"
	HeaderReceived   = "Kith-Dead-Received"
	HeaderEventID    = "Kith-Dead-Event-Id"
	HeaderFactIndex  = "Kith-Dead-Fact-Index"
	HeaderFactID     = "Kith-Dead-Fact-Id"
	HeaderOmitted    = "Kith-Dead-Omitted-Bytes"

	deadHeaders = "Kith-Dead-"
	natsHeaders = "Nats-"

	replayHeaders = "Kith-Replay-"
)

// DeadLetter is a message that could not be projected, as it stands in [DeadStream].
type DeadLetter struct {
	Reason     Reason
	FirstError string    // of the first delivery that this run of the feed saw fail
	LastError  string    // of the last one; at most 1 KiB each
	FirstTime  time.Time // of the first error; zero in dead letters of versions that did not state it
	LastTime   time.Time
	Stream     string // where the original is, for as long as that stream keeps it
	Sequence   uint64
	Deliveries int
	Subject    string    // of the original; empty if the reason is [ReasonLost]
	Received   time.Time // when the server received the original; zero likewise

	EventID   string // empty if it cannot be read
	FactIndex int    // place of a bad fact in the original's data.facts; -1 if this is a whole event
	FactID    string // of a bad fact, if it can be read

	// Header holds the original's own headers.
	Header nats.Header
	// Payload is the original byte for byte. Of a bad fact it is an event of the same id, user and batch that holds this
	// fact alone, the fact byte for byte but for white space.
	Payload []byte
	// Omitted is the size of a payload that is too large for the server beside these headers, which Payload then lacks. It
	// is found under Stream and Sequence.
	Omitted int
}

// MessageID returns the id under which the server knows repeats of the dead letter.
func (d DeadLetter) MessageID() string {
	if d.FactIndex >= 0 {
		return fmt.Sprintf("dlq:%s:%d:%d", d.Stream, d.Sequence, d.FactIndex)
	}
	return fmt.Sprintf("dlq:%s:%d", d.Stream, d.Sequence)
}

func (d DeadLetter) header() nats.Header {
	h := nats.Header{}
	for key, values := range d.Header {
		h[key] = values
	}
	for key, value := range map[string]string{
		HeaderReason: string(d.Reason), HeaderStream: d.Stream, HeaderSubject: d.Subject, HeaderEventID: d.EventID,
		HeaderFactID: d.FactID, HeaderFirstError: d.FirstError, HeaderLastError: d.LastError,
		HeaderSequence: strconv.FormatUint(d.Sequence, 10), HeaderDeliveries: strconv.Itoa(d.Deliveries),
		HeaderReceived: timeText(d.Received), HeaderFirstTime: timeText(d.FirstTime), HeaderLastTime: timeText(d.LastTime),
		jetstream.MsgIDHeader: d.MessageID(),
	} {
		if value != "" {
			h.Set(key, value)
		}
	}
	if d.FactIndex >= 0 {
		h.Set(HeaderFactIndex, strconv.Itoa(d.FactIndex))
	}
	if d.Omitted > 0 {
		h.Set(HeaderOmitted, strconv.Itoa(d.Omitted))
	}
	return h
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ParseDeadLetter reads a message of [DeadStream]. An error names every header that is missing or malformed.
func ParseDeadLetter(header nats.Header, payload []byte) (DeadLetter, error) {
	p := deadParser{header: header}
	d := DeadLetter{
		Reason: Reason(p.text(HeaderReason)), FirstError: header.Get(HeaderFirstError), LastError: header.Get(HeaderLastError),
		FirstTime: p.time(HeaderFirstTime), LastTime: p.time(HeaderLastTime),
		Stream: p.text(HeaderStream), Sequence: uint64(p.number(HeaderSequence)), Deliveries: p.number(HeaderDeliveries),
		Subject: header.Get(HeaderSubject), Received: p.time(HeaderReceived),
		EventID: header.Get(HeaderEventID), FactIndex: -1, FactID: header.Get(HeaderFactID),
		Header: originalHeaders(header), Payload: payload,
	}
	if d.Reason != ReasonLost {
		p.text(HeaderSubject)
		p.text(HeaderReceived)
	}
	if header.Get(HeaderFactIndex) != "" {
		d.FactIndex = p.number(HeaderFactIndex)
	}
	if header.Get(HeaderOmitted) != "" {
		d.Omitted = p.number(HeaderOmitted)
	}
	if err := errors.Join(p.errs...); err != nil {
		return DeadLetter{}, fmt.Errorf("read dead letter: %w", err)
	}
	return d, nil
}

type deadParser struct {
	header nats.Header
	errs   []error
}

func (p *deadParser) text(key string) string {
	v := p.header.Get(key)
	if v == "" {
		p.errs = append(p.errs, fmt.Errorf("%s: missing", key))
	}
	return v
}

func (p *deadParser) number(key string) int {
	v := p.text(key)
	n, err := strconv.Atoi(v)
	if v != "" && (err != nil || n < 0) {
		p.errs = append(p.errs, fmt.Errorf("%s %q: want a number, 0 or more", key, v))
	}
	return n
}

// time returns the zero time if there is none.
func (p *deadParser) time(key string) time.Time {
	v := p.header.Get(key)
	if v == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s: %w", key, err))
	}
	return t
}

// originalHeaders returns the headers that a producer set: a server's header on a message of another stream would make
// that server act on it.
func originalHeaders(h nats.Header) nats.Header {
	kept := nats.Header{}
	for key, values := range h {
		if !hasPrefixFold(key, natsHeaders) && !hasPrefixFold(key, deadHeaders) && !hasPrefixFold(key, replayHeaders) {
			kept[key] = values
		}
	}
	return kept
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
