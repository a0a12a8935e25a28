package feed

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestServerIsDownAtTheStart(t *testing.T) {
	addr, dir, g := freeAddress(t), t.TempDir(), newGraph(t)
	start := time.Now()
	js := connectTo(t, "nats://"+addr)
	f := run(t, newFeed(t, js, g, fastConfig()))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("connect and new took %s without a server", took)
	}
	eventually(t, "the status tells of it", func() bool {
		s := f.Status()
		return !s.Connected && !s.Attached && s.Failures > 0 && s.LastError != nil && strings.Contains(s.LastError.Error(), "NATS does not answer")
	})
	startServer(t, dir, addr)
	f.attached(t) // has made the streams
	publish(t, js, numbered(userA, 5)...)
	f.applied(t)
	g.wantFacts(t, userA, 5)
	if s := f.Status(); s.Failures != 0 || !s.Connected {
		t.Errorf("status %+v after the server came up", s)
	}
}

func TestStopWhileTheServerIsDown(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	eventually(t, "it waits for the server", func() bool { return f.Status().Failures > 0 })
	f.stop(t)
}

func TestServerRestartsInTheMiddle(t *testing.T) {
	addr, dir, g := freeAddress(t), t.TempDir(), newGraph(t)
	server := startServer(t, dir, addr)
	js := connectTo(t, server.ClientURL())
	f := run(t, newFeed(t, js, g, fastConfig()))
	f.attached(t)
	publish(t, js, numbered(userA, 50)...)
	f.applied(t)
	for i := range 3 {
		if err := server.Shutdown(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the loss is noticed", func() bool { return !f.Status().Connected })
		server = startServer(t, dir, addr)
		eventually(t, "the connection is back", func() bool { return js.Conn().IsConnected() })
		publish(t, js, numbered([]string{"bob", "cat", "dan"}[i], 20)...)
		f.applied(t)
	}
	g.wantFacts(t, userA, 50)
	for _, user := range []string{"bob", "cat", "dan"} {
		g.wantFacts(t, user, 20)
	}
	wantSettled(t, js)
	if s := f.Status(); s.Applied < 110 || s.Dead != 0 || s.LastApplied != 110 {
		t.Errorf("status %+v: want 110 applied up to sequence 110", s)
	}
}

// TestServerStopsDuringACommit is about acknowledgements that cannot be sent: the messages come again.
func TestServerStopsDuringACommit(t *testing.T) {
	addr, dir, g := freeAddress(t), t.TempDir(), newGraph(t)
	server := startServer(t, dir, addr)
	js := connectTo(t, server.ClientURL())
	decide, waiting, release := held()
	g.faults.set(decide)
	f := run(t, newFeed(t, js, g, fastConfig()))
	f.attached(t)
	publish(t, js, numbered(userA, 10)...)
	<-waiting
	if err := server.Shutdown(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the loss is noticed", func() bool { return !js.Conn().IsConnected() })
	g.faults.none()
	close(release)
	startServer(t, dir, addr)
	eventually(t, "the connection is back", func() bool { return js.Conn().IsConnected() })
	f.applied(t)
	g.wantFacts(t, userA, 10)
	wantSettled(t, js)
	if letters := deadLetters(t, js); len(letters) != 0 {
		t.Errorf("dead letters %+v", letters)
	}
}

func TestConnectionIsClosedByItsOwner(t *testing.T) {
	js := newJS(t)
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	f.attached(t)
	js.Conn().Close()
	f.ended = true
	if err := <-f.result; !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("run returned %v, want that the connection was closed", err)
	}
	f.cancel()
}

func TestDeletedConsumerIsMadeAgain(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	var reasons []string
	cfg := fastConfig()
	cfg.StatusInterval = 50 * time.Millisecond
	cfg.Hooks.Rebuilt = func(reason string) { reasons = append(reasons, reason) }
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 5)...)
	f.applied(t)
	digest := g.Digest().String()
	if err := js.DeleteConsumer(ctx, EventStream, Durable); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stream is projected again", func() bool { return f.Status().Applied == 10 })
	if g.Digest().String() != digest {
		t.Error("projecting the stream again changed the graph")
	}
	publish(t, js, numbered("bob", 5)...)
	f.applied(t)
	g.wantFacts(t, "bob", 5)
	if s := f.Status(); s.Rebuilt != 1 || s.LastApplied != 10 {
		t.Errorf("status %+v: want it rebuilt once, at sequence 10", s)
	}
	f.stop(t)
	if len(reasons) != 1 || !strings.Contains(reasons[0], "deleted") {
		t.Errorf("reasons %q, want one that says that it was deleted", reasons)
	}
}

