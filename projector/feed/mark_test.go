package feed

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go/jetstream"
)

// seeds are one that stays and one of each run's own; subtests are named for theirs.
func seeds() []uint64 { return []uint64{1, rand.Uint64()} }

// shuffled returns history in an order of the seed, and the digest of the graph that it makes in any.
func shuffled(t testing.TB, rng *rand.Rand) (events [][]byte, digest string) {
	t.Helper()
	events = history()
	digest = inOrder(t, events).String()
	rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events, digest
}

// smallBatches makes many transactions of few events, and no mark alone but at a stop.
func smallBatches() Config {
	cfg := fastConfig()
	cfg.BatchSize, cfg.MarkInterval = 9, time.Hour
	return cfg
}

// logOf returns the name that marks of the stream have, by the rule in the document: the creation in nanoseconds.
func logOf(t testing.TB, js jetstream.JetStream) string {
	t.Helper()
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	at := stream.CachedInfo().Created.UTC()
	return fmt.Sprintf("MEMORY_EVENTS@%s.%09dZ", at.Format("2006-01-02T15:04:05"), at.Nanosecond())
}

// TestGraphThatWentBackIsMended puts the graph back to a random one of its transactions, after a stop: a log that was cut
// short (the consumer is there), or a copy that was put in its place. More events have come meanwhile.
func TestGraphThatWentBackIsMended(t *testing.T) {
	for _, seed := range seeds() {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d, consumer gone %t", seed, gone), func(t *testing.T) {
				t.Parallel()
				ctx, js, rng := testContext(t), newJS(t), rand.New(rand.NewPCG(seed, 0))
				events, want := shuffled(t, rng)
				later := rng.IntN(len(events))
				first := newGraph(t)
				publish(t, js, events[:later]...)
				feedOnce(t, boundFeedWith(t, js, first, "graph-1", smallBatches()))
				publish(t, js, events[later:]...)

				book := first.store.entries()
				at := rng.IntN(len(book) + 1)
				g := graphOver(t, first.store.after(t, at))
				mark := g.store.mark(t)
				if gone {
					if err := js.DeleteConsumer(ctx, EventStream, Durable); err != nil {
						t.Fatal(err)
					}
				}
				f := boundFeedWith(t, js, g, "graph-1", smallBatches())
				var rewinds []Rewind
				f.cfg.Hooks.Rewound = func(r Rewind) { rewinds = append(rewinds, r) }
				r := run(t, f)
				r.attached(t)
				if got := consumerOf(t, js).Config; got.OptStartSeq != 0 && got.OptStartSeq != mark.Seq+1 {
					t.Errorf("consumer begins at %d, want %d", got.OptStartSeq, mark.Seq+1)
				}
				r.applied(t)
				r.stop(t)
				if got := g.store.digest(t); got != want {
					t.Errorf("after %d of %d transactions, at mark %d: digest %s, want that of all events, %s", at, len(book), mark.Seq, got, want)
				}
				if s := r.Status(); s.LastApplied != uint64(len(events)) || s.Applied > uint64(len(events))-mark.Seq {
					t.Errorf("status %+v: want all %d events applied, no more than those after the mark again", s, len(events))
				}
				wantRewind := Rewind{Mark: mark.Seq, Acknowledged: uint64(later)}
				if there := !gone && mark.Seq < uint64(later); there != (len(rewinds) == 1) || (there && rewinds[0] != wantRewind) ||
					r.Status().Rewound != uint64(len(rewinds)) {
					t.Errorf("rewinds %+v at mark %d of %d acknowledged, consumer gone %t", rewinds, mark.Seq, later, gone)
				}
			})
		}
	}
}

