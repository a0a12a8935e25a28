package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc/panics"
)

// netConfig looks at advisories often.
func netConfig() Config {
	cfg := fastConfig()
	cfg.StatusInterval = 20 * time.Millisecond
	return cfg
}

// netted waits until the advisory stream is there.
func (r *running) netted(t testing.TB, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	var stream jetstream.Stream
	eventually(t, "advisories are captured", func() (ok bool) {
		var err error
		stream, err = js.Stream(testContext(t), AdvisoryStream)
		return err == nil && r.Status().AdvisoryTrouble == nil
	})
	return stream
}

// words returns how many advisories wait.
func words(t testing.TB, stream jetstream.Stream) int {
	t.Helper()
	info, err := stream.Info(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return int(info.State.Msgs)
}

// limited gives the consumer a limit of deliveries, behind the feed's back.
func limited(t testing.TB, js jetstream.JetStream, deliveries int) jetstream.Consumer {
	t.Helper()
	cfg := consumerOf(t, js).Config
	cfg.MaxDeliver, cfg.AckWait = deliveries, 100*time.Millisecond
	consumer, err := js.UpdateConsumer(testContext(t), EventStream, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return consumer
}

// exhaust takes messages from a limited consumer and lets the server give up on them.
func exhaust(t testing.TB, js jetstream.JetStream, advisories jetstream.Stream, n int) {
	t.Helper()
	before := words(t, advisories)
	batch, err := limited(t, js, 1).Fetch(n, jetstream.FetchMaxWait(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for range batch.Messages() {
		taken++
	}
	if taken != n {
		t.Fatalf("took %d messages, want %d: %v", taken, n, batch.Error())
	}
	eventually(t, "the server gives up", func() bool {
		if words(t, advisories) == before+n {
			return true
		}
		consumer, err := js.Consumer(testContext(t), EventStream, Durable)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = consumer.Fetch(1, jetstream.FetchMaxWait(100*time.Millisecond)) // it gives up when it would deliver again
		return false
	})
}

// TestEventsThatTheServerGaveUpOnAreDeadLettered lets events run out of deliveries while no feed runs: the process that had
// them has died. One of them is deleted from the stream, one has a dead letter already.
func TestEventsThatTheServerGaveUpOnAreDeadLettered(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	first := run(t, newFeed(t, js, g, netConfig()))
	advisories := first.netted(t, js)
	first.stop(t)
	publish(t, js, numbered(userA, 3)...)
	exhaust(t, js, advisories, 3)
	events, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := events.DeleteMsg(ctx, 3); err != nil {
		t.Fatal(err)
	}
	storeLetter(t, js, userA, ReasonPlan, 2) // stored before the process died

	f := run(t, newFeed(t, js, g, netConfig()))
	eventually(t, "all words are looked at", func() bool { return words(t, advisories) == 0 })
	d := newDead(t, js)
	letters := map[uint64]Letter{}
	for _, number := range numbers(t, d, DeadQuery{Oldest: true}) {
		l, err := d.Get(ctx, number)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := letters[l.Sequence]; twice || l.Foreign != nil {
			t.Errorf("letter %+v: twice or foreign", l)
		}
		letters[l.Sequence] = l
	}
	if len(letters) != 3 || letters[2].Reason != ReasonPlan {
		t.Fatalf("dead letters %+v, want one of each event", letters)
	}
	if l := letters[1]; l.Reason != ReasonExhausted || l.EventID != "ada-0" || l.UserID != userA || l.Deliveries != 1 || len(l.Payload) == 0 || !strings.Contains(l.LastError, "gave up after 1 deliveries") {
		t.Errorf("dead letter %+v", l)
	}
	if l := letters[3]; l.Reason != ReasonLost || len(l.Payload) != 0 || !strings.Contains(l.LastError, "does not have it any more") || l.LastTime.IsZero() {
		t.Errorf("dead letter %+v", l)
	}
	if _, err := d.Replay(ctx, letters[3].Number, nil); !errors.Is(err, ErrNotReplayable) || !strings.Contains(err.Error(), "no payload") {
		t.Errorf("replay of what is lost: %v", err)
	}
	// And back: the consumer has its settings again, the event is replayed.
	if s := f.Status(); s.Caught != 2 || s.Dead != 2 {
		t.Errorf("status %+v, want 2 caught", s)
	}
	r, err := d.Replay(ctx, letters[1].Number, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WaitApplied(ctx, r.Sequence); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 1)
	if info := consumerOf(t, js); info.Config.MaxDeliver != -1 {
		t.Errorf("limit of deliveries %d is left", info.Config.MaxDeliver)
	}
}

// TestLimitUnderTheRunningFeed lets the store be down until the server gives up.
func TestLimitUnderTheRunningFeed(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, netConfig()))
	f.netted(t, js)
	limited(t, js, 2)
	g.faults.set(down)
	publish(t, js, numbered(userA, 1)...)
	eventually(t, "it is dead-lettered", func() bool { return len(numbers(t, newDead(t, js), DeadQuery{})) == 1 })
	g.faults.none()
	publish(t, js, numbered("bob", 1)...)
	f.applied(t)
	g.wantFacts(t, "bob", 1)
	if l := deadLetters(t, js)[0]; l.Reason != ReasonExhausted || l.Sequence != 1 || !strings.Contains(l.FirstError, errStoreDown.Error()) {
		t.Errorf("dead letter %+v: want the store's error to be the first", l)
	}
}

// TestTerminatedByOthers: what somebody else terminates is caught, what the feed terminates is passed over.
func TestTerminatedByOthers(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, netConfig()))
	advisories := f.netted(t, js)
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	f.applied(t)
	f.stop(t)
	if n := words(t, advisories); n > 1 {
		t.Fatalf("%d words about one event", n)
	}
	publish(t, js, numbered(userA, 1)...)
	consumer, err := js.Consumer(testContext(t), EventStream, Durable)
	if err != nil {
		t.Fatal(err)
	}
	msg, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	before := words(t, advisories)
	if err := msg.TermWithReason("cleaning up"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server says so", func() bool { return words(t, advisories) > before })
	run(t, newFeed(t, js, g, netConfig()))
	eventually(t, "all words are looked at", func() bool { return words(t, advisories) == 0 })
	letters := deadLetters(t, js)
	if len(letters) != 2 || letters[0].Reason != ReasonBadEvent || letters[1].Reason != ReasonTerminated || !strings.Contains(letters[1].LastError, `"cleaning up"`) {
		t.Errorf("dead letters %+v, want the feed's own and the one that was terminated", letters)
	}
}

// TestForgedAdvisories: whoever may publish such words must not make dead letters of what is none of theirs.
func TestForgedAdvisories(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, netConfig()))
	advisories := f.netted(t, js)
	publish(t, js, numbered(userA, 1)...)
	f.applied(t)
	for _, word := range []string{
		``, `{`, `null`, `[]`, `"x"`, `{"stream_seq": "1"}`, `{"stream_seq": -1}`,
		`{"stream": "MEMORY_EVENTS", "consumer": "kith-projector"}`,
		`{"stream": "MEMORY_EVENTS", "consumer": "kith-projector", "stream_seq": 99}`,
		`{"stream": "OTHER", "consumer": "kith-projector", "stream_seq": 1}`,
		`{"stream": "MEMORY_EVENTS", "consumer": "other", "stream_seq": 1}`,
	} {
		publishRaw(t, js, exhaustedSubject, []byte(word), nil)
	}
	eventually(t, "all words are looked at", func() bool { return words(t, advisories) == 0 })
	if letters := deadLetters(t, js); len(letters) != 0 {
		t.Errorf("dead letters %+v of forged words", letters)
	}
}

