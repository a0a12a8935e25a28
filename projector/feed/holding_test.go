package feed

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/nats-io/nats.go/jetstream"
)

func TestAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		floor, delivered uint64
		pending          int
		want             uint64
	}{
		"nothing delivered":                        {0, 0, 0, 0},
		"made to begin after 100":                  {100, 100, 0, 100},
		"all acknowledged":                         {7, 7, 0, 7},
		"three in hand":                            {7, 10, 3, 7},
		"8 waits for its retry, 9 and 10 do not":   {7, 10, 1, 10},
		"8 and 10 wait, 9 does not":                {7, 10, 2, 10},
		"9 was deleted from the stream: who knows": {7, 10, 2, 10},
	} {
		info := &jetstream.ConsumerInfo{NumAckPending: c.pending}
		info.AckFloor.Stream, info.Delivered.Stream = c.floor, c.delivered
		if got := acknowledged(info); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestGraphLacksWhatIsAcknowledgedAboveAnother: the floor of the consumer stands at an event that waits, and the graph has
// gone back before later ones.
func TestGraphLacksWhatIsAcknowledgedAboveAnother(t *testing.T) {
	t.Parallel()
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	cfg := fastConfig()
	cfg.BatchSize = 1
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		if touches(c, "f1") { // sequence 2
			return graphstoretest.Fault{Before: errStoreDown}
		}
		return graphstoretest.Fault{}
	}))
	r := run(t, boundFeedWith(t, js, g, "graph-1", cfg))
	eventually(t, "the others are applied", func() bool { return r.Status().Applied == 4 })
	r.stop(t)
	if got := g.store.mark(t).Seq; got != 1 {
		t.Fatalf("mark %d, want 1: 2 is not in the graph", got)
	}
	eventually(t, "the server has the answers", func() bool {
		info := consumerOf(t, js)
		return info.AckFloor.Stream == 1 && info.NumAckPending == 1 && info.Delivered.Stream == 5
	})
	old := graphOver(t, g.store.after(t, 1))
	f := boundFeed(t, js, old, "graph-1")
	feedOnce(t, f)
	old.wantFacts(t, userA, 5)
	if s := f.Status(); s.Rewound != 1 || s.LastApplied != 5 {
		t.Errorf("status %+v: want one rewind and 5 applied", s)
	}
}

func TestGraphThatWentBackToNothing(t *testing.T) {
	t.Parallel()
	js := newJS(t)
	publish(t, js, numbered(userA, 5)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-1"))
	g := newGraph(t) // the id was stored, and no event
	f := boundFeed(t, js, g, "graph-1")
	feedOnce(t, f)
	g.wantFacts(t, userA, 5)
	if s := f.Status(); s.Rewound != 1 || s.Marked != 5 {
		t.Errorf("status %+v: want one rewind, and the mark at 5", s)
	}
}

// TestGraphOfAVersionWithoutMarks goes on with its consumer, and gets a mark.
func TestGraphOfAVersionWithoutMarks(t *testing.T) {
	t.Parallel()
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	f := boundFeed(t, js, g, "graph-1")
	older := f.consumerConfig()
	older.Metadata = map[string]string{graphKey: "graph-1"}
	if _, err := js.CreateConsumer(ctx, EventStream, older); err != nil {
		t.Fatal(err)
	}
	feedOnce(t, f)

	upgraded := newLedger() // the same graph, as the older version left it
	for _, e := range g.store.entries() {
		if err := upgraded.Apply(ctx, e.changes); err != nil {
			t.Fatal(err)
		}
	}
	g = graphOver(t, upgraded)
	if _, marked := consumerOf(t, js).Config.Metadata[marksKey]; marked || g.store.mark(t) != (graphstore.Mark{}) {
		t.Fatal("want a graph and a consumer without a mark")
	}
	made := consumerOf(t, js).Created
	f = boundFeed(t, js, g, "graph-1")
	feedOnce(t, f)
	if s := f.Status(); s.Rewound != 0 || s.Applied != 0 || g.store.mark(t) != (graphstore.Mark{Log: logOf(t, js), Seq: 5}) {
		t.Errorf("status %+v, mark %+v: want nothing again, and the mark at 5", s, g.store.mark(t))
	}
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	if got := consumerOf(t, js); got.Config.Metadata[marksKey] == "" || !got.Created.Equal(made) {
		t.Errorf("consumer %+v: want the same one, of a graph with marks", got)
	}
}

// TestRewoundConsumerStays: it is recognised at the next start, and given other settings without being made again.
func TestRewoundConsumerStays(t *testing.T) {
	t.Parallel()
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 20)...)
	cfg := smallBatches()
	feedOnce(t, boundFeedWith(t, js, g, "graph-1", cfg))
	g = graphOver(t, g.store.after(t, 1))
	mark := g.store.mark(t).Seq
	feedOnce(t, boundFeedWith(t, js, g, "graph-1", cfg))
	before := consumerOf(t, js)
	if before.Config.OptStartSeq != mark+1 || mark == 0 {
		t.Fatalf("consumer begins at %d, want after the mark %d", before.Config.OptStartSeq, mark)
	}
	publish(t, js, numbered("bob", 3)...)
	cfg.AckWait = 3 * time.Second
	f := boundFeedWith(t, js, g, "graph-1", cfg)
	feedOnce(t, f)
	if s, got := f.Status(), consumerOf(t, js); s.Applied != 3 || s.Rewound != 0 || !got.Created.Equal(before.Created) || got.Config.AckWait != 3*time.Second {
		t.Errorf("status %+v, consumer %+v: want three events from the same one, with the new ack wait", s, got)
	}
}