// TestMarksNeverClaimTooMuch lets commits fail before and after the fact, has events that die for good, bad ones, bad facts
// and repeats, and then looks at each transaction: its graph, with the events after its mark, must be the whole graph.
func TestMarksNeverClaimTooMuch(t *testing.T) {
	for _, seed := range seeds() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			js, g, rng := newJS(t), newGraph(t), rand.New(rand.NewPCG(seed, 1))
			events, _ := shuffled(t, rng)
			events = events[:60]
			dead := map[uint64]bool{}
			var stream [][]byte
			for i, payload := range events {
				stream = append(stream, payload)
				switch rng.IntN(12) {
				case 0: // cannot be decoded
					stream = append(stream, []byte("bad"))
				case 1: // refused by the graph
					stream = append(stream, factsEvent(fmt.Sprint("cursed", i), "bob", 1, "cursed"))
				case 2: // one fact of two is bad
					stream = append(stream, event(fmt.Sprint("half", i), "memory.facts.written.v1", map[string]any{"user_id": "bob", "facts": []any{
						map[string]any{"id": fmt.Sprint("good", i), "op": "add", "version": 1}, map[string]any{"id": "", "op": "add"}}}))
				case 3:
					stream = append(stream, events[rng.IntN(i+1)])
				}
			}
			faults := rand.New(rand.NewPCG(seed, 2)) // used by the feed's goroutine alone
			g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
				switch n := faults.IntN(10); {
				case touches(c, "cursed"):
					return graphstoretest.Fault{Before: graphstore.ErrBadChange}
				case n == 0:
					return graphstoretest.Fault{Before: errStoreDown}
				case n == 1:
					return graphstoretest.Fault{After: errStoreDown}
				default:
					return graphstoretest.Fault{}
				}
			}))
			cfg := smallBatches()
			cfg.MarkInterval = 5 * time.Millisecond
			f := run(t, boundFeedWith(t, js, g, "graph-1", cfg))
			for _, payload := range stream {
				publishRaw(t, js, "memory.events.x", payload, nil)
			}
			f.applied(t)
			g.faults.none()
			eventually(t, "trouble is over", func() bool { return f.Status().Failures == 0 }) // a stop in trouble records no mark
			f.stop(t)
			for _, d := range deadLetters(t, js) {
				if d.FactIndex < 0 {
					dead[d.Sequence] = true
				}
			}
			book, want := g.store.entries(), g.store.digest(t)
			for n := range len(book) + 1 {
				if n > 0 && n < len(book) && rng.IntN(3) > 0 { // a third of them, for the time it takes
					continue
				}
				old := g.store.after(t, n)
				mark := old.mark(t)
				if got := replayed(t, old, stream, mark.Seq, dead); got != want {
					t.Fatalf("after %d of %d transactions, at mark %d of %d: digest %s, want %s", n, len(book), mark.Seq, len(stream), got, want)
				}
			}
			if got := g.store.mark(t); got.Seq != uint64(len(stream)) || got.Log != logOf(t, js) {
				t.Errorf("mark %+v after the stop, want all %d events of %s", got, len(stream), logOf(t, js))
			}
		})
	}
}

// replayed returns the digest of what a store holds with the events after seq, the dead ones left out.
func replayed(t testing.TB, store *ledger, stream [][]byte, seq uint64, dead map[uint64]bool) string {
	t.Helper()
	g, p := graphOver(t, store), newProjector(t)
	for i, payload := range stream[seq:] {
		if dead[seq+uint64(i)+1] {
			continue
		}
		ev, _, err := projector.Decode(payload, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		view, err := g.View(ev.Space)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := p.Plan(view, ev)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Apply(t.Context(), planned.Changes); err != nil {
			t.Fatal(err)
		}
	}
	return store.digest(t)
}

// TestKillBetweenCommitAndAck loses the connection right after a commit: the graph is ahead of its consumer, by its mark.
func TestKillBetweenCommitAndAck(t *testing.T) {
	for _, seed := range seeds() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 3))
			events, want := shuffled(t, rng)
			server := startServer(t, t.TempDir(), "127.0.0.1:0")
			doomed, js := connectTo(t, server.ClientURL()), connectTo(t, server.ClientURL())
			if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
				t.Fatal(err)
			}
			publish(t, js, events...)
			g, cfg, left := newGraph(t), smallBatches(), 1+rng.IntN(len(events)/9)
			cfg.AckWait = 100 * time.Millisecond
			cfg.Hooks.Batch = func(BatchStats) {
				if left--; left == 0 {
					doomed.Conn().Close()
				}
			}
			killed := boundFeedWith(t, doomed, g, "graph-1", cfg)
			if err := killed.Run(testContext(t)); err == nil {
				t.Fatal("run returned nil without a connection")
			}

			cfg.Hooks.Batch = nil
			again := graphOver(t, g.store)
			mark := again.store.mark(t)
			if floor := consumerOf(t, js).AckFloor.Stream; floor >= mark.Seq {
				t.Fatalf("%d are acknowledged and the mark is %d: nothing to see", floor, mark.Seq)
			}
			r := run(t, boundFeedWith(t, js, again, "graph-1", cfg))
			r.attached(t)
			if s := r.Status(); s.LastApplied < mark.Seq {
				t.Errorf("last applied %d, and the graph has all up to %d", s.LastApplied, mark.Seq)
			}
			r.applied(t)
			wantSettled(t, js)
			if s := r.Status(); s.Rewound != 0 || again.store.digest(t) != want {
				t.Errorf("status %+v, digest %s: want no rewind and %s", s, again.store.digest(t), want)
			}
		})
	}
}