// TestStrayWaitsForTheDeadLetters: without their stream nothing is forgotten.
func TestStrayWaitsForTheDeadLetters(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	cfg := netConfig()
	cfg.AckWait = 200 * time.Millisecond // until a stray is handed over again
	f := run(t, newFeed(t, js, g, cfg))
	advisories := f.netted(t, js)
	f.stop(t)
	publish(t, js, numbered(userA, 1)...)
	exhaust(t, js, advisories, 1)
	if err := js.DeleteStream(ctx, DeadStream); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "BLOCKER", Subjects: []string{DeadSubjects}}); err != nil {
		t.Fatal(err)
	}
	f = run(t, newFeed(t, js, g, cfg))
	eventually(t, "the trouble shows", func() bool { return f.Status().AdvisoryTrouble != nil })
	if n := words(t, advisories); n != 1 {
		t.Errorf("%d words, want the one that waits", n)
	}
	if err := js.DeleteStream(ctx, "BLOCKER"); err != nil {
		t.Fatal(err)
	}
	if err := EnsureStreams(ctx, js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	f.stop(t)
	run(t, newFeed(t, js, g, cfg))
	eventually(t, "it is looked at", func() bool { return words(t, advisories) == 0 })
	if letters := deadLetters(t, js); len(letters) != 1 || letters[0].Reason != ReasonExhausted {
		t.Errorf("dead letters %+v", letters)
	}
}