func TestMarkBeyondTheStream(t *testing.T) {
	t.Parallel()
	js, g, log := newJS(t), newGraph(t), &lines{}
	publish(t, js, numbered(userA, 5)...)
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	old := newLedger() // the stream has lost its end, 4 events of which are in the graph
	if err := old.ApplyMarked(t.Context(), nil, graphstore.Mark{Log: logOf(t, js), Seq: 9}); err != nil {
		t.Fatal(err)
	}
	g = graphOver(t, old)
	f := boundFeed(t, js, g, "graph-1")
	f.log = slog.New(log)
	feedOnce(t, f)
	g.wantFacts(t, userA, 5)
	if s := f.Status(); s.LastApplied != 5 || s.Rewound != 1 || log.count("WARN graph claims events that the stream does not have") != 1 {
		t.Errorf("status %+v, log %q: want all five, and a word", s, log.text)
	}
	if book := g.store.entries(); len(book) != 3 || book[1].mark != (graphstore.Mark{Log: logOf(t, js)}) || book[2].mark.Seq != 5 {
		t.Errorf("transactions %+v: want the mark taken back before the events, and then at 5", book)
	}
}

// TestMarkOfAnotherStream restores a graph that knew an earlier stream, beside a consumer that has gone through this one.
func TestMarkOfAnotherStream(t *testing.T) {
	t.Parallel()
	js := newJS(t)
	publish(t, js, numbered(userA, 5)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-1"))
	old := newLedger()
	if err := old.ApplyMarked(t.Context(), nil, graphstore.Mark{Log: "MEMORY_EVENTS@2020-01-01T00:00:00.000000000Z", Seq: 3}); err != nil {
		t.Fatal(err)
	}
	g := graphOver(t, old)
	f := boundFeed(t, js, g, "graph-1")
	feedOnce(t, f)
	g.wantFacts(t, userA, 5)
	if got := g.store.mark(t); got != (graphstore.Mark{Log: logOf(t, js), Seq: 5}) || f.Status().Rewound != 1 {
		t.Errorf("mark %+v after %d rewinds, want 5 of this stream after one", got, f.Status().Rewound)
	}
}

// TestConsumerOfAnotherGraphBeginsAtTheMark moves a server back to a graph that it has fed before.
func TestConsumerOfAnotherGraphBeginsAtTheMark(t *testing.T) {
	t.Parallel()
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	publish(t, js, numbered("bob", 3)...)
	feedOnce(t, boundFeed(t, js, newGraph(t), "graph-2"))
	f := boundFeed(t, js, g, "graph-1")
	feedOnce(t, f)
	g.wantFacts(t, "bob", 3)
	if s := f.Status(); s.Applied != 3 || s.Rebuilt != 1 || s.Rewound != 0 {
		t.Errorf("status %+v: want the three that came meanwhile", s)
	}
}

func purge(t testing.TB, js jetstream.JetStream, below uint64) {
	t.Helper()
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(testContext(t), jetstream.WithPurgeSequence(below)); err != nil {
		t.Fatal(err)
	}
}

func TestEventsThatTheStreamLetGoOfAreMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mark uint64 // of the graph at the start
		want Missing
	}{
		"a new graph":                    {0, Missing{1, 11}},
		"a graph that stopped at 8":      {8, Missing{9, 11}},
		"a graph that has all but these": {11, Missing{}},
		"a graph that has more":          {15, Missing{}},
	} {
		t.Run(name, func(t *testing.T) {
			js, log, old := newJS(t), &lines{}, newLedger()
			publish(t, js, numbered(userA, 20)...)
			if c.mark > 0 {
				if err := old.ApplyMarked(t.Context(), nil, graphstore.Mark{Log: logOf(t, js), Seq: c.mark}); err != nil {
					t.Fatal(err)
				}
			}
			purge(t, js, 12)
			g := graphOver(t, old)
			f := boundFeed(t, js, g, "graph-1")
			f.log = slog.New(log)
			feedOnce(t, f)
			g.wantFacts(t, userA, int(20-max(c.mark, 11)))
			warned := log.count("WARN events are no longer in the stream")
			if s := f.Status(); s.Missing != c.want || (warned == 1) != (c.want != Missing{}) || s.LastApplied != 20 {
				t.Errorf("missing %+v, %d warnings, applied to %d: want %+v, and 20", s.Missing, warned, s.LastApplied, c.want)
			}
			g = graphOver(t, old)
			f = boundFeed(t, js, g, "graph-1")
			feedOnce(t, f)
			if s := f.Status(); s.Missing != (Missing{}) || s.Rewound != 0 {
				t.Errorf("status %+v at the next start: want nothing missing", s)
			}
		})
	}
}

