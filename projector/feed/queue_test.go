package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go/jetstream"
)

// What users of such queues complain of: ingestion that was broken for weeks while health was green, a worker that was dead
// after the producer had its answer, one missing key that dropped every fact, an error that became an empty list.

// green reports whether the status of a feed tells of no trouble.
func green(s Status) bool {
	return s.Connected && s.Attached && s.Failures == 0 && s.Undelivered == 0 && s.StalledSince.IsZero() && s.Missing == (Missing{})
}

// TestBrokenIsNeverGreen breaks ingestion in each way it can break, lets it be so for a while, and mends it: the status says
// so throughout, no success is claimed, and in the end everything is where it belongs.
func TestBrokenIsNeverGreen(t *testing.T) {
	type world struct {
		js jetstream.JetStream
		g  *testGraph
		f  *Feed
	}
	deadStream := func(t *testing.T, js jetstream.JetStream, change func(*jetstream.StreamConfig)) {
		t.Helper()
		stream, err := js.Stream(testContext(t), DeadStream)
		if err != nil {
			t.Fatal(err)
		}
		cfg := stream.CachedInfo().Config
		change(&cfg)
		if _, err := js.UpdateStream(testContext(t), cfg); err != nil {
			t.Fatal(err)
		}
	}
	bad := []byte("bad")
	var claims atomic.Bool
	for name, c := range map[string]struct {
		breakIt func(t *testing.T, w world)
		mend    func(t *testing.T, w world)
		event   []byte // that cannot be settled while it is broken
		dead    int
	}{
		"the store is down": {
			func(_ *testing.T, w world) { w.g.faults.set(down) },
			func(_ *testing.T, w world) { w.g.faults.none() },
			numbered(userA, 1)[0], 0,
		},
		"the store panics": {
			func(_ *testing.T, w world) {
				w.g.faults.set(func(graphstoretest.Call) graphstoretest.Fault { panic("nil map") })
			},
			func(_ *testing.T, w world) { w.g.faults.none() },
			numbered(userA, 1)[0], 0,
		},
		"the dead letters are full": {
			func(t *testing.T, w world) {
				deadStream(t, w.js, func(cfg *jetstream.StreamConfig) { cfg.Discard, cfg.MaxMsgs = jetstream.DiscardNew, 1 })
				storeLetter(t, w.js, "bob", ReasonPlan, 99)
			},
			func(t *testing.T, w world) {
				if n, err := newDead(t, w.js).DropUser(testContext(t), "bob"); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			},
			bad, 1,
		},
		"the dead letters may not be written": {
			func(t *testing.T, w world) {
				if err := w.js.DeleteStream(testContext(t), DeadStream); err != nil {
					t.Fatal(err)
				}
				if _, err := w.js.CreateStream(testContext(t), jetstream.StreamConfig{Name: "BLOCKER", Subjects: []string{DeadSubjects}}); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, w world) {
				if err := w.js.DeleteStream(testContext(t), "BLOCKER"); err != nil {
					t.Fatal(err)
				}
			},
			bad, 1,
		},
		"the server delivers nothing": {
			func(*testing.T, world) { claims.Store(true) },
			func(*testing.T, world) { claims.Store(false) },
			nil, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			claims.Store(false)
			js, g := newJS(t), newGraph(t)
			cfg := netConfig()
			cfg.StallAfter = 60 * time.Millisecond
			f := newFeed(t, js, g, cfg)
			f.env.pullWait = 50 * time.Millisecond
			f.env.info = func(ctx context.Context) (*jetstream.ConsumerInfo, error) {
				info, err := f.consumerInfo(ctx)
				if err == nil && claims.Load() {
					info.NumPending += 7
				}
				return info, err
			}
			r := run(t, f)
			eventually(t, "all is well", func() bool { s := f.Status(); return green(s) && !s.LastSuccess.IsZero() })
			w := world{js, g, f}
			c.breakIt(t, w)
			if c.event != nil {
				publishRaw(t, js, "memory.events.x", c.event, nil)
			}
			eventually(t, "the status says so", func() bool { return !green(f.Status()) })
			since := f.Status().LastSuccess
			eventually(t, "it is tried again and again", func() bool { s := f.Status(); return s.Failures >= 3 || s.Undelivered > 0 && s.Returned >= 2 })
			if s := f.Status(); green(s) || s.LastSuccess.After(since) || s.LastError == nil {
				t.Errorf("status %+v: green while %s, or a success since %s", s, name, since)
			}
			c.mend(t, w)
			eventually(t, "all is well again", func() bool { s := f.Status(); return green(s) && s.LastSuccess.After(since) })
			r.applied(t)
			g.wantFacts(t, userA, map[bool]int{true: 1}[c.event != nil && c.dead == 0])
			if letters := deadLetters(t, js); len(letters) != c.dead {
				t.Errorf("%d dead letters, want %d", len(letters), c.dead)
			}
		})
	}
}

