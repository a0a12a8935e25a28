package feed

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// pinHeader is the header by which the server says to whom it has pinned the consumer.
const pinHeader = "Nats-Pin-Id"

// seat is one attempt to be the active one: it waits until the server gives it a message, and from then on keeps the pin. A
// goroutine of its own does both, so that neither waits for a batch.
type seat struct {
	consumer jetstream.Consumer // the durable one; it keeps the id of the pin
	group    string
	ttl      time.Duration
	ackWait  time.Duration

	claim  chan jetstream.Msg                                     // the message that made it the active one
	failed chan error                                             // why it ended by itself
	wake   func()                                                 // ends the pull of the loop
	ask    func(context.Context) (*jetstream.ConsumerInfo, error) // for the durable consumer

	pin  atomic.Pointer[string]    // id of the pin; nil while it waits
	held atomic.Pointer[time.Time] // when the pin was certain the last time; its clock goes on while a process is frozen
	stop context.CancelFunc
	done chan struct{}
}

// newSeat begins to wait for the pin.
func (f *Feed) newSeat(ctx context.Context, consumer jetstream.Consumer) *seat {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &seat{
		consumer: consumer, group: f.cfg.Standby.Group, ttl: f.cfg.Standby.TTL, ackWait: f.cfg.AckWait,
		claim: make(chan jetstream.Msg, 1), failed: make(chan error, 1), stop: stop, done: make(chan struct{}),
		ask: f.durableInfo,
		wake: func() {
			select {
			case f.again <- struct{}{}:
			default:
			}
		},
	}
	go func() {
		defer close(s.done)
		s.run(ctx)
	}()
	return s
}

// leave ends the attempt and returns the message that it was given and that nobody has taken up, if any.
func (s *seat) leave() jetstream.Msg {
	s.stop()
	<-s.done
	select {
	case msg := <-s.claim:
		return msg
	default:
		return nil
	}
}

// fresh reports whether it is certain that no other service is pinned.
func (s *seat) fresh() bool {
	held := s.held.Load()
	return held != nil && time.Since(*held) < s.ttl
}

// owns reports whether a message was given to the pin that the seat has.
func (s *seat) owns(msg jetstream.Msg) bool {
	pin := s.pin.Load()
	return pin != nil && msg.Headers().Get(pinHeader) == *pin
}

func (s *seat) run(ctx context.Context) {
	msg, err := s.wait(ctx)
	if err == nil && msg != nil {
		pin, now := msg.Headers().Get(pinHeader), time.Now()
		s.pin.Store(&pin)
		s.held.Store(&now)
		s.claim <- msg
		s.wake()
		err = s.keep(ctx, msg)
	}
	if ctx.Err() == nil && err != nil {
		s.lose(err)
	}
}

// wait pulls until the server gives a message.
func (s *seat) wait(ctx context.Context) (jetstream.Msg, error) {
	for ctx.Err() == nil {
		asked := time.Now()
		pull, cancel := context.WithTimeout(ctx, max(s.ttl, 100*time.Millisecond))
		fetched, err := s.consumer.Fetch(1, jetstream.FetchContext(pull), jetstream.FetchPriorityGroup(s.group))
		if err != nil {
			cancel()
			return nil, err
		}
		msg := <-fetched.Messages()
		cancel()
		if msg != nil {
			return msg, nil
		}
		err = fetched.Error()
		switch {
		case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, jetstream.ErrPinIDMismatch):
		default:
			return nil, err
		}
		if time.Since(asked) < s.ttl/20 { // a server that answers at once is not asked in a loop
			sleep(ctx, s.ttl/20)
		}
	}
	return nil, nil
}

// errSeatLost reports that the pin is somebody else's, or may be.
var errSeatLost = errors.New("another service may be the active one now")

// keep renews the pin three times in its TTL, and keeps the first message until the loop has taken it up.
func (s *seat) keep(ctx context.Context, first jetstream.Msg) error {
	tick := time.NewTicker(s.ttl / 3)
	defer tick.Stop()
	spoken := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if len(s.claim) > 0 && time.Since(spoken) > s.ackWait/3 {
			spoken = time.Now()
			_ = first.InProgress() // at worst it comes again
		}
		if !s.fresh() { // frozen, or cut off
			return errSeatLost
		}
		asked := time.Now()
		switch err := s.renew(ctx); {
		case errors.Is(err, errSeatLost):
			return err
		case err == nil:
			s.held.Store(&asked)
		}
	}
}

// renew shows the server that who is pinned is there, and makes sure that this still is the seat. The pull asks for a message
// that fits into one byte, of which there is none: it can take nothing.
func (s *seat) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.ttl/3)
	defer cancel()
	fetched, err := s.consumer.Fetch(1, jetstream.FetchContext(ctx), jetstream.FetchMaxBytes(1), jetstream.FetchPriorityGroup(s.group))
	if err != nil {
		return err
	}
	defer func() {
		cancel()
		for msg := range fetched.Messages() {
			_ = msg.Nak() // of a server that gives it all the same; at worst it comes again
		}
	}()
	info, err := s.ask(ctx)
	if err != nil {
		return err
	}
	if pinnedTo(info) != *s.pin.Load() {
		return errSeatLost
	}
	return nil
}

// pinnedTo returns the id of the pin of a consumer; empty if nobody has it.
func pinnedTo(info *jetstream.ConsumerInfo) string {
	for _, g := range info.PriorityGroups {
		return g.PinnedClientID // a consumer has one group
	}
	return ""
}