// TestMarkFollowsWithoutChanges: repeats and dead letters move the floor, and nothing is committed that the mark could go
// with.
func TestMarkFollowsWithoutChanges(t *testing.T) {
	t.Parallel()
	js, g, cfg := newJS(t), newGraph(t), fastConfig()
	cfg.MarkInterval = 20 * time.Millisecond
	f := run(t, boundFeedWith(t, js, g, "graph-1", cfg))
	publish(t, js, numbered(userA, 10)...)
	f.applied(t)
	publish(t, js, numbered(userA, 10)...)
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	eventually(t, "the mark follows", func() bool { return g.store.mark(t) == graphstore.Mark{Log: logOf(t, js), Seq: 21} })
	eventually(t, "the status says so", func() bool { return f.Status().Marked == 21 })
	f.stop(t)
	if s := f.Status(); s.MarkCommits == 0 || s.LastApplied != 21 {
		t.Errorf("status %+v: want a mark recorded alone, at 21", s)
	}
	entries := len(g.store.entries())
	feedOnce(t, boundFeedWith(t, js, g, "graph-1", cfg))
	if got := len(g.store.entries()); got != entries {
		t.Errorf("%d transactions without an event", got-entries)
	}
}

func TestStopLeavesTheMarkAtTheFloor(t *testing.T) {
	t.Parallel()
	js, g, log := newJS(t), newGraph(t), &lines{}
	publish(t, js, numbered(userA, 10)...)
	publish(t, js, numbered(userA, 10)...)
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	feedOnce(t, boundFeedWith(t, js, g, "graph-1", smallBatches()))
	if got := g.store.mark(t); got != (graphstore.Mark{Log: logOf(t, js), Seq: 21}) {
		t.Errorf("mark %+v, want 21 of %s", got, logOf(t, js))
	}
	made := consumerOf(t, js).Created
	f := boundFeedWith(t, js, g, "graph-1", smallBatches())
	f.log = slog.New(log)
	feedOnce(t, f)
	if s := f.Status(); s.Rewound != 0 || s.LastApplied != 21 || !consumerOf(t, js).Created.Equal(made) || log.count("WARN") != 0 {
		t.Errorf("status %+v, log %q: want it to go on without a word", s, log.text)
	}
}

// TestStopWithAStoreThatFails: the mark stays behind, which is no error.
func TestStopWithAStoreThatFails(t *testing.T) {
	t.Parallel()
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	r := run(t, boundFeedWith(t, js, g, "graph-1", smallBatches()))
	r.applied(t)
	publish(t, js, numbered(userA, 5)...)
	r.applied(t)
	g.faults.set(down)
	r.stop(t)
	if got := g.store.mark(t).Seq; got != 5 {
		t.Errorf("mark %d, want 5", got)
	}
	f := boundFeedWith(t, js, graphOver(t, g.store), "graph-1", smallBatches())
	feedOnce(t, f)
	if s := f.Status(); s.Rewound != 1 || s.Applied != 5 || s.Unchanged != 5 || s.Marked != 10 {
		t.Errorf("status %+v: want the five repeats again, and the mark at 10", s)
	}
}

// TestMarkOfAnEventWithBadFacts: it is settled when their dead letters are stored, which is after the commit.
func TestMarkOfAnEventWithBadFacts(t *testing.T) {
	f := boundFeed(t, newJS(t), newGraph(t), "graph-1")
	f.loop.log = "log"
	f.progress.attach(time.Unix(1, 0), &jetstream.ConsumerInfo{}, 0)
	var ds []*delivery
	for seq := uint64(1); seq <= 4; seq++ {
		f.progress.delivered(jetstream.SequencePair{Consumer: seq, Stream: seq}, true)
		ds = append(ds, &delivery{seq: seq})
	}
	f.loop.done = []uint64{2} // a dead letter of this batch
	if got := f.markAfter(ds); got != (graphstore.Mark{Log: "log", Seq: 4}) {
		t.Errorf("mark %+v, want 4", got)
	}
	ds[2].rejected = []projector.Rejected{{}}
	if got := f.markAfter(ds); got.Seq != 2 {
		t.Errorf("mark %d, want 2: event 3 is not settled by the commit", got.Seq)
	}
	if got := f.markAfter(ds[2:]); got.Seq != 0 {
		t.Errorf("mark %d, want 0: event 1 is not in the commit", got.Seq)
	}
}