// TestWithoutTheRightToCapture: the feed works, and says what it lacks.
func TestWithoutTheRightToCapture(t *testing.T) {
	ns, err := natsd.NewServer(&natsd.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		Users: []*natsd.User{{Username: "kith", Password: "p", Permissions: &natsd.Permissions{
			Publish: &natsd.SubjectPermission{Deny: []string{"$JS.API.STREAM.*." + AdvisoryStream, "$JS.API.STREAM.*.*." + AdvisoryStream}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	js := connectTo(t, strings.Replace(ns.ClientURL(), "nats://", "nats://kith:p@", 1))
	g, log := newGraph(t), &lines{}
	cfg := netConfig()
	cfg.Logger = slog.New(log)
	f := run(t, newFeed(t, js, g, cfg))
	eventually(t, "it is said", func() bool { return f.Status().AdvisoryTrouble != nil })
	if err := f.Status().AdvisoryTrouble; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "permitted") {
		t.Errorf("trouble %v, want it to speak of permission", err)
	}
	publish(t, js, numbered(userA, 3)...)
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	f.applied(t)
	g.wantFacts(t, userA, 3)
	if s := f.Status(); s.Failures != 0 || s.Dead != 1 {
		t.Errorf("status %+v: want all else to work", s)
	}
	if n := log.count("WARN what the server gives up on is not heard"); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
}

// TestKilledBetweenDeadLetterAndAnswer: the dead letter is stored, the answer is not sent. The event comes again, and there is
// one dead letter all the same.
func TestKilledBetweenDeadLetterAndAnswer(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	cfg := netConfig()
	cfg.AckWait = 300 * time.Millisecond
	f := newFeed(t, js, g, cfg)
	f.cfg.Hooks.Dead = func(DeadLetter) { panic(errKilled) } // called between the two; nothing of the feed goes on
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	var err error
	if r := panics.Try(func() { err = f.Run(testContext(t)) }); r == nil {
		t.Fatalf("the feed was not killed: %v", err)
	}
	if n := len(deadLetters(t, js)); n != 1 {
		t.Fatalf("%d dead letters when it was killed, want 1", n)
	}
	if info := consumerOf(t, js); info.NumAckPending != 1 {
		t.Fatalf("%d unsettled, want the event", info.NumAckPending)
	}
	r := run(t, newFeed(t, js, g, cfg))
	r.applied(t)
	wantSettled(t, js)
	if letters := deadLetters(t, js); len(letters) != 1 || letters[0].Sequence != 1 {
		t.Errorf("dead letters %+v, want one", letters)
	}
}

var errKilled = errors.New("killed")

// TestEventThatAlwaysFails is poison for the store, and ends among the dead letters with its whole history.
func TestEventThatAlwaysFails(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	tries := 0
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		if !touches(c, "f0") {
			return graphstoretest.Fault{}
		}
		tries++
		return graphstoretest.Fault{Before: fmt.Errorf("try %d", tries)}
	}))
	cfg := netConfig()
	cfg.PoisonAfter = 3
	start := time.Now()
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 1)...)
	for i := 0; f.Status().Dead == 0; i++ {
		if i == 2000 {
			t.Fatalf("never dead-lettered: %+v", f.Status())
		}
		publish(t, js, factsEvent(fmt.Sprint("more", i), "bob", 1, fmt.Sprint("g", i)))
		sleep(t.Context(), 2*time.Millisecond)
	}
	f.applied(t)
	l := deadLetters(t, js)[0]
	if l.Reason != ReasonPoison || !strings.Contains(l.FirstError, "try 1") || !strings.Contains(l.LastError, "failed alone 3 times") || l.Deliveries < 4 {
		t.Errorf("dead letter %+v", l)
	}
	if l.FirstTime.Before(start.Add(-time.Second)) || !l.FirstTime.Before(l.LastTime) || l.LastTime.After(time.Now()) {
		t.Errorf("first error at %s, last at %s, the test began at %s", l.FirstTime, l.LastTime, start)
	}
}

// TestEventTerminatedDuringALook: what the look knows of the event stream is older than the event, whose word must not be
// taken for a forged one.
func TestEventTerminatedDuringALook(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	n := advisoryNet{f: newFeed(t, js, newGraph(t), netConfig()), handed: map[uint64]time.Time{}, dead: deadIndex{js: js}}
	if err := n.ensure(ctx); err != nil {
		t.Fatal(err)
	}
	events, err := n.f.streamInfo(ctx)
	if err != nil || events.State.LastSeq != 0 {
		t.Fatalf("stream ends at %d, %v: want it to be empty", events.State.LastSeq, err)
	}
	publish(t, js, numbered(userA, 1)...)
	for seq, want := range map[uint64]bool{1: false, 2: true} {
		publishRaw(t, js, exhaustedSubject, fmt.Appendf(nil, `{"stream": "MEMORY_EVENTS", "consumer": "kith-projector", "stream_seq": %d, "deliveries": 1}`, seq), nil)
		raw, err := getMessage(ctx, js, AdvisoryStream, 1, ">")
		if err != nil {
			t.Fatal(err)
		}
		stale := *events
		if done, err := n.judge(ctx, raw, &stale); err != nil || done != want {
			t.Errorf("word about event %d: done %t, %v, want %t", seq, done, err, want)
		}
		if err := deleteMessage(ctx, js, AdvisoryStream, raw.Sequence); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case s := <-n.f.strays:
		if s.raw.Sequence != 1 || s.reason != ReasonExhausted || len(s.raw.Data) == 0 {
			t.Errorf("handed over %+v, want event 1 with its payload", s)
		}
	default:
		t.Error("event 1 was not handed over")
	}
}
