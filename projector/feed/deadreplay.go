package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A replay publishes what a dead letter is about once more and then drops the dead letter. What is published:
//
//   - Of a whole event its payload, on the subject that it came on.
//   - Of a bad fact the whole event again, out of the event stream, with the corrected fact in its place: a fact's place in
//     its batch is a part of what it says (it decides which facts of a large batch are joined), and an event of that fact
//     alone would state another. The others of the event are repeats and change nothing. The header HeaderReplayFacts names
//     the fact: the event's other bad ones have dead letters already and get no second ones.
//   - The event of that fact alone, if the event stream has the whole one no more.
//
// The message id is made of the dead letter's number and time and of what is published: not the event's own, which the
// server would take for a repeat of the original, and the same again when a replay is repeated because its answer was lost.
// It is also what tells a replay from the message of a producer who sets the same headers: theirs count for nothing without
// the id that belongs to them and to the payload.

// Headers of a message that was published again.
const (
	// HeaderReplayOf is the dead letter that it was, as the stream, its creation in that, and the number.
	HeaderReplayOf = "Kith-Replay-Of"
	// HeaderReplayFacts are the places in data.facts, with commas between them, of the bad facts for which it is published
	// again; with both headers, and the message id of the replay, only these become dead letters again.
	HeaderReplayFacts = "Kith-Replay-Facts"
)

// DeadReplay says what became of a dead letter that was published again.
type DeadReplay struct {
	Number    uint64
	Sequence  uint64 // in the event stream; what [Feed.WaitApplied] takes
	Subject   string // on which it was published
	Duplicate bool   // a replay before this one had published it
	// Alone: the event of a bad fact is no longer in the event stream, so that the fact was published without the others, as
	// the first of its batch.
	Alone bool
}

// Replay publishes what a dead letter is about again and drops the dead letter when the server has acknowledged that. What
// fails again gets a new dead letter.
//
// corrected is published in the place of the payload that the dead letter has; nil publishes that as it is. It must be a
// flawless event of the same user, and, if the dead letter is of one bad fact, differ from the payload in that fact alone.
//
// Errors: [ErrNoDeadLetter] and [ErrNotReplayable] leave everything as it was. After any other error it may be published or
// not, and the dead letter is still there; Replay may be repeated.
func (d *DeadLetters) Replay(ctx context.Context, number uint64, corrected []byte) (DeadReplay, error) {
	l, err := d.get(ctx, number)
	if err != nil {
		return DeadReplay{}, err
	}
	r, err := d.replay(ctx, []Letter{l}, corrected)
	if err != nil {
		return DeadReplay{}, fmt.Errorf("replay dead letter %d: %w", number, err)
	}
	return r, nil
}

// CheckReplay returns what Replay would refuse, and does nothing.
func (d *DeadLetters) CheckReplay(ctx context.Context, number uint64, corrected []byte) error {
	l, err := d.get(ctx, number)
	if err == nil {
		err = d.check(ctx, l, corrected)
	}
	if err != nil {
		return fmt.Errorf("replay dead letter %d: %w", number, err)
	}
	return nil
}

func (d *DeadLetters) check(ctx context.Context, l Letter, corrected []byte) error {
	if err := d.replayable(l, corrected, &DeadReplay{Subject: l.Subject}); err != nil {
		return err
	}
	raw, err := d.original(ctx, l)
	if err == nil {
		_, err = d.payload(l, raw, corrected)
	}
	return err
}

// replay publishes again what letters are about: one, or several bad facts of one event that is still in the event stream.
func (d *DeadLetters) replay(ctx context.Context, letters []Letter, corrected []byte) (DeadReplay, error) {
	l := letters[0]
	r := DeadReplay{Number: l.Number, Subject: l.Subject}
	if err := d.replayable(l, corrected, &r); err != nil {
		return r, err
	}
	raw, err := d.original(ctx, l)
	if err != nil {
		return r, err
	}
	if r.Alone = l.FactIndex >= 0 && raw == nil; r.Alone && len(letters) > 1 {
		return r, errGone
	}
	payload, err := d.payload(l, raw, corrected)
	if err != nil {
		return r, err
	}
	facts := ""
	if raw != nil {
		facts = factList(letters)
	}
	if err := d.publish(ctx, replayMessage(l, r.Subject, payload, facts), &r); err != nil {
		return r, err
	}
	for _, l := range letters {
		if err := d.remove(ctx, l.Number); err != nil {
			return r, fmt.Errorf("it is published again as event %d and could not be dropped; a repeat does no harm: %w", r.Sequence, err)
		}
	}
	return r, nil
}

