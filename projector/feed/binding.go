package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// The durable consumer remembers what one graph has got. Fed from it, another graph lacks everything that was acknowledged
// before (a new graph file), or every other event (two services side by side), and nothing looks wrong. So the consumer
// says in its metadata which graph it feeds:
//
//   - The own graph: go on.
//   - None, and nothing was ever delivered: it is made again with the own id. Made, not updated: of two services that come
//     at the same time one then finds the other's id.
//   - A graph that this one took the place of: it is made again.
//   - Where several services stand in for each other, the name of their group stands in the place of a graph's id (see standby).
//   - Another graph, or none after deliveries: if nobody uses it (see usage) it is made again, from what the graph says that
//     it has (see hold). If somebody does, a *[ForeignConsumerError].
//
// Rejected: a consumer per graph. Those of graphs that are gone would stay, hold up nothing and count as backlog for ever,
// and two services that share a server by mistake would look well, each with its dead letters doubled by the other.

// graphKey is the key of the graph's id in the metadata of the consumer, part of the event contract.
const graphKey = "kith.graph"

// reasonForeign is the reason of a rebuild; see Hooks.Rebuilt.
const reasonForeign = "the consumer fed another graph"

// ForeignConsumerError reports that the consumer feeds another graph and that a service is pulling from it. The feed
// leaves it alone and does not project. It goes on by itself if the consumer is deleted; that the other service has ended
// it takes from nobody but the operator, by a new start, since the other one may merely be restarting.
type ForeignConsumerError struct {
	Consumer string // its name
	Found    string // id of the graph that it feeds; empty if it does not say
	Own      string // Config.GraphID
}

// Error names both graphs and says what to do.
func (e *ForeignConsumerError) Error() string {
	group, grouped := strings.CutPrefix(e.Found, groupPrefix)
	found := "graph " + e.Found
	switch {
	case grouped:
		return fmt.Sprintf("consumer %s belongs to the services of standby group %s and is in use: for this service, of graph %s, to be one of them "+
			"set KITH_STANDBY=true and KITH_STANDBY_GROUP=%s; else give it a NATS server or account of its own", e.Consumer, group, e.Own, group)
	case e.Found == "":
		found = "a graph without an id"
	}
	return fmt.Sprintf("consumer %s feeds %s and is in use, and the graph of this service is %s: two graphs cannot share one consumer, "+
		"each would get a part of the events: either give this service a NATS server or account of its own, or stop the other one and "+
		"then start this one again, or set KITH_STANDBY=true for both, so that they stand in for each other", e.Consumer, found, e.Own)
}

// errOldServer is about servers that keep no metadata of consumers and state no time in their answers.
var errOldServer = errors.New("NATS server is older than 2.10: want a later one, or no graph id")

// bound reports whether the consumer is that of the feed's graph.
func (f *Feed) bound(info *jetstream.ConsumerInfo) bool {
	return f.cfg.GraphID == "" || info.Config.Metadata[graphKey] == f.binding()
}

// rebind makes a consumer that is not bound to the feed's graph again, if nobody uses it. It returns the reason if the
// consumer had been used before.
func (f *Feed) rebind(ctx context.Context, stream jetstream.Stream, info *jetstream.ConsumerInfo, want jetstream.ConsumerConfig) (consumer jetstream.Consumer, reason string, err error) {
	found := info.Config.Metadata[graphKey]
	if f.grouped() { // the group goes on where the consumer is; what the graph lacks the feed reads by itself
		want = holding{seq: info.AckFloor.Stream}.startOf(f.consumerConfig())
	}
	fresh := found == "" && info.Delivered.Consumer == 0 && info.NumWaiting == 0
	switch {
	case fresh:
	case f.grouped() && found == f.cfg.GraphID:
		f.log.Info("consumer of this graph becomes that of its group", "group", f.cfg.Standby.Group, "from", max(want.OptStartSeq, 1))
	default:
		if !slices.Contains(f.cfg.FormerIDs, found) {
			if err := f.awaitUnused(ctx, info); err != nil {
				return nil, "", err
			}
		}
		reason = reasonForeign
		f.log.Warn("consumer fed another graph and nobody uses it: making it again from the first event that this graph lacks",
			"consumer", Durable, "found", found, "graph", f.cfg.GraphID, "from", max(want.OptStartSeq, 1))
	}
	consumer, err = f.replaceConsumer(ctx, stream, info, want)
	return consumer, reason, err
}

// replaceConsumer makes the consumer again. Whatever of it fails, the next attempt finds the old one or none and goes the
// same way.
func (f *Feed) replaceConsumer(ctx context.Context, stream jetstream.Stream, info *jetstream.ConsumerInfo, want jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if err := stream.DeleteConsumer(ctx, Durable); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, fmt.Errorf("delete it: %w", err)
	}
	want.PauseUntil = info.Config.PauseUntil
	return f.createConsumer(ctx, stream, want)
}

// createConsumer fails if there is a consumer of other settings, the graph's id among them.
func (f *Feed) createConsumer(ctx context.Context, stream jetstream.Stream, want jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	consumer, err := f.checkPinned(stream.CreateConsumer(ctx, want))
	if err != nil {
		return nil, err
	}
	if !f.bound(consumer.CachedInfo()) { // it would be taken for another graph's each time
		return nil, errOldServer
	}
	return consumer, nil
}

// awaitUnused returns nil when it is certain that nobody uses the consumer.
func (f *Feed) awaitUnused(ctx context.Context, info *jetstream.ConsumerInfo) error {
	if info.TimeStamp.IsZero() {
		return errOldServer
	}
	found, created := info.Config.Metadata[graphKey], info.Created
	foreign := &ForeignConsumerError{Consumer: Durable, Found: found, Own: f.cfg.GraphID}
	if f.loop.refused != nil && *f.loop.refused == found {
		return foreign
	}
	f.log.Warn("consumer feeds another graph: looking whether somebody uses it", "consumer", Durable, "found", found, "graph", f.cfg.GraphID)
	u := usage{pullWait: f.env.pullWait, quiet: f.quiet()}
	for {
		switch u.look(info) {
		case inUse:
			f.loop.refused = &found
			return foreign
		case unused:
			return nil
		}
		sleep(ctx, f.env.pullWait/looksPerPull)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var err error
		if info, err = f.consumerInfo(ctx); err != nil {
			return err
		}
		if info.Config.Metadata[graphKey] != found || !info.Created.Equal(created) {
			return errors.New("somebody made it again while it was watched")
		}
	}
}
