package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector"
)

var errStoreDown = errors.New("store is down")

func down(graphstoretest.Call) graphstoretest.Fault {
	return graphstoretest.Fault{Before: errStoreDown}
}

func TestOutageOfTheStoreLosesNothing(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	g.faults.set(down) // also for reads
	cfg := fastConfig()
	cfg.BatchSize = 16
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 100)...)
	eventually(t, "twelve cycles failed", func() bool { return f.Status().Failures >= 12 })
	if s := f.Status(); s.Dead != 0 || s.Applied != 0 || !errors.Is(s.LastError, errStoreDown) || s.LastApplied != 0 {
		t.Errorf("status %+v: want nothing applied, nothing dead, and the store's error", s)
	}
	publish(t, js, numbered("bob", 10)...)
	g.faults.none()
	f.applied(t)
	g.wantFacts(t, userA, 100)
	g.wantFacts(t, "bob", 10)
	wantSettled(t, js)
	if s := f.Status(); s.Dead != 0 || s.Applied != 110 || s.Failures != 0 {
		t.Errorf("status %+v: want 110 applied, nothing dead, no failure", s)
	}
	if letters := deadLetters(t, js); len(letters) != 0 {
		t.Errorf("dead letters after an outage: %+v", letters)
	}
}

func TestCommitWhoseAnswerIsLost(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	var n atomic.Int32
	g.faults.set(onApply(func(graphstoretest.Call) graphstoretest.Fault {
		if n.Add(1)%2 == 1 {
			return graphstoretest.Fault{After: errors.New("connection reset")}
		}
		return graphstoretest.Fault{}
	}))
	cfg := fastConfig()
	cfg.BatchSize = 10
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 50)...)
	f.applied(t)
	g.wantFacts(t, userA, 50)
	wantSettled(t, js)
	if s := f.Status(); s.Dead != 0 || s.Applied != 50 {
		t.Errorf("status %+v: want 50 applied, nothing dead", s)
	}
}

func TestRefusedEventAlone(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	g.faults.set(onApply(func(graphstoretest.Call) graphstoretest.Fault {
		return graphstoretest.Fault{Before: fmt.Errorf("%w: %s", graphstore.ErrBadChange, strings.Repeat("日", 1000))}
	}))
	f := run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, numbered(userA, 1)...)
	f.applied(t)
	letters := deadLetters(t, js)
	if len(letters) != 1 || letters[0].Reason != ReasonCommit {
		t.Fatalf("dead letters %+v, want the event", letters)
	}
	// 1 KiB at most, and no half of a character of three bytes
	if e := letters[0].LastError; len(e) > 1024 || len(e) < 1000 || !utf8.ValidString(e) || strings.ContainsRune(e, utf8.RuneError) {
		t.Errorf("error of %d bytes: %q", len(e), e)
	}
}

// touches reports whether a transaction writes a fact.
func touches(c graphstoretest.Call, factID string) bool {
	for _, ch := range c.Changes {
		if ch.Fact != nil && ch.Fact.ID == factID {
			return true
		}
	}
	return false
}

func TestRefusedEventIsIsolated(t *testing.T) {
	for _, refusal := range []error{graphstore.ErrBadChange, graphstore.ErrDangling} {
		t.Run(refusal.Error(), func(t *testing.T) {
			js, g := newJS(t), newGraph(t)
			publish(t, js, numbered(userA, 20)...)
			g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
				if touches(c, "f7") {
					return graphstoretest.Fault{Before: fmt.Errorf("%w: test", refusal)}
				}
				return graphstoretest.Fault{}
			}))
			f := run(t, newFeed(t, js, g, fastConfig()))
			f.applied(t)
			g.wantFacts(t, userA, 19)
			wantSettled(t, js)
			letters := deadLetters(t, js)
			if len(letters) != 1 || letters[0].Reason != ReasonCommit || letters[0].EventID != "ada-7" || !strings.Contains(letters[0].LastError, refusal.Error()) {
				t.Errorf("dead letters %+v, want the event that is refused", letters)
			}
			if s := f.Status(); s.Applied != 19 || s.Dead != 1 || s.Returned != 0 || s.Failures != 0 {
				t.Errorf("status %+v: want 19 applied, 1 dead", s)
			}
		})
	}
}

