package feed

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
	"github.com/nats-io/nats.go/jetstream"
)

// marksKey is the key in the metadata of the consumer that says that the graph which it feeds has a mark, or has nothing:
// part of the event contract. Without it a graph without a mark may be one of a version that kept none.
const marksKey = "kith.marks"

// holding is what the graph has of the stream when a run begins.
type holding struct {
	seq   uint64 // every event up to here
	known bool   // false: only the consumer knows
}

// Rewind is the account of a consumer that was made again because the graph had gone back.
type Rewind struct {
	Mark         uint64 // the graph has every event up to here
	Acknowledged uint64 // the greatest sequence that the graph may have acknowledged
}

// hold returns what the graph has of the stream. It is asked until the consumer has been taken up once; from then on the
// feed writes the graph, which does not go back, and a consumer that somebody deletes is to deliver all.
func (f *Feed) hold(ctx context.Context, stream *jetstream.StreamInfo, consumer *jetstream.ConsumerInfo) (holding, error) {
	mark, own := f.loop.mark, consumer != nil && f.bound(consumer)
	switch {
	case f.loop.placed, f.cfg.GraphID == "":
		return holding{}, nil
	case mark.Log == logName(stream.Created) && mark.Seq > stream.State.LastSeq:
		return holding{known: true}, f.disown(ctx, stream)
	case mark.Log == logName(stream.Created):
		return holding{mark.Seq, true}, nil
	case mark.Log == "" && own && consumer.Config.Metadata[marksKey] == "":
		return holding{}, nil
	default: // of another stream, or nothing yet
		return holding{known: true}, nil
	}
}

// disown takes the mark back that claims more than the stream has ever had: the stream has lost its end, and what it gets
// from now on has sequences that the graph seems to have.
func (f *Feed) disown(ctx context.Context, stream *jetstream.StreamInfo) error {
	f.log.Warn("graph claims events that the stream does not have: the stream has lost its end and is projected from its start",
		"mark", f.loop.mark.Seq, "last", stream.State.LastSeq)
	return f.recordMark(ctx, graphstore.Mark{Log: logName(stream.Created)})
}

// startOf makes a consumer begin after what the graph has.
func (h holding) startOf(cfg jetstream.ConsumerConfig) jetstream.ConsumerConfig {
	if h.seq > 0 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, h.seq+1
	}
	return cfg
}

// lacks reports whether the graph may lack events that its consumer takes for settled, and which the stream still has.
func (h holding) lacks(stream *jetstream.StreamInfo, consumer *jetstream.ConsumerInfo) bool {
	gone := max(stream.State.FirstSeq, 1) - 1
	settled := acknowledged(consumer)
	if h.seq == 0 { // it has nothing of this stream; acknowledgements of another graph's may be on their way still
		settled = max(settled, consumer.Delivered.Stream)
	}
	return h.known && max(h.seq, gone) < settled
}

// acknowledged returns the greatest sequence that may have been acknowledged: the last delivered one, unless everything
// above the floor is pending. The floor alone does not do, since events above it are settled while one waits for its retry.
func acknowledged(info *jetstream.ConsumerInfo) uint64 {
	floor, delivered := info.AckFloor.Stream, info.Delivered.Stream
	if delivered > floor && delivered-floor > uint64(max(info.NumAckPending, 0)) {
		return delivered
	}
	return floor
}

// rewind makes the consumer of this graph again, from the first event that the graph lacks.
func (f *Feed) rewind(ctx context.Context, stream jetstream.Stream, info *jetstream.ConsumerInfo, want jetstream.ConsumerConfig, h holding) (jetstream.Consumer, error) {
	r := Rewind{Mark: h.seq, Acknowledged: acknowledged(info)}
	f.log.Warn("graph is older than its consumer: events are delivered again from where it is", "mark", r.Mark, "acknowledged", r.Acknowledged)
	consumer, err := f.replaceConsumer(ctx, stream, info, want)
	if err != nil {
		return nil, err
	}
	f.counters.rewound.Add(1)
	f.cfg.Hooks.Rewound(r)
	return consumer, nil
}