// TestNoFactIsDroppedWithoutAWord puts one malformed fact among good ones, of every kind: the good ones are in the graph, the
// bad one is a dead letter that names what is wrong, and nothing is in neither.
func TestNoFactIsDroppedWithoutAWord(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	r := run(t, newFeed(t, js, g, fastConfig()))
	bad := map[string]any{
		"no id":             map[string]any{"op": "add", "version": 1},
		"no op":             map[string]any{"id": "b", "version": 1},
		"null":              nil,
		"a string":          "b",
		"a list":            []any{},
		"a number":          17,
		"empty":             map[string]any{},
		"id in capitals":    map[string]any{"ID": "b", "op": "add"},
		"id an object":      map[string]any{"id": map[string]any{}, "op": "add"},
		"tags a string":     map[string]any{"id": "b", "op": "add", "tags": "x"},
		"entities a string": map[string]any{"id": "b", "op": "add", "entities": "x"},
		"version a word":    map[string]any{"id": "b", "op": "add", "version": "new"},
		"a naive time":      map[string]any{"id": "b", "op": "add", "memory_at": "2026-11-30T12:00:00"},
		"a control char":    map[string]any{"id": "a\x01b", "op": "add"},
	}
	names := []string{}
	for name := range bad {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		facts := []any{map[string]any{"id": fmt.Sprint("x", i), "op": "add", "version": 1}, bad[name], map[string]any{"id": fmt.Sprint("y", i), "op": "add", "version": 1}}
		publishRaw(t, js, "memory.events.x", event(name, "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": facts}), nil)
	}
	r.applied(t)
	g.wantFacts(t, userA, 2*len(bad))
	letters := map[string]DeadLetter{}
	for _, l := range deadLetters(t, js) {
		letters[l.EventID] = l
	}
	for _, name := range names {
		if l := letters[name]; l.Reason != ReasonBadFact || l.FactIndex != 1 || !strings.Contains(l.LastError, "data.facts[1]") {
			t.Errorf("%s: dead letter %+v, want one that names data.facts[1]", name, l)
		}
	}
	if s := r.Status(); len(letters) != len(bad) || s.DeadFacts != uint64(len(bad)) || s.Applied != uint64(len(bad)) {
		t.Errorf("%d dead letters, status %+v: want %d", len(letters), s, len(bad))
	}
}

// TestWorkerOutlivesItsEvents: the producer has its answer, the worker gets events that bring planner and store down, and
// everything that the producer has an answer for is in the graph or among the dead letters.
func TestWorkerOutlivesItsEvents(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := newFeed(t, js, g, fastConfig())
	plan, n := f.env.plan, 0
	f.env.plan = func(view *graphstore.Snapshot, ev projector.Event) (projector.Planned, error) {
		if n++; n%7 == 0 {
			panic(errors.New("KeyError: 'id'"))
		}
		return plan(view, ev)
	}
	p, err := NewPublisher(js, PublisherConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := run(t, f)
	const events = 100
	var last uint64
	for _, payload := range numbered(userA, events) {
		receipt, err := p.Publish(testContext(t), payload)
		if err != nil {
			t.Fatal(err)
		}
		last = receipt.Sequence
	}
	if err := r.WaitApplied(testContext(t), last); err != nil {
		t.Fatal(err)
	}
	s := r.Status()
	view, err := g.View(space(t, userA))
	if err != nil {
		t.Fatal(err)
	}
	dead := len(deadLetters(t, js))
	if view.Present()+dead != events || dead != events/7 || s.Dead != uint64(dead) || !green(s) {
		t.Errorf("%d facts and %d dead letters of %d events, status %+v: want none lost, and every seventh dead", view.Present(), dead, events, s)
	}
	replayed, err := newDead(t, js).ReplayMatching(testContext(t), DeadFilter{Reason: ReasonPlan}, false)
	if err != nil || replayed.Done != dead {
		t.Fatalf("%+v, %v", replayed, err)
	}
}