func TestDeletedStreamIsMadeAgain(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	cfg := fastConfig()
	cfg.StatusInterval, cfg.GraphID = 50*time.Millisecond, "graph"
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 5)...)
	f.applied(t)
	if s := f.Status(); s.EarlierLog != "" {
		t.Errorf("earlier log %q of a stream that was never another one", s.EarlierLog)
	}
	if err := js.DeleteStream(ctx, EventStream); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stream is there", func() bool {
		_, err := js.Stream(ctx, EventStream)
		return err == nil && f.Status().LastApplied == 0 // sequences of the new stream
	})
	publish(t, js, numbered("bob", 3)...)
	f.applied(t)
	g.wantFacts(t, "bob", 3)
	if s := f.Status(); s.LastApplied != 3 || !strings.HasPrefix(s.EarlierLog, EventStream+"@") {
		t.Errorf("last applied %d, earlier log %q; want 3 of the new stream, and the old one named", s.LastApplied, s.EarlierLog)
	}
}

func TestConsumerOfOtherSettingsIsUpdated(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: Durable, AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 2, AckWait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	cfg := fastConfig()
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 1)...)
	f.applied(t)
	consumer, err := stream.Consumer(ctx, Durable)
	if err != nil {
		t.Fatal(err)
	}
	got := consumer.CachedInfo().Config
	if got.MaxDeliver != -1 || got.AckWait != cfg.AckWait || got.MaxAckPending != 4*DefaultBatchSize || got.FilterSubject != EventSubjects {
		t.Errorf("consumer %+v: want the feed's settings", got)
	}
}

// TestStalledConsumerIsTakenUpAgain lets the server claim that it has messages which it does not deliver: once, over several
// attempts, and once more later.
func TestStalledConsumerIsTakenUpAgain(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	log := &lines{}
	cfg := fastConfig()
	cfg.StatusInterval, cfg.StallAfter, cfg.Logger = 10*time.Millisecond, 50*time.Millisecond, slog.New(log)
	f := newFeed(t, js, g, cfg)
	f.env.pullWait = 20 * time.Millisecond // several empty pulls in an episode
	var claims atomic.Bool
	f.env.info = func(ctx context.Context) (*jetstream.ConsumerInfo, error) {
		info, err := f.consumerInfo(ctx)
		if err == nil && claims.Load() {
			info.NumPending += 7
		}
		return info, err
	}
	r := run(t, f)
	eventually(t, "all is well", func() bool { return !f.Status().LastSuccess.IsZero() })
	created := consumerOf(t, js).Created
	for episode := 1; episode <= 2; episode++ {
		before := f.Status().Stalls
		claims.Store(true)
		eventually(t, "taken up again twice", func() bool { return f.Status().Stalls >= before+2 })
		eventually(t, "the status says so", func() bool {
			s := f.Status()
			return s.Failures > 0 && s.LastError != nil && strings.Contains(s.LastError.Error(), "7 messages pending and none delivered")
		})
		s := f.Status()
		if s.StalledSince.IsZero() || s.LastSuccess.After(s.StalledSince) {
			t.Errorf("status %+v: want a stall, and no success since", s)
		}
		claims.Store(false)
		eventually(t, "it is over", func() bool { s := f.Status(); return s.StalledSince.IsZero() && s.Failures == 0 })
		if n := log.count("WARN the server has messages and delivers none"); n != episode {
			t.Errorf("%d lines after %d episodes", n, episode)
		}
	}
	publish(t, js, numbered(userA, 3)...)
	r.applied(t)
	g.wantFacts(t, userA, 3)
	if !consumerOf(t, js).Created.Equal(created) {
		t.Error("the consumer was made again: it was there")
	}
	if n := log.count("ERROR"); n != 0 {
		t.Errorf("%d errors logged beside the stalls", n)
	}
}

