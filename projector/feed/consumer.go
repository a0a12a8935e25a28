package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errLost ends a pull when the connection is lost: what the server knew of the pull is gone with it.
var errLost = errors.New("connection to NATS lost")

// consumerConfig is what the feed needs of its consumer. There is no limit of deliveries: a limit would turn a long outage
// of the graph into lost events, so the feed itself decides what is given up (dead letters) and when. There is no BackOff:
// it would replace AckWait, and delays are stated with each return anyway.
func (f *Feed) consumerConfig() jetstream.ConsumerConfig {
	cfg := jetstream.ConsumerConfig{
		Durable: Durable, Description: "projects memory events into kith's graph",
		FilterSubject: EventSubjects,
		AckPolicy:     jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
		AckWait: f.cfg.AckWait, MaxDeliver: -1, MaxAckPending: f.cfg.MaxAckPending,
	}
	if f.cfg.GraphID != "" {
		cfg.Metadata = map[string]string{graphKey: f.binding(), marksKey: "1"}
	}
	return f.pinned(cfg)
}

// attached returns the consumer, taking it up first if it is not known to be there: after the start, after any trouble
// with it, after a lost connection, and after a silence in which another service could have taken it for unused.
func (f *Feed) attached(ctx context.Context) (jetstream.Consumer, error) {
	if f.loop.consumer != nil && f.js.Conn().IsConnected() && (f.grouped() || time.Since(f.loop.seen) < f.quiet()/2) {
		return f.loop.consumer, nil
	}
	f.loop.consumer = nil
	f.health.attach(false)
	if err := f.awaitConnection(ctx); err != nil {
		return nil, err
	}
	asking, cancel := f.whileConnected(ctx)
	defer cancel()
	consumer, err := f.attach(asking)
	if err != nil {
		return nil, errors.Join(err, context.Cause(asking))
	}
	f.loop.consumer, f.loop.seen = consumer, time.Now()
	select {
	case <-f.kick: // about the consumer before
	default:
	}
	f.health.attach(true)
	return consumer, nil
}

// awaitConnection waits until the connection is up.
func (f *Feed) awaitConnection(ctx context.Context) error {
	nc := f.js.Conn()
	changed := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer nc.RemoveStatusListener(changed)
	for !nc.IsConnected() {
		if nc.IsClosed() {
			return nats.ErrConnectionClosed
		}
		f.waitingForServer()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// whileConnected returns a context that ends when the connection is lost: a question that was on its way then is never
// answered. The caller cancels it.
func (f *Feed) whileConnected(ctx context.Context) (context.Context, func()) {
	nc := f.js.Conn()
	lost := nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	asking, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-lost:
			cancel(errLost)
		case <-asking.Done():
		}
	}()
	if !nc.IsConnected() {
		cancel(errLost)
	}
	return asking, func() {
		cancel(nil)
		<-ended
		nc.RemoveStatusListener(lost)
	}
}

func (f *Feed) waitingForServer() {
	err := errors.New("NATS does not answer")
	if last := f.js.Conn().LastError(); last != nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	f.trouble(err)
}

// attach makes sure of the streams and of the consumer. One that somebody deletes while the feed runs is made anew and
// delivers all that the stream retains: the graph already knows most of it, which costs time and changes nothing.
func (f *Feed) attach(ctx context.Context) (jetstream.Consumer, error) {
	if err := f.ensureStreams(ctx); err != nil {
		return nil, err
	}
	stream, err := f.js.Stream(ctx, EventStream)
	if err != nil {
		return nil, fmt.Errorf("take up stream %s: %w", EventStream, err)
	}
	if f.grouped() {
		return f.attachGroup(ctx, stream)
	}
	gap := f.progress.skipped()
	consumer, reason, held, err := f.ensureConsumer(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("take up consumer %s: %w", Durable, err)
	}
	info := consumer.CachedInfo()
	if reason == "" && !f.loop.created.IsZero() && !info.Created.Equal(f.loop.created) {
		reason = "the consumer was deleted"
	}
	if reason != "" {
		f.rebuilt(reason)
		clear(f.loop.suspects)
		clear(f.loop.undelivered)
		clear(f.loop.buried)
	}
	f.loop.created, f.loop.refused = info.Created, nil
	for seq := range f.loop.suspects { // gone from the stream while they waited
		if seq <= info.AckFloor.Stream {
			delete(f.loop.suspects, seq)
		}
	}
	f.missing(f.progress.overtaken(gap, stream.CachedInfo()))
	f.takeLog(logName(stream.CachedInfo().Created))
	f.progress.attach(stream.CachedInfo().Created, info, held)
	f.health.observe(info)
	return consumer, nil
}

// ensureStreams is EnsureStreams, but goes on without a stream for dead letters if that cannot be had: bad events then
// stay in the queue, and the good ones need not wait for somebody to mend it.
func (f *Feed) ensureStreams(ctx context.Context) error {
	cfg := f.cfg.Streams
	if err := ensureStream(ctx, f.js, cfg.events(), cfg.MaxEventBytes); err != nil {
		return err
	}
	err := ensureStream(ctx, f.js, cfg.dead(), cfg.MaxEventBytes)
	var unfit *StreamMismatchError
	if err == nil || errors.As(err, &unfit) || ctx.Err() != nil {
		return err
	}
	f.health.noted(err)
	return nil
}

