package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func newPublisher(t testing.TB, js jetstream.JetStream, cfg PublisherConfig) *Publisher {
	t.Helper()
	p, err := NewPublisher(js, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestPublish(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	p := newPublisher(t, js, PublisherConfig{Traceparent: func(context.Context) string { return "00-1-2-01" }})
	payload := factsEvent("e1", userA, 1, "f")
	first, err := p.Publish(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	if first != (Receipt{EventID: "e1", Sequence: 1}) {
		t.Errorf("receipt %+v", first)
	}
	again, err := p.Publish(ctx, payload)
	if err != nil || again != (Receipt{EventID: "e1", Sequence: 1, Duplicate: true}) {
		t.Errorf("receipt of the same event %+v, %v", again, err)
	}
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	msg, err := stream.GetMsg(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if msg.Subject != "memory.events."+tokenA+".facts.written.v1" || string(msg.Data) != string(payload) ||
		msg.Header.Get("Nats-Msg-Id") != "e1" || msg.Header.Get("traceparent") != "00-1-2-01" {
		t.Errorf("message on %s with %v: %s", msg.Subject, msg.Header, msg.Data)
	}
	f := run(t, newFeed(t, js, g, fastConfig()))
	if err := f.WaitApplied(ctx, first.Sequence); err != nil { // read your writes
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 1)
}

func TestPublishEvent(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	p := newPublisher(t, js, PublisherConfig{})
	ev, err := projector.NewEvent("e1", "test", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), userA, projector.FactDeleted{FactID: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.PublishEvent(ctx, ev); err != nil || r.Sequence != 1 {
		t.Errorf("receipt %+v, %v", r, err)
	}
	ev.ID = ""
	if _, err := p.PublishEvent(ctx, ev); err == nil || !strings.Contains(err.Error(), "id") {
		t.Errorf("event without an id: %v", err)
	}
}

func TestBadEventsAreNotPublished(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	p := newPublisher(t, js, PublisherConfig{})
	for name, c := range map[string]struct {
		payload []byte
		says    []string
	}{
		"not JSON": {[]byte("{"), []string{"$"}},
		"a bad fact among good ones": {event("e", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{
			map[string]any{"id": "f0", "op": "add", "version": 1}, map[string]any{"id": "f1", "op": "melt", "version": 1},
			map[string]any{"id": "f2", "op": "add", "version": 1, "memory_at": "soon"}}}),
			[]string{"data.facts[1].op", "melt", "data.facts[2].memory_at", "soon"}},
		"one byte too large": {padded(t, "f", projector.DefaultMaxEventBytes+1), []string{"1048577 bytes: want at most 1048576"}},
	} {
		_, err := p.Publish(ctx, c.payload)
		for _, says := range c.says {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: error %v does not say %q", name, err, says)
			}
		}
	}
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 0 {
		t.Errorf("%d messages in the stream, want none", n)
	}
	if _, err := p.Publish(ctx, padded(t, "f", projector.DefaultMaxEventBytes)); err != nil {
		t.Errorf("an event of the largest size: %v", err)
	}
}

func TestPublishBatch(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	p := newPublisher(t, js, PublisherConfig{MaxPending: 8})
	events := numbered(userA, 100)
	events[17] = []byte("bad")
	events[40] = events[39] // the same event twice
	results, err := p.PublishBatch(ctx, slices.Values(events))
	if err == nil || !strings.Contains(err.Error(), "1 of 100 events are not stored") || !strings.Contains(err.Error(), "$") {
		t.Errorf("error %v, want one of 100, with the reason", err)
	}
	if len(results) != 100 {
		t.Fatalf("%d results, want 100", len(results))
	}
	seen := map[uint64]int{}
	for i, r := range results {
		switch {
		case i == 17:
			if r.Err == nil || r.Sequence != 0 {
				t.Errorf("result of the bad event %+v", r)
			}
			continue
		case r.Err != nil || r.EventID == "" || r.Duplicate != (i == 40):
			t.Errorf("result %d: %+v", i, r)
		}
		seen[r.Sequence]++
	}
	if len(seen) != 98 || seen[results[39].Sequence] != 2 { // 100 less the bad one and the repeat
		t.Errorf("%d distinct sequences, want 98", len(seen))
	}
	if results, err := p.PublishBatch(ctx, slices.Values([][]byte{})); err != nil || len(results) != 0 {
		t.Errorf("no events: %v, %v", results, err)
	}
}

func TestPublishWithoutAStream(t *testing.T) {
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	p := newPublisher(t, js, PublisherConfig{Attempts: 2, RetryWait: time.Millisecond})
	if _, err := p.Publish(testContext(t), factsEvent("e", userA, 1, "f")); !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("got %v, want that no stream answers", err)
	}
	results, err := p.PublishBatch(testContext(t), slices.Values(numbered(userA, 3)))
	if !errors.Is(err, jetstream.ErrNoStreamResponse) || len(results) != 3 {
		t.Errorf("got %d results, %v, want that no stream answers", len(results), err)
	}
}

func TestPublishWhileTheServerIsAway(t *testing.T) {
	addr, dir := freeAddress(t), t.TempDir()
	server := startServer(t, dir, addr)
	js := connectTo(t, server.ClientURL())
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	p := newPublisher(t, js, PublisherConfig{AckTimeout: 50 * time.Millisecond, Attempts: 400, RetryWait: 10 * time.Millisecond})
	if err := server.Shutdown(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the loss is noticed", func() bool { return !js.Conn().IsConnected() })
	type outcome struct {
		results []Result
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		results, err := p.PublishBatch(testContext(t), slices.Values(numbered(userA, 20)))
		done <- outcome{results, err}
	}()
	sleep(t.Context(), 100*time.Millisecond) // some attempts fail; what they sent waits in the client and is stored later
	startServer(t, dir, addr)
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 20 {
		t.Errorf("%d messages in the stream, want 20: repeats carry the same id", n)
	}
}

func TestPublishGivesUp(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	p := newPublisher(t, js, PublisherConfig{AckTimeout: 20 * time.Millisecond, Attempts: 2, RetryWait: time.Millisecond})
	start := time.Now()
	if _, err := p.Publish(testContext(t), factsEvent("e", userA, 1, "f")); err == nil || !strings.Contains(err.Error(), "attempt 2") {
		t.Errorf("got %v, want an error of the second attempt", err)
	}
	results, err := p.PublishBatch(testContext(t), slices.Values(numbered(userA, 500)))
	if err == nil || !strings.Contains(err.Error(), "500 of 500") || len(results) != 500 {
		t.Errorf("got %d results, %v", len(results), err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s, want about three times 20ms: events are not sent again one by one to a server that is not there", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Publish(ctx, factsEvent("e", userA, 1, "f")); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
	if _, err := p.PublishBatch(ctx, slices.Values(numbered(userA, 5))); !errors.Is(err, context.Canceled) {
		t.Errorf("a batch under a cancelled context: %v", err)
	}
}

func TestErrorsOfPublishing(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nats.ErrTimeout, true}, {nats.ErrNoResponders, true}, {jetstream.ErrAsyncPublishTimeout, true}, {nats.ErrDisconnected, true},
		{context.DeadlineExceeded, true}, {&jetstream.APIError{Code: 503}, true}, {fmt.Errorf("nats: %w", &jetstream.APIError{Code: 503}), true},
		{&jetstream.APIError{Code: 400}, false}, {nats.ErrMaxPayload, false}, {nats.ErrConnectionClosed, false},
	} {
		if got := passing(c.err); got != c.want {
			t.Errorf("%v is passing: %t, want %t", c.err, got, c.want)
		}
	}
}

func TestPublisherConfigNamesAllViolations(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	_, err := NewPublisher(js, PublisherConfig{Limits: projector.Limits{MaxFacts: -1}, AckTimeout: -1, Attempts: -1, RetryWait: -1, MaxPending: 4001})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"max facts -1", "ack timeout -1ns", "attempts -1", "retry wait -1ns", "max pending 4001: want 1 to 4000"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}
