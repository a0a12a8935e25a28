package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A message with an empty payload and a header named Status never reaches the feed: the client library takes it for an
// answer of the server and drops it, or ends the pull with the error that it seems to state. The server waits for its
// acknowledgement and delivers it again after AckWait, each time in the place of an event, and WaitApplied stands before it.
// So while the feed waits for a message and the server has more of them delivered than the feed knows of, the monitor reads
// the unknown ones from the stream, and hands those that are of this kind to the feed's own goroutine, which buries them
// like any bad event. What makes it safe is that nothing but their immutable content decides: a message without a payload
// is no event, whoever else may have it in hand.

// looksPerAsk bounds how many messages the monitor reads between two questions to the server.
const looksPerAsk = 64

const (
	statusHeader      = "Status"
	descriptionHeader = "Description"
)

// errSwallowed is the cause of death of such a message.
var errSwallowed = errors.New("payload is empty and a header named Status makes the message look like an answer of the server")

// swallowedBy reports whether the client library drops a message.
func swallowedBy(payload []byte, header nats.Header) bool {
	return len(payload) == 0 && header.Get(statusHeader) != ""
}

// looked is what the monitor knows of messages that are delivered and that the feed does not know of.
type looked map[uint64]time.Time // when to look at it again; zero: never

// lookForSwallowed looks at the next unknown messages and returns whether it handed over any.
func (f *Feed) lookForSwallowed(ctx context.Context, info *jetstream.ConsumerInfo) (found bool, err error) {
	for seq := range f.looked {
		if seq <= info.AckFloor.Stream {
			delete(f.looked, seq)
		}
	}
	if f.idle.Load() == 0 || info.NumAckPending <= f.progress.unsettled() {
		return false, nil
	}
	now := time.Now()
	for seq, looks := info.AckFloor.Stream+1, 0; seq <= info.Delivered.Stream && looks < looksPerAsk; seq++ {
		if again, known := f.looked[seq]; f.progress.has(seq) || (known && (again.IsZero() || now.Before(again))) {
			continue
		}
		looks++
		raw, err := getWithin(ctx, f.js, EventStream, seq, "")
		switch {
		case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
			return found, fmt.Errorf("read event %d: %w", seq, err)
		case err != nil || !swallowedBy(raw.Data, raw.Header):
			f.looked[seq] = time.Time{}
		default:
			f.looked[seq] = now.Add(f.cfg.AckWait)
			found = f.hand(stray{raw: &raw.RawStreamMsg, reason: ReasonBadEvent, cause: errSwallowed, deliveries: 1}) || found
		}
	}
	return found, nil
}

// hand passes a message to the feed's goroutine, which waits in a pull that may be spent on it, and ends that.
func (f *Feed) hand(s stray) bool {
	select {
	case f.strays <- s:
	default: // full: it is looked at again
		return false
	}
	select {
	case f.again <- struct{}{}:
	default:
	}
	return true
}

// buryStrays buries what was handed over. What is found again after that, since the answer was lost or not yet there, is
// answered again and no more.
func (f *Feed) buryStrays(ctx context.Context) {
	floor := f.progress.position()
	maps.DeleteFunc(f.loop.buried, func(seq uint64, _ struct{}) bool { return seq <= floor })
	for {
		select {
		case s := <-f.strays:
			if s.givenUp {
				f.buryStray(ctx, s)
			} else {
				f.burySwallowed(ctx, s, floor)
			}
		default:
			return
		}
	}
}

func (f *Feed) burySwallowed(ctx context.Context, s stray, floor uint64) {
	msg, seq := &swallowed{f.js.Conn(), s.raw, f.following()}, s.raw.Sequence
	if _, done := f.loop.buried[seq]; done || seq <= floor {
		if err := msg.TermWithReason(string(s.reason)); err != nil {
			f.health.noted(fmt.Errorf("answer for event %d: %w", seq, err))
		}
		return
	}
	f.settle(ctx, &delivery{msg: msg, seq: seq, count: s.deliveries, received: s.raw.Time}, buried(s.reason, s.cause))
	_, waits := f.loop.undelivered[seq]
	_, left := f.loop.left[seq]
	if !waits && !left {
		f.loop.buried[seq] = struct{}{}
	}
}

// swallowed is a message that was read from the stream while its delivery was lost in the client. It is answered under the
// subject that the server gives to deliveries: stream, consumer, deliveries, sequences in both, time, and messages behind
// it, of which the server takes the stream's sequence alone for an answer.
type swallowed struct {
	conn *nats.Conn
	raw  *jetstream.RawStreamMsg
	from string // the consumer
}

var _ jetstream.Msg = (*swallowed)(nil)

func (s *swallowed) Data() []byte    { return s.raw.Data }
func (s *swallowed) Subject() string { return s.raw.Subject }

// Headers leaves the forged ones out, which would make its dead letter vanish in the same way.
func (s *swallowed) Headers() nats.Header {
	kept := nats.Header{}
	for key, values := range s.raw.Header {
		if len(s.raw.Data) > 0 || (key != statusHeader && key != descriptionHeader) {
			kept[key] = values
		}
	}
	return kept
}

func (s *swallowed) Reply() string {
	return fmt.Sprintf("$JS.ACK.%s.%s.1.%d.1.%d.0", EventStream, s.from, s.raw.Sequence, s.raw.Time.UnixNano())
}

func (s *swallowed) Metadata() (*jetstream.MsgMetadata, error) {
	return nil, fmt.Errorf("message %d was not delivered: %w", s.raw.Sequence, errSwallowed)
}

func (s *swallowed) answer(verb string) error { return s.conn.Publish(s.Reply(), []byte(verb)) }

func (s *swallowed) Ack() error { return s.answer("+ACK") }
func (s *swallowed) DoubleAck(ctx context.Context) error {
	_, err := s.conn.RequestWithContext(ctx, s.Reply(), []byte("+ACK"))
	return err
}
func (s *swallowed) Nak() error        { return s.answer("-NAK") }
func (s *swallowed) InProgress() error { return s.answer("+WPI") }
func (s *swallowed) Term() error       { return s.answer("+TERM") }

func (s *swallowed) NakWithDelay(delay time.Duration) error {
	return s.answer(`-NAK {"delay": ` + strconv.FormatInt(int64(delay), 10) + `}`)
}
func (s *swallowed) TermWithReason(reason string) error { return s.answer("+TERM " + reason) }