// ensureConsumer leaves a consumer that is as it should be alone: an update would also end a pause by its operator. It
// returns the reason if it made one again that had fed another graph, and up to where the graph has every event, as far as
// that is news.
func (f *Feed) ensureConsumer(ctx context.Context, stream jetstream.Stream) (consumer jetstream.Consumer, reason string, held uint64, err error) {
	var info *jetstream.ConsumerInfo
	consumer, err = stream.Consumer(ctx, Durable)
	switch {
	case err == nil:
		info = consumer.CachedInfo()
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, "", 0, err
	}
	has, err := f.hold(ctx, stream.CachedInfo(), info)
	if err != nil {
		return nil, "", 0, err
	}
	want := has.startOf(f.consumerConfig())
	switch {
	case info == nil:
		consumer, err = f.createConsumer(ctx, stream, want)
	case !f.bound(info):
		consumer, reason, err = f.rebind(ctx, stream, info, want)
	case f.grouped(): // what the graph lacks it reads by itself
		consumer, err = f.adjustConsumer(ctx, stream, consumer)
	case has.lacks(stream.CachedInfo(), info):
		consumer, err = f.rewind(ctx, stream, info, want, has)
	default:
		consumer, err = f.adjustConsumer(ctx, stream, consumer)
	}
	if err == nil && !f.loop.placed {
		if info != nil && !has.known {
			has.seq = info.AckFloor.Stream
		}
		f.missing(gone(has.seq, stream.CachedInfo()))
	}
	return consumer, reason, has.seq, err
}

// adjustConsumer gives an existing consumer the settings it should have, where they differ. From where it delivers cannot
// be changed; where a feed has made it start is as good as the start of the stream.
func (f *Feed) adjustConsumer(ctx context.Context, stream jetstream.Stream, consumer jetstream.Consumer) (jetstream.Consumer, error) {
	got, want := consumer.CachedInfo().Config, f.consumerConfig()
	if err := checkFixed(got); err != nil {
		return nil, err
	}
	if got.DeliverPolicy == jetstream.DeliverByStartSequencePolicy {
		want.DeliverPolicy, want.OptStartSeq = got.DeliverPolicy, got.OptStartSeq
	}
	marks := got.Metadata[marksKey] != "" || f.cfg.GraphID == "" || f.loop.mark.Log != logName(stream.CachedInfo().Created)
	if marks && got.AckPolicy == want.AckPolicy && got.DeliverPolicy == want.DeliverPolicy && got.FilterSubject == want.FilterSubject &&
		got.AckWait == want.AckWait && got.MaxDeliver == want.MaxDeliver && got.MaxAckPending == want.MaxAckPending && len(got.BackOff) == 0 &&
		got.PriorityPolicy == want.PriorityPolicy && slices.Equal(got.PriorityGroups, want.PriorityGroups) && got.PinnedTTL == want.PinnedTTL {
		return consumer, nil
	}
	want.PauseUntil, want.Metadata = got.PauseUntil, maps.Clone(got.Metadata)
	if !marks {
		want.Metadata[marksKey] = "1"
	}
	return f.checkPinned(stream.UpdateConsumer(ctx, want))
}

// checkFixed returns which setting of an existing consumer is not as it has to be and cannot be changed.
func checkFixed(got jetstream.ConsumerConfig) error {
	const remedy = "which cannot be changed: delete the consumer, it is made again from what the graph has"
	if got.AckPolicy != jetstream.AckExplicitPolicy {
		return fmt.Errorf("its ack_policy is %s, want %s, %s", got.AckPolicy, jetstream.AckExplicitPolicy, remedy)
	}
	if p := got.DeliverPolicy; p != jetstream.DeliverAllPolicy && p != jetstream.DeliverByStartSequencePolicy {
		return fmt.Errorf("its deliver_policy is %s, want %s or %s, %s", p, jetstream.DeliverAllPolicy, jetstream.DeliverByStartSequencePolicy, remedy)
	}
	return nil
}

// checkPinned refuses a consumer of a group that its server has not made a pinned one.
func (f *Feed) checkPinned(consumer jetstream.Consumer, err error) (jetstream.Consumer, error) {
	if err == nil && f.grouped() && consumer.CachedInfo().Config.PriorityPolicy != jetstream.PriorityPolicyPinned {
		return nil, errNoPins
	}
	return consumer, err
}

func (f *Feed) rebuilt(reason string) {
	f.counters.rebuilt.Add(1)
	f.log.Warn("consumer taken up again", "reason", reason)
	f.cfg.Hooks.Rebuilt(reason)
}

// idleWait is how long one pull waits for its first message. Only its end shows that a consumer has vanished without a
// word, so it is short; an idle feed costs a few requests a minute. Other services rely on it: see usage.
const idleWait = 5 * time.Second

func (f *Feed) consumerInfo(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	consumer, err := f.js.Consumer(ctx, EventStream, f.following())
	if err != nil {
		return nil, err
	}
	return consumer.CachedInfo(), nil
}
