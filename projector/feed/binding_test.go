package feed

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// boundFeed returns a feed of a graph with its mark, whose waits for other services are short: a consumer counts as unused
// after 540 ms of silence.
func boundFeed(t testing.TB, js jetstream.JetStream, g *testGraph, id string) *Feed {
	t.Helper()
	return boundFeedWith(t, js, g, id, fastConfig())
}

func boundFeedWith(t testing.TB, js jetstream.JetStream, g *testGraph, id string, cfg Config) *Feed {
	t.Helper()
	if cfg.GraphID = id; id != "" {
		cfg.Mark = g.store.mark(t)
	}
	f := newFeed(t, js, g, cfg)
	f.env.pullWait = 500 * time.Millisecond
	return f
}

func consumerOf(t testing.TB, js jetstream.JetStream) *jetstream.ConsumerInfo {
	t.Helper()
	consumer, err := js.Consumer(testContext(t), EventStream, Durable)
	if err != nil {
		t.Fatal(err)
	}
	return consumer.CachedInfo()
}

// feedOnce runs a feed until everything is settled.
func feedOnce(t testing.TB, f *Feed) {
	t.Helper()
	r := run(t, f)
	r.applied(t)
	r.stop(t)
}

func refused(f *running) *ForeignConsumerError {
	var foreign *ForeignConsumerError
	if s := f.Status(); s.Attached || s.Failures == 0 || !errors.As(s.LastError, &foreign) {
		return nil
	}
	return foreign
}

func TestNewGraphGetsTheWholeStream(t *testing.T) {
	js, log := newJS(t), &lines{}
	publish(t, js, numbered(userA, 20)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-1"))

	g := newGraph(t) // the file was deleted
	f := boundFeed(t, js, g, "graph-2")
	var reasons []string
	f.log = slog.New(log)
	f.cfg.Hooks.Rebuilt = func(reason string) { reasons = append(reasons, reason) }
	r := run(t, f)
	r.applied(t) // asks about the consumer of the first graph while it waits
	g.wantFacts(t, userA, 20)
	wantSettled(t, js)
	if s := r.Status(); s.Applied != 20 || s.LastApplied != 20 || s.Rebuilt != 1 || s.Failures != 0 {
		t.Errorf("status %+v: want 20 applied after one rebuild", s)
	}
	r.stop(t)
	if len(reasons) != 1 || !strings.Contains(reasons[0], "another graph") || log.count("WARN consumer fed another graph") != 1 {
		t.Errorf("reasons %q, log %q: want that the consumer fed another graph, once", reasons, log.text)
	}
}

func TestSameGraphGoesOn(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	before := consumerOf(t, js)
	publish(t, js, numbered("bob", 3)...)
	f := boundFeed(t, js, g, "graph-1")
	feedOnce(t, f)
	if s := f.Status(); s.Applied != 3 || s.Rebuilt != 0 || !consumerOf(t, js).Created.Equal(before.Created) {
		t.Errorf("status %+v: want the three new events from the same consumer", s)
	}
}

func TestUnboundConsumers(t *testing.T) {
	for name, c := range map[string]struct {
		used        bool
		wantRebuilt uint64
	}{
		"never used is adopted": {false, 0},
		"used is made again":    {true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js, g := newJS(t), newGraph(t)
			if _, err := js.CreateConsumer(testContext(t), EventStream, newFeed(t, js, g, fastConfig()).consumerConfig()); err != nil {
				t.Fatal(err)
			}
			publish(t, js, numbered(userA, 5)...)
			if c.used {
				feedOnce(t, boundFeed(t, js, newGraph(t), ""))
			}
			f := boundFeed(t, js, g, "graph-1")
			feedOnce(t, f)
			g.wantFacts(t, userA, 5)
			if got := consumerOf(t, js).Config.Metadata[graphKey]; got != "graph-1" || f.Status().Rebuilt != c.wantRebuilt {
				t.Errorf("consumer of graph %q after %d rebuilds, want graph-1 after %d", got, f.Status().Rebuilt, c.wantRebuilt)
			}
		})
	}
}

func TestFeedWithoutAGraphIDLeavesTheBindingAlone(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 1)...)
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	f := boundFeed(t, js, g, "")
	f.cfg.AckWait = 3 * time.Second // the consumer is updated
	publish(t, js, numbered(userA, 2)...)
	feedOnce(t, f)
	if got := consumerOf(t, js).Config; got.Metadata[graphKey] != "graph-1" || got.AckWait != 3*time.Second {
		t.Errorf("consumer %+v: want graph-1 and the new ack wait", got)
	}
}