// errGone reports bad facts that must be published one by one, since their event is no longer in the event stream.
var errGone = errors.New("their event is no longer in the event stream")

// replayable checks what does not need the original, and decides on the subject.
func (d *DeadLetters) replayable(l Letter, corrected []byte, r *DeadReplay) error {
	if l.Foreign != nil {
		return fmt.Errorf("%w: it is no dead letter of kith's: %w", ErrNotReplayable, l.Foreign)
	}
	if corrected != nil {
		ev, err := d.checkCorrected(l, corrected)
		if err != nil {
			return err
		}
		if l.Subject == "" || projector.CheckSubject(l.Subject, ev) != nil {
			r.Subject = projector.Subject(ev.Space.UserID(), ev.Type())
		}
	} else if l.Reason == ReasonLost {
		return fmt.Errorf("%w: it has no payload: the event stream did not have the event any more", ErrNotReplayable)
	}
	if !strings.HasPrefix(r.Subject, projector.SubjectPrefix) || !plainTokens(r.Subject) { // whoever can store a message here could have it published anywhere
		return fmt.Errorf("%w: it names the subject %s: want one under %s", ErrNotReplayable, graphstore.Shorten(r.Subject), EventSubjects)
	}
	return nil
}

// payload returns what is to be published; raw is the original, if there is one.
func (d *DeadLetters) payload(l Letter, raw *rawMessage, corrected []byte) ([]byte, error) {
	switch {
	case l.FactIndex >= 0 && raw != nil && corrected != nil:
		return d.putFact(raw.Data, l, corrected)
	case l.FactIndex >= 0 && raw != nil:
		return raw.Data, nil
	case corrected != nil:
		return corrected, nil
	case l.Omitted > 0 && raw != nil:
		return raw.Data, nil
	case l.Omitted > 0:
		return nil, fmt.Errorf("%w: its payload of %d bytes was too large to be kept, and the event stream does not have it any more", ErrNotReplayable, l.Omitted)
	default:
		return l.Payload, nil
	}
}

// factList returns the places of the facts that letters are about; empty for a whole event.
func factList(letters []Letter) string {
	var places []string
	for _, l := range letters {
		if l.FactIndex >= 0 {
			places = append(places, strconv.Itoa(l.FactIndex))
		}
	}
	return strings.Join(places, ",")
}

// replayedFor returns the bad facts for which an event was published again: only they are to get dead letters. all is true of
// any other message, and of one that merely has the headers of a replay.
func replayedFor(header nats.Header, payload []byte) (places []string, all bool) {
	of, list := header.Get(HeaderReplayOf), header.Get(HeaderReplayFacts)
	if of == "" || list == "" || header.Get(jetstream.MsgIDHeader) != replayID(of, list, payload) {
		return nil, true
	}
	return strings.Split(list, ","), false
}

// replayID returns the message id of a replay. The subject is not in it: the stream may have stored the message under another.
func replayID(of, facts string, payload []byte) string {
	sum := sha256.Sum256(append([]byte(facts+"\x00"), payload...))
	return fmt.Sprintf("replay:%s:%x", of, sum[:8])
}

// replayMessage dresses a payload for the wire, with the headers of its producer.
func replayMessage(l Letter, subject string, payload []byte, facts string) *nats.Msg {
	msg := &nats.Msg{Subject: subject, Header: nats.Header{}, Data: payload}
	for key, values := range originalHeaders(l.Header) {
		if len(payload) > 0 || (key != statusHeader && key != descriptionHeader) {
			msg.Header[key] = values
		}
	}
	of := fmt.Sprintf("%s:%d:%d", DeadStream, l.Stored.UnixNano(), l.Number)
	msg.Header.Set(HeaderReplayOf, of)
	if facts != "" {
		msg.Header.Set(HeaderReplayFacts, facts)
	}
	msg.Header.Set(jetstream.MsgIDHeader, replayID(of, facts, payload))
	return msg
}

func (d *DeadLetters) publish(ctx context.Context, msg *nats.Msg, r *DeadReplay) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	ack, err := d.js.PublishMsg(ctx, msg, publishOptions()...)
	if errors.Is(err, nats.ErrMaxPayload) {
		return fmt.Errorf("%w: %d bytes: %w", ErrNotReplayable, len(msg.Data), err)
	}
	if err != nil {
		return fmt.Errorf("publish it again: it may be stored or not: %w", err)
	}
	r.Sequence, r.Duplicate = ack.Sequence, ack.Duplicate
	return nil
}
