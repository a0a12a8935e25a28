package feed

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
)

// Waiting makes sure of both streams, like [EnsureStreams], and returns how many events of the stream a graph with this mark
// lacks, at most: events that were deleted one by one count too. It is for a service that does not project: streams keep
// events by their own limits, whether or not there is a consumer, so with the streams there nothing else is needed for a
// later feed to find all of them.
func Waiting(ctx context.Context, js jetstream.JetStream, cfg StreamsConfig, mark graphstore.Mark) (uint64, error) {
	if err := EnsureStreams(ctx, js, cfg); err != nil {
		return 0, err
	}
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		return 0, fmt.Errorf("count waiting events: %w", err)
	}
	info := stream.CachedInfo()
	state := info.State
	if mark.Log != logName(info.Created) || mark.Seq < state.FirstSeq || mark.Seq > state.LastSeq {
		return state.Msgs, nil
	}
	return min(state.LastSeq-mark.Seq, state.Msgs), nil
}
