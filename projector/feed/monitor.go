package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// askTimeout bounds one question to the server.
	askTimeout = 2 * time.Second
	// doubtInterval is how often the server is asked while deliveries leave a doubt, or somebody waits for a sequence that
	// is not delivered. In regular service neither lasts that long.
	doubtInterval = 250 * time.Millisecond
)

// monitor asks the server for the state of the consumer at intervals until the context ends.
func (f *Feed) monitor(ctx context.Context) {
	tick := time.NewTicker(min(doubtInterval, f.cfg.StatusInterval))
	defer tick.Stop()
	last, searching := time.Now(), false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !f.js.Conn().IsConnected() || (!searching && !f.progress.doubtful() && time.Since(last) < f.cfg.StatusInterval) {
			continue
		}
		last = time.Now()
		info, err := f.ask(ctx)
		if err == nil {
			searching, err = f.lookForSwallowed(ctx, info)
		}
		if err != nil && ctx.Err() == nil {
			f.log.Debug("state of the consumer is unknown", "err", err)
		}
	}
}

// ask takes in what the server says of the stream and the consumer. The stream comes first: whatever was in it before the
// consumer had nothing left is settled.
func (f *Feed) ask(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	attached, gap, follows := f.health.isAttached(), f.progress.skipped(), f.following()
	stream, err := f.streamInfo(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, err
	}
	info, err := f.env.info(ctx)
	if f.following() != follows {
		return nil, errors.New("the feed has another role, and consumer, now")
	}
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		f.kickOff("")
	}
	if err != nil {
		return nil, fmt.Errorf("ask for consumer %s: %w", f.following(), err)
	}
	if f.grouped() && follows == Durable && !f.group.isPinned(info) {
		return nil, errSeatLost // what others have settled since then says nothing of this graph
	}
	if !f.bound(info) || !f.progress.observe(info, stream.State.LastSeq) {
		if attached && f.health.isAttached() { // else it is being taken up just now
			f.kickOff("")
		}
		return nil, errors.New("it is not the one that was taken up")
	}
	f.health.observe(info)
	if err := f.observeGroup(ctx); err != nil {
		return nil, err
	}
	f.missing(f.progress.overtaken(gap, stream))
	f.watch(info, time.Now())
	return info, nil
}

// kickOff ends the pull that waits, so that the consumer is taken up again; with a reason, that is counted.
func (f *Feed) kickOff(reason string) {
	select {
	case f.kick <- reason:
	default:
	}
}
