package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// followerPrefix begins the names of the consumers by which standbys read.
	followerPrefix = "kith-standby-"
	// followerLife is after how long without a pull the server removes such a consumer: longer than any commit.
	followerLife = 5 * time.Minute
)

// followerConfig is what a standby needs of its own consumer. It is a new one each time that it is taken up, so that nothing
// has to be waited for that went astray; its name is nobody else's, also where two services run copies of one graph.
func (f *Feed) followerConfig(after uint64) jetstream.ConsumerConfig {
	cfg := f.consumerConfig()
	cfg.Durable, cfg.Name, cfg.Description = "", followerPrefix+nuid.Next(), "keeps the graph of a standby up to date"
	cfg.InactiveThreshold, cfg.MemoryStorage = followerLife, true
	cfg.PriorityPolicy, cfg.PriorityGroups, cfg.PinnedTTL = jetstream.PriorityPolicyNone, nil, 0
	return holding{seq: after}.startOf(cfg)
}

// attachGroup makes sure of the durable consumer, and takes up a consumer of the feed's own after what the graph has. The feed
// stands by until it is given a message of the durable one.
func (f *Feed) attachGroup(ctx context.Context, stream jetstream.Stream) (jetstream.Consumer, error) {
	f.leaveSeat(ctx)
	gap := f.progress.skipped()
	durable, reason, held, err := f.ensureConsumer(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("take up consumer %s: %w", Durable, err)
	}
	info := durable.CachedInfo()
	if reason == "" && !f.loop.created.IsZero() && !info.Created.Equal(f.loop.created) {
		reason = "the consumer was deleted"
	}
	if reason != "" {
		f.rebuilt(reason)
	}
	if f.loop.durable == nil || !info.Created.Equal(f.loop.created) { // else the one that knows the pin is kept
		f.loop.durable = durable
	}
	log := logName(stream.CachedInfo().Created)
	if log == f.loop.log {
		held = max(held, f.progress.position())
	}
	own, err := stream.CreateConsumer(ctx, f.followerConfig(held))
	if err != nil {
		return nil, fmt.Errorf("make a consumer for a standby: %w", err)
	}
	f.missing(f.progress.overtaken(gap, stream.CachedInfo()))
	f.loop.created, f.loop.refused = info.Created, nil
	f.takeLog(log)
	clear(f.loop.suspects)
	clear(f.loop.undelivered)
	clear(f.loop.buried)
	f.forgetLeft()
	name := own.CachedInfo().Name
	f.loop.own = name
	f.group.follows.Store(&name)
	f.group.observe(info)
	f.progress.restart(stream.CachedInfo().Created, own.CachedInfo(), held)
	f.health.observe(own.CachedInfo())
	return own, nil
}

// dropFollower removes the feed's own consumer; what stays the server removes later.
func (f *Feed) dropFollower(ctx context.Context) {
	if f.loop.own == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := f.js.DeleteConsumer(ctx, EventStream, f.loop.own); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		f.log.Debug("consumer of a standby stays until the server removes it", "consumer", f.loop.own, "err", err)
	}
	f.loop.own = ""
}

// durableInfo asks for the durable consumer.
func (f *Feed) durableInfo(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	consumer, err := f.js.Consumer(ctx, EventStream, Durable)
	if err != nil {
		return nil, err
	}
	return consumer.CachedInfo(), nil
}

// observeGroup asks what the group has settled.
func (f *Feed) observeGroup(ctx context.Context) error {
	if !f.grouped() {
		return nil
	}
	info, err := f.durableInfo(ctx)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		f.kickOff("")
	}
	if err != nil {
		return fmt.Errorf("ask for consumer %s: %w", Durable, err)
	}
	if f.bound(info) {
		f.group.observe(info)
	}
	return nil
}
