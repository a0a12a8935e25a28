package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// maxErrorText bounds an error in a header.
const maxErrorText = 1 << 10

// maxMessageCode is the server's error for a message larger than its stream takes.
const maxMessageCode jetstream.ErrorCode = 10054

// deadEvent returns the dead letter of a whole message.
func (f *Feed) deadEvent(d *delivery, reason Reason, cause error) DeadLetter {
	last, now := cut(cause.Error()), time.Now()
	first, at := f.firstError(d, last, now)
	return DeadLetter{
		Reason: reason, FirstError: first, LastError: last, FirstTime: at, LastTime: now,
		Stream: EventStream, Sequence: d.seq, Deliveries: d.count, Subject: d.msg.Subject(), Received: d.received,
		EventID: d.id, FactIndex: -1, Header: originalHeaders(d.msg.Headers()), Payload: d.msg.Data(),
	}
}

// buryFacts stores the dead letters of an event's bad facts; what has been stored by an earlier delivery is recognised by
// the server. Of an event that was published again for some of them the others have theirs already.
func (f *Feed) buryFacts(ctx context.Context, d *delivery) error {
	places, all := replayedFor(d.msg.Headers(), d.msg.Data())
	rejected := slices.DeleteFunc(slices.Clone(d.rejected), func(r projector.Rejected) bool {
		return !all && !slices.Contains(places, strconv.Itoa(r.Index))
	})
	if len(rejected) == 0 {
		return nil
	}
	loose := readLoosely(d.msg.Data())
	subject := loose.deadSubject(d.msg.Subject())
	facts, err := loose.facts()
	if err != nil {
		return err
	}
	for _, r := range rejected {
		letter := f.deadEvent(d, ReasonBadFact, r.Err)
		letter.FactIndex, letter.FactID = r.Index, r.FactID
		if letter.Payload, err = loose.with(facts[r.Index]); err != nil {
			return err
		}
		if err := f.bury(ctx, subject, letter); err != nil {
			return err
		}
	}
	f.counters.deadFacts.Add(uint64(len(rejected)))
	f.log.Warn("bad facts dead-lettered, the others applied", "event", d.id, "sequence", d.seq, "facts", len(rejected),
		"first", rejected[0].Err)
	return nil
}

// buryEvent stores the dead letter of a whole event.
func (f *Feed) buryEvent(ctx context.Context, d *delivery, reason Reason, cause error) error {
	subject := readLoosely(d.msg.Data()).deadSubject(d.msg.Subject())
	if err := f.bury(ctx, subject, f.deadEvent(d, reason, cause)); err != nil {
		return err
	}
	f.log.Warn("event dead-lettered", "reason", reason, "event", d.id, "sequence", d.seq, "err", cause)
	return nil
}

// bury publishes a dead letter and waits until it is stored. A letter that is too large beside its headers goes without
// the original's headers, and then without its payload, which stays in the event stream.
func (f *Feed) bury(ctx context.Context, subject string, letter DeadLetter) error {
	if err := f.mayBury(); err != nil {
		return err
	}
	err := f.publishDead(ctx, subject, letter)
	if tooLarge(err) {
		letter.Header = nil
		err = f.publishDead(ctx, subject, letter)
	}
	if tooLarge(err) {
		letter.Omitted, letter.Payload = len(letter.Payload), nil
		err = f.publishDead(ctx, subject, letter)
	}
	if err != nil {
		return fmt.Errorf("store dead letter %s: %w", letter.MessageID(), err)
	}
	f.cfg.Hooks.Dead(letter)
	return nil
}

func (f *Feed) publishDead(ctx context.Context, subject string, letter DeadLetter) error {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.PublishTimeout)
	defer cancel()
	msg := &nats.Msg{Subject: subject, Header: letter.header(), Data: letter.Payload}
	ack, err := f.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(DeadStream))
	if err != nil || !ack.Duplicate {
		return err
	}
	if same, err := f.hasLetter(ctx, ack.Sequence, letter); err != nil || same {
		return err
	}
	msg.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("%s:%d", letter.MessageID(), letter.Received.UnixNano()))
	_, err = f.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(DeadStream))
	return err
}

// hasLetter reports whether the message that the server takes a dead letter for a repeat of is that dead letter, or was and
// has been dropped since. It may be of an event stream that was deleted and made again, or somebody's who uses the id.
func (f *Feed) hasLetter(ctx context.Context, number uint64, letter DeadLetter) (bool, error) {
	raw, err := getMessage(ctx, f.js, DeadStream, number, "")
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	l := newLetter(raw)
	return l.Foreign == nil && l.Stream == letter.Stream && l.Sequence == letter.Sequence && l.FactIndex == letter.FactIndex && l.Received.Equal(letter.Received), nil
}

func tooLarge(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, nats.ErrMaxPayload) || (errors.As(err, &api) && api.ErrorCode == maxMessageCode)
}

func cut(text string) string {
	if len(text) > maxErrorText {
		return strings.ToValidUTF8(text[:maxErrorText], "")
	}
	return text
}