func TestSecondServiceIsRefused(t *testing.T) {
	ctx, js, first, second := testContext(t), newJS(t), newGraph(t), newGraph(t)
	a := run(t, boundFeed(t, js, first, "graph-1"))
	a.attached(t)
	b := run(t, boundFeed(t, js, second, "graph-2"))
	eventually(t, "the second service is refused", func() bool { return refused(b) != nil })
	if got, want := *refused(b), (ForeignConsumerError{Consumer: Durable, Found: "graph-1", Own: "graph-2"}); got != want {
		t.Errorf("refused with %+v, want %+v", got, want)
	}
	publish(t, js, numbered(userA, 30)...)
	a.applied(t)
	first.wantFacts(t, userA, 30)
	second.wantFacts(t, userA, 0)

	a.stop(t)
	before := b.Status().Failures
	eventually(t, "the second service has tried again without taking what may be restarting", func() bool { return b.Status().Failures > before+3 })
	if refused(b) == nil || consumerOf(t, js).Config.Metadata[graphKey] != "graph-1" {
		t.Errorf("status %+v: want the consumer left alone", b.Status())
	}
	if s := b.Status(); s.LastApplied != 0 {
		t.Errorf("last applied %d by a service that has applied nothing", s.LastApplied)
	}
	if err := js.DeleteConsumer(ctx, EventStream, Durable); err != nil { // the operator decides
		t.Fatal(err)
	}
	b.applied(t)
	second.wantFacts(t, userA, 30)
	if s := b.Status(); s.Failures != 0 || s.LastApplied != 30 {
		t.Errorf("status %+v: want 30 applied and no failure", s)
	}
	b.stop(t)

	third := newGraph(t) // a new start
	feedOnce(t, boundFeed(t, js, third, "graph-3"))
	third.wantFacts(t, userA, 30)
}

// TestPullOfAKilledProcessIsNobody leaves a pull open, as a process that was killed does.
func TestPullOfAKilledProcessIsNobody(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 3)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-1"))
	wantSettled(t, js)
	killed, err := js.Consumer(testContext(t), EventStream, Durable)
	if err != nil {
		t.Fatal(err)
	}
	pull, err := killed.Fetch(1, jetstream.FetchMaxWait(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	f := boundFeed(t, js, g, "graph-2")
	feedOnce(t, f)
	g.wantFacts(t, userA, 3)
	if s := f.Status(); s.Rebuilt != 1 || s.LastError != nil {
		t.Errorf("status %+v: want one rebuild and no error", s)
	}
	for range pull.Messages() {
		t.Error("the killed process got a message")
	}
}

// TestFormerGraphIsNotWatched: a pull that was left open a moment ago does not hold up the graph that took the place of the
// one it was for. The watch would last for a second here, and the test's clock is not asked: the pull is still open.
func TestFormerGraphIsNotWatched(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 3)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-1"))
	killed, err := js.Consumer(testContext(t), EventStream, Durable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := killed.Fetch(1, jetstream.FetchMaxWait(time.Minute)); err != nil {
		t.Fatal(err)
	}
	f := boundFeed(t, js, g, "graph-2")
	f.cfg.FormerIDs = []string{"graph-0", "graph-1"}
	feedOnce(t, f)
	g.wantFacts(t, userA, 3)
	if s := f.Status(); s.Rebuilt != 1 || s.LastError != nil {
		t.Errorf("status %+v: want one rebuild and no error", s)
	}
}

// TestTwoServicesAtTheSameTime: whoever comes first has it all, whatever stands there.
func TestTwoServicesAtTheSameTime(t *testing.T) {
	for name, there := range map[string]bool{"without a consumer": false, "with one that was never used": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js, graphs := newJS(t), []*testGraph{newGraph(t), newGraph(t)}
			if there {
				if _, err := js.CreateConsumer(testContext(t), EventStream, newFeed(t, js, graphs[0], fastConfig()).consumerConfig()); err != nil {
					t.Fatal(err)
				}
			}
			publish(t, js, numbered(userA, 30)...)
			feeds := []*running{run(t, boundFeed(t, js, graphs[0], "graph-1")), run(t, boundFeed(t, js, graphs[1], "graph-2"))}
			loser := -1
			eventually(t, "one of them is refused", func() bool {
				for i, f := range feeds {
					if refused(f) != nil {
						loser = i
					}
				}
				return loser >= 0
			})
			publish(t, js, numbered("bob", 30)...)
			feeds[1-loser].applied(t)
			graphs[1-loser].wantFacts(t, userA, 30)
			graphs[1-loser].wantFacts(t, "bob", 30)
			if refused(feeds[loser]) == nil || feeds[1-loser].Status().Rebuilt > 1 {
				t.Errorf("status %+v and %+v: want the one refused, the other well", feeds[loser].Status(), feeds[1-loser].Status())
			}
		})
	}
}

// TestConsumerThatBecomesAnotherGraphs changes hands under a feed without a pull noticing.
func TestConsumerThatBecomesAnotherGraphs(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	f := boundFeed(t, js, g, "graph-1")
	f.cfg.StatusInterval = 20 * time.Millisecond
	publish(t, js, numbered(userA, 3)...)
	r := run(t, f)
	r.applied(t)
	other := f.consumerConfig()
	other.Metadata = map[string]string{graphKey: "graph-2"}
	if _, err := js.UpdateConsumer(ctx, EventStream, other); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is made again for the graph", func() bool { return r.Status().Rebuilt == 1 })
	publish(t, js, numbered("bob", 3)...)
	r.applied(t)
	g.wantFacts(t, "bob", 3)
	if got := consumerOf(t, js).Config.Metadata[graphKey]; got != "graph-1" {
		t.Errorf("consumer of graph %q, want graph-1", got)
	}
}

func TestForeignConsumerErrorSaysWhatToDo(t *testing.T) {
	for found, want := range map[string]string{"a-1": "feeds graph a-1 and", "": "feeds a graph without an id and"} {
		err := &ForeignConsumerError{Consumer: "c", Found: found, Own: "b-2"}
		for _, want := range []string{"consumer c", want, "graph of this service is b-2", "stop the other one"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
}
