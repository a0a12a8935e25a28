package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	last := cut(cause.Error())
	return DeadLetter{
		Reason: reason, FirstError: f.firstError(d, last), LastError: last,
		Stream: EventStream, Sequence: d.seq, Deliveries: d.count, Subject: d.msg.Subject(), Received: d.received,
		EventID: d.event.ID, FactIndex: -1, Header: originalHeaders(d.msg.Headers()), Payload: d.msg.Data(),
	}
}

// deadFact returns the dead letter of one fact of an event.
func (f *Feed) deadFact(d *delivery, r projector.Rejected) (DeadLetter, error) {
	letter := f.deadEvent(d, ReasonBadFact, r.Err)
	letter.FactIndex, letter.FactID = r.Index, r.FactID
	var err error
	letter.Payload, err = singleFact(d.msg.Data(), r.Index)
	return letter, err
}

// buryFacts stores the dead letters of an event's bad facts; what has been stored by an earlier delivery is recognised by
// the server.
func (f *Feed) buryFacts(ctx context.Context, d *delivery) error {
	for _, r := range d.rejected {
		letter, err := f.deadFact(d, r)
		if err != nil {
			return err
		}
		if err := f.bury(ctx, letter); err != nil {
			return err
		}
	}
	if n := len(d.rejected); n > 0 {
		f.counters.deadFacts.Add(uint64(n))
		f.log.Warn("bad facts dead-lettered, the others applied", "event", d.event.ID, "sequence", d.seq, "facts", n, "first", d.rejected[0].Err)
	}
	return nil
}

// bury publishes a dead letter and waits until it is stored. A letter that is too large beside its headers goes without
// the original's headers, and then without its payload, which stays in the event stream.
func (f *Feed) bury(ctx context.Context, letter DeadLetter) error {
	subject := deadSubject(letter.Subject, letter.Payload)
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

// buryEvent stores the dead letter of a whole event.
func (f *Feed) buryEvent(ctx context.Context, d *delivery, reason Reason, cause error) error {
	if err := f.bury(ctx, f.deadEvent(d, reason, cause)); err != nil {
		return err
	}
	f.log.Warn("event dead-lettered", "reason", reason, "event", d.event.ID, "sequence", d.seq, "err", cause)
	return nil
}

func (f *Feed) publishDead(ctx context.Context, subject string, letter DeadLetter) error {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.PublishTimeout)
	defer cancel()
	msg := &nats.Msg{Subject: subject, Header: letter.header(), Data: letter.Payload}
	_, err := f.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(DeadStream))
	return err
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