// TestStreamOvertakesTheFeed drops events while the store is down.
func TestStreamOvertakesTheFeed(t *testing.T) {
	t.Parallel()
	js, g, cfg := newJS(t), newGraph(t), fastConfig()
	g.faults.set(down)
	cfg.BatchSize, cfg.MaxAckPending, cfg.StatusInterval = 1, 2, 10*time.Millisecond
	f := run(t, boundFeedWith(t, js, g, "graph-1", cfg))
	f.attached(t)
	publish(t, js, numbered(userA, 20)...)
	eventually(t, "two are delivered", func() bool { info := consumerOf(t, js); return info.Delivered.Stream == 2 })
	purge(t, js, 12)
	eventually(t, "the others are missing", func() bool { return f.Status().Missing == Missing{3, 11} })
	g.faults.none()
	f.applied(t)
	if s := f.Status(); s.Missing != (Missing{3, 11}) || !strings.Contains(s.LastError.Error(), errStoreDown.Error()) {
		t.Errorf("status %+v", s)
	}
}

func TestGone(t *testing.T) {
	for name, c := range map[string]struct {
		begins, first uint64 // of the stream: its setting, and the first event that it has
		held          uint64
		want          Missing
	}{
		"nothing yet":                            {0, 0, 0, Missing{}},
		"all there":                              {0, 1, 0, Missing{}},
		"the first two dropped":                  {0, 3, 0, Missing{1, 2}},
		"held before they were dropped":          {0, 3, 2, Missing{}},
		"one of them held":                       {0, 3, 1, Missing{2, 2}},
		"made to begin at 1000":                  {1000, 1000, 0, Missing{}},
		"made to begin at 1000, and two dropped": {1000, 1002, 0, Missing{1000, 1001}},
	} {
		stream := &jetstream.StreamInfo{Config: jetstream.StreamConfig{FirstSeq: c.begins}, State: jetstream.StreamState{FirstSeq: c.first}}
		if got := gone(c.held, stream); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestDeletedEventsAreNotMissing: events that somebody deleted out of the middle are no loss of the stream's making, also
// when the stream later lets go of what was around them.
func TestDeletedEventsAreNotMissing(t *testing.T) {
	p, stream := newProgress(), &jetstream.StreamInfo{State: jetstream.StreamState{FirstSeq: 1}}
	p.attach(time.Time{}, &jetstream.ConsumerInfo{}, 0)
	p.delivered(jetstream.SequencePair{Consumer: 1, Stream: 1}, true)
	p.delivered(jetstream.SequencePair{Consumer: 2, Stream: 4}, true) // 2 and 3 are not there
	stale := p.skipped()
	p.delivered(jetstream.SequencePair{Consumer: 3, Stream: 6}, true) // nor is 5
	if got := p.overtaken(stale, stream); got != (Missing{}) {
		t.Errorf("missing %v from a stream that begins at 1", got)
	}
	if got, want := p.skipped(), (Missing{2, 5}); got != want {
		t.Errorf("skipped %v, want %v until the server is asked again", got, want)
	}
	if got := p.overtaken(p.skipped(), stream); got != (Missing{}) {
		t.Errorf("missing %v from a stream that begins at 1", got)
	}
	stream.State.FirstSeq = 7
	if got := p.overtaken(p.skipped(), stream); got != (Missing{}) {
		t.Errorf("missing %v, long after it was deleted", got)
	}
	p.delivered(jetstream.SequencePair{Consumer: 4, Stream: 9}, true) // 7 and 8 are dropped by a stream that begins at 9
	stream.State.FirstSeq = 9
	if got, want := p.overtaken(p.skipped(), stream), (Missing{7, 8}); got != want {
		t.Errorf("missing %v, want %v", got, want)
	}
}
