package feed

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// keepSeat is the part of a cycle that is about the feed's role: a standby that is up to date begins to wait for the pin, one
// that was given a message becomes the active one as soon as its graph has all that others may have settled, and one whose pin
// is gone stands by again.
func (f *Feed) keepSeat(ctx context.Context) error {
	s := f.loop.seat
	switch {
	case !f.grouped():
		return nil
	case s == nil:
		return f.seekSeat(ctx)
	}
	select {
	case err := <-s.failed:
		f.standBy(ctx)
		if errors.Is(err, errSeatLost) {
			return nil
		}
		return err
	default:
	}
	if f.loop.claimed == nil && !f.group.active.Load() {
		select {
		case f.loop.claimed = <-s.claim:
		default:
			return nil
		}
	}
	switch {
	case !f.group.active.Load():
		return f.takeOver(ctx)
	case f.loop.stuck >= yieldAfter:
		f.log.Warn("the graph takes nothing: another service may settle the events", "group", f.cfg.Standby.Group, "failures", f.loop.stuck)
		f.yield(ctx)
		f.loop.consumer = nil
	}
	return nil
}

// yieldAfter is after how many batches in a row that its graph did not take an active service gives its pin up. It is not
// given it again before its graph has caught up.
const yieldAfter = 5

// seekSeat begins to wait for the pin if the graph is up to date.
func (f *Feed) seekSeat(ctx context.Context) error {
	info, err := f.durableInfo(ctx)
	if err != nil {
		return err
	}
	f.group.observe(info)
	if behind, err := f.behind(ctx, info.Delivered.Stream); behind || err != nil {
		return err
	}
	f.loop.seat = f.newSeat(ctx, f.loop.durable)
	return nil
}

// takeOver makes the feed the active one if its graph has all that the durable consumer has ever delivered: whoever was active
// before may have settled any of it. Until then it goes on reading by itself.
func (f *Feed) takeOver(ctx context.Context) error {
	info, err := f.durableInfo(ctx)
	if err != nil {
		return err
	}
	meta, err := f.loop.claimed.Metadata()
	if err != nil {
		return err
	}
	// The pin was given with this message: what was delivered before it, and the message, are all that others can have had.
	if behind, err := f.behind(ctx, max(meta.Sequence.Stream, info.Delivered.Stream)); behind || err != nil {
		return err
	}
	if f.loop.seat.fresh() {
		f.becomeActive(info, meta)
		f.dropFollower(ctx)
	}
	return nil
}

func (f *Feed) becomeActive(info *jetstream.ConsumerInfo, claimed *jetstream.MsgMetadata) {
	f.loop.consumer = f.loop.durable
	f.group.follows.Store(nil)
	f.group.pin.Store(f.loop.seat.pin.Load())
	f.group.active.Store(true)
	f.counters.takeovers.Add(1)
	f.forgetLeft()
	at := *info
	if at.Delivered.Consumer == claimed.Sequence.Consumer { // it is yet to be noted as delivered
		at.Delivered.Consumer--
	}
	f.progress.attach(f.progress.streamCreated(), &at, f.progress.position())
	f.health.observe(info)
	f.log.Info("this service settles the events of its group now", "group", f.cfg.Standby.Group, "from", claimed.Sequence.Stream, "unsettled", info.NumAckPending)
}

// behind reports whether the graph may lack events up to seq, those aside that are left to the active one. What was delivered
// leaves no doubt as a rule; else the server's account of the feed's own consumer decides.
func (f *Feed) behind(ctx context.Context, seq uint64) (bool, error) {
	if !f.progress.lacks(seq, f.loop.left) {
		return false, nil
	}
	consumer, err := f.js.Consumer(ctx, EventStream, f.loop.own)
	if err != nil {
		return true, err
	}
	info := consumer.CachedInfo()
	return (info.NumPending > 0 && info.Delivered.Stream < seq) || info.NumAckPending > len(f.loop.left), nil
}

// leaveSeat ends the feed's part as the active one, or its waiting to be. A message that it was given goes back.
func (f *Feed) leaveSeat(ctx context.Context) {
	f.group.pin.Store(nil)
	if f.group.active.Swap(false) {
		f.log.Info("this service stands by now", "group", f.cfg.Standby.Group)
	}
	msg := f.loop.claimed
	if s := f.loop.seat; s != nil {
		if given := s.leave(); given != nil {
			msg = given
		}
	}
	if msg != nil {
		_ = msg.Nak() // else it comes again after AckWait
	}
	f.loop.seat, f.loop.claimed = nil, nil
}

// standBy makes the feed take up a consumer of its own.
func (f *Feed) standBy(ctx context.Context) {
	f.leaveSeat(ctx)
	f.loop.consumer = nil
}

// vacate gives the pin up at a stop, so that another service takes over at once, and removes the feed's own consumer.
func (f *Feed) vacate(ctx context.Context) {
	if !f.grouped() {
		return
	}
	f.yield(ctx)
	if f.js.Conn().IsConnected() {
		f.dropFollower(context.WithoutCancel(ctx))
	}
}

// yield gives the pin up, if the feed has it.
func (f *Feed) yield(ctx context.Context) {
	s := f.loop.seat
	ours := s != nil && s.fresh()
	f.leaveSeat(ctx)
	if !ours || !f.js.Conn().IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	if err := f.unpin(ctx, *s.pin.Load()); err != nil {
		f.log.Debug("another service takes over only when the pin expires", "ttl", f.cfg.Standby.TTL, "err", err)
	}
}

// unpin takes the pin from the durable consumer if it is this one.
func (f *Feed) unpin(ctx context.Context, pin string) error {
	info, err := f.durableInfo(ctx)
	if err != nil || pinnedTo(info) != pin {
		return err
	}
	stream, err := f.js.Stream(ctx, EventStream)
	if err != nil {
		return err
	}
	return stream.UnpinConsumer(ctx, Durable, f.cfg.Standby.Group)
}

// fetch pulls from the consumer that the feed follows.
func (f *Feed) fetch(consumer jetstream.Consumer, n int, opts ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	if f.group.active.Load() {
		opts = append(opts, jetstream.FetchPriorityGroup(f.cfg.Standby.Group))
	}
	return consumer.Fetch(n, opts...)
}

// notOurs reports whether a message came under another pin than the one the feed took over with: between the two somebody else
// was active, and may have settled what the graph lacks. Such a message goes back, and the feed has to take over again.
func (f *Feed) notOurs(msg jetstream.Msg) bool {
	if !f.group.active.Load() || f.loop.seat.owns(msg) {
		return false
	}
	_ = msg.Nak() // else it comes again after AckWait
	f.loop.seat.lose(errSeatLost)
	return true
}

// lose has the loop end the seat.
func (s *seat) lose(err error) {
	select {
	case s.failed <- err:
		s.wake()
	default: // it is to end already
	}
}

// pinRefused handles the end of a pull that is about the feed's role, and reports whether it was one.
func (f *Feed) pinRefused(err error) bool {
	if !f.group.active.Load() || !errors.Is(err, jetstream.ErrPinIDMismatch) {
		return false
	}
	f.loop.seat.lose(errSeatLost)
	return true
}

// takeClaimed returns the message that came with the pin, once.
func (f *Feed) takeClaimed() jetstream.Msg {
	if !f.group.active.Load() {
		return nil
	}
	msg := f.loop.claimed
	f.loop.claimed = nil
	return msg
}