// TestDeliveryEndsAStall: messages that come are the proof.
func TestDeliveryEndsAStall(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	cfg := fastConfig()
	cfg.StatusInterval, cfg.StallAfter = 10*time.Millisecond, 50*time.Millisecond
	f := newFeed(t, js, g, cfg)
	f.env.info = func(ctx context.Context) (*jetstream.ConsumerInfo, error) {
		info, err := f.consumerInfo(ctx)
		if err == nil && f.progress.position() == 0 {
			info.NumPending += 7
		}
		return info, err
	}
	r := run(t, f)
	eventually(t, "stalled", func() bool { return !f.Status().StalledSince.IsZero() })
	publish(t, js, numbered(userA, 1)...)
	r.applied(t)
	eventually(t, "over", func() bool { s := f.Status(); return s.StalledSince.IsZero() && s.Failures == 0 })
}

func TestStalled(t *testing.T) {
	f := &Feed{cfg: Config{AckWait: 30 * time.Second, StatusInterval: 5 * time.Second, StallAfter: 40 * time.Second, RetryMax: 15 * time.Second, MaxAckPending: 512}}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		idle time.Duration // negative: at work
		info jetstream.ConsumerInfo
		want string // prefix; empty: not stalled
	}{
		// pending messages: 30 s + 2 * 5 s; unsettled ones may wait for their retry, 15 s more
		"pending for 41s":             {41 * time.Second, jetstream.ConsumerInfo{NumPending: 7}, "7 messages pending"},
		"pending for 40s":             {40 * time.Second, jetstream.ConsumerInfo{NumPending: 7}, ""},
		"at work":                     {-1, jetstream.ConsumerInfo{NumPending: 7}, ""},
		"nothing pending":             {time.Hour, jetstream.ConsumerInfo{}, ""},
		"paused by its operator":      {time.Hour, jetstream.ConsumerInfo{NumPending: 7, NumAckPending: 1, Paused: true}, ""},
		"no room for more, for 41s":   {41 * time.Second, jetstream.ConsumerInfo{NumPending: 7, NumAckPending: 512}, ""},
		"unsettled for 55s":           {55 * time.Second, jetstream.ConsumerInfo{NumAckPending: 3}, ""},
		"unsettled for 56s":           {56 * time.Second, jetstream.ConsumerInfo{NumAckPending: 3}, "3 messages unsettled"},
		"no room for more, for 1m30s": {90 * time.Second, jetstream.ConsumerInfo{NumPending: 7, NumAckPending: 512}, "512 messages unsettled"},
	} {
		f.idle.Store(0)
		if c.idle >= 0 {
			f.idle.Store(now.Add(-c.idle).UnixNano())
		}
		if got := f.stalled(&c.info, now); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestInProcessServer(t *testing.T) {
	s, err := natsserver.Start(natsserver.Config{Dir: t.TempDir(), Logger: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown() }()
	nc, err := Connect(testContext(t), "", ConnectConfig{InProcess: s, Logger: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, g := newJetStream(t, nc), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	f.attached(t)
	publish(t, js, numbered(userA, 5)...)
	f.applied(t)
	g.wantFacts(t, userA, 5)
	f.stop(t)
}