func TestUnplannableEventsAreDeadLettered(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := newFeed(t, js, g, fastConfig())
	plan := f.env.plan
	f.env.plan = func(view *graphstore.Snapshot, ev projector.Event) (projector.Planned, error) {
		switch ev.ID {
		case "ada-3":
			panic("index out of range")
		case "ada-4":
			return projector.Planned{}, errors.New("record no projector wrote")
		case "ada-5": // an edge between facts that are not there
			edge := graphstore.Edge{Source: "x", Target: "y", Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "x"}}
			return projector.Planned{Changes: []graphstore.Change{graphstore.PutEdge(ev.Space, edge)}}, nil
		}
		return plan(view, ev)
	}
	publish(t, js, numbered(userA, 10)...)
	r := run(t, f)
	r.applied(t)
	g.wantFacts(t, userA, 7)
	wantSettled(t, js)
	want := map[string]string{"ada-3": "panic: index out of range", "ada-4": "no projector wrote", "ada-5": graphstore.ErrDangling.Error()}
	letters := deadLetters(t, js)
	if len(letters) != 3 {
		t.Fatalf("%d dead letters, want 3", len(letters))
	}
	for _, l := range letters {
		if l.Reason != ReasonPlan || !strings.Contains(l.LastError, want[l.EventID]) {
			t.Errorf("dead letter of %s: %s %q, want %q", l.EventID, l.Reason, l.LastError, want[l.EventID])
		}
	}
}

// TestPoisonIsFoundAmongOthers is about an event that brings the store down without an error of its own: everything that
// is committed together with it fails, and so does what comes right after it.
func TestPoisonIsFoundAmongOthers(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	var crashes atomic.Int32
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		if touches(c, "f5") {
			return graphstoretest.Fault{Before: fmt.Errorf("child process died %d times", crashes.Add(1))}
		}
		return graphstoretest.Fault{}
	}))
	cfg := fastConfig()
	cfg.PoisonAfter = 3
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 12)...)
	eventually(t, "the others get through", func() bool { return f.Status().Applied >= 11 })
	before := crashes.Load()
	eventually(t, "it fails alone ten times more", func() bool { return crashes.Load() > before+10 })
	if s := f.Status(); s.Dead != 0 {
		t.Errorf("status %+v: buried without anything to tell it from an outage", s)
	}
	for i := 0; f.Status().Dead == 0; i++ { // traffic, against which it stands out
		if i == 2000 {
			t.Fatalf("never buried: %+v", f.Status())
		}
		publish(t, js, factsEvent(fmt.Sprint("more", i), "bob", 1, fmt.Sprint("g", i)))
		sleep(t.Context(), 2*time.Millisecond)
	}
	f.applied(t)
	wantSettled(t, js)
	letters := deadLetters(t, js)
	if len(letters) != 1 || letters[0].Reason != ReasonPoison || letters[0].EventID != "ada-5" {
		t.Fatalf("dead letters %+v, want the poison", letters)
	}
	first, last := "died 1 times", fmt.Sprintf("died %d times", crashes.Load())
	if l := letters[0]; !strings.Contains(l.FirstError, first) || !strings.Contains(l.LastError, last) || l.Deliveries < 14 {
		t.Errorf("dead letter %+v: want the first error %q and the last %q", l, first, last)
	}
}

func TestPanicOfTheGraphIsTrouble(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	var n atomic.Int32
	f := run(t, newFeed(t, js, panicky{g, &n}, fastConfig()))
	publish(t, js, numbered(userA, 5)...)
	f.applied(t)
	g.wantFacts(t, userA, 5)
	if letters := deadLetters(t, js); len(letters) != 0 || n.Load() < 3 {
		t.Errorf("%d dead letters after %d commits, want none after three or more", len(letters), n.Load())
	}
}

// panicky panics in its first two commits.
type panicky struct {
	*testGraph
	n *atomic.Int32
}

func (p panicky) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if p.n.Add(1) <= 2 {
		panic("nil map")
	}
	return p.testGraph.ApplyMarked(ctx, changes, mark)
}

func TestSlowBatchIsNotDeliveredAgain(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	cfg := fastConfig()
	cfg.AckWait = 300 * time.Millisecond
	g.faults.set(graphstoretest.OnNth(graphstoretest.MethodApply, 1, graphstoretest.Fault{Delay: 4 * cfg.AckWait}))
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 20)...)
	f.applied(t)
	g.wantFacts(t, userA, 20)
	if s := f.Status(); s.Redelivered != 0 || s.Applied != 20 {
		t.Errorf("status %+v: want 20 applied and none delivered twice", s)
	}
}

func TestBackoff(t *testing.T) {
	c := Config{RetryMin: 200 * time.Millisecond, RetryMax: 15 * time.Second}
	for n, want := range map[int]time.Duration{
		0: 200 * time.Millisecond, 1: 200 * time.Millisecond, 2: 400 * time.Millisecond, 3: 800 * time.Millisecond,
		7: 12800 * time.Millisecond, // 200 ms doubled six times
		8: 15 * time.Second, 1 << 40: 15 * time.Second,
	} {
		if got := c.backoff(n); got != want {
			t.Errorf("pause after %d failures: %s, want %s", n, got, want)
		}
	}
}
