package feed

import (
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestWaitForWhatWasDeletedFromTheEndOfTheStream(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	publish(t, js, numbered(userA, 5)...)
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{2, 5} { // 5 is the last one, and never comes
		if err := stream.DeleteMsg(ctx, seq); err != nil {
			t.Fatal(err)
		}
	}
	f := run(t, newFeed(t, js, g, fastConfig()))
	if err := f.WaitApplied(ctx, 5); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 3)
}

func TestWaitBeforeRun(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	f := newFeed(t, js, g, fastConfig())
	result := make(chan error, 1)
	go func() { result <- f.WaitApplied(ctx, 1) }()
	publish(t, js, numbered(userA, 1)...)
	run(t, f)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 1)
}

// TestWaitIsNotFooledByAnotherProcess lets somebody else take an event from the same consumer and keep it: later events are
// applied, but the earlier one is not, and a wait for either must not end before it is.
func TestWaitIsNotFooledByAnotherProcess(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	f.attached(t)
	f.stop(t)
	other, err := js.Consumer(ctx, EventStream, Durable)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, js, numbered(userA, 2)...)
	taken, err := other.Next(jetstream.FetchMaxWait(10 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	f = run(t, newFeed(t, js, g, fastConfig()))
	eventually(t, "the second event is applied", func() bool { return f.Status().Applied == 1 })
	if s := f.Status(); s.LastApplied != 0 {
		t.Errorf("last applied %d while event 1 is in other hands, want 0", s.LastApplied)
	}
	if err := taken.Nak(); err != nil {
		t.Fatal(err)
	}
	if err := f.WaitApplied(ctx, 2); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 2)
}

func TestStatusKnowsWhatIsPendingWhileTheStoreIsDown(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	g.faults.set(down)
	cfg := fastConfig()
	cfg.BatchSize, cfg.StatusInterval = 5, 10*time.Millisecond
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 50)...)
	eventually(t, "all 50 are known of", func() bool {
		s := f.Status()
		return s.Failures > 0 && s.Pending+uint64(s.AckPending) == 50
	})
	if s := f.Status(); s.AsOf.IsZero() || s.LastSuccess.After(s.LastErrorAt) {
		t.Errorf("status %+v", s)
	}
}

func TestHooksTellOfEverything(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	var mu sync.Mutex
	var batches []BatchStats
	var messages []MessageStats
	var dead []DeadLetter
	cfg := fastConfig()
	cfg.Hooks = Hooks{
		Batch:   func(b BatchStats) { mu.Lock(); defer mu.Unlock(); batches = append(batches, b) },
		Message: func(m MessageStats) { mu.Lock(); defer mu.Unlock(); messages = append(messages, m) },
		Dead:    func(d DeadLetter) { mu.Lock(); defer mu.Unlock(); dead = append(dead, d) },
	}
	g.faults.set(graphstoretest.OnNth(graphstoretest.MethodApply, 1, graphstoretest.Fault{Before: errStoreDown}))
	publishRaw(t, js, "memory.events.x", factsEvent("e1", userA, 1, "f1", "f2"), nats.Header{"Traceparent": {"00-1-2-01"}})
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	f := run(t, newFeed(t, js, g, cfg))
	f.applied(t)
	f.stop(t)

	var applied, buried, returned []MessageStats
	for _, m := range messages {
		switch m.Outcome {
		case Applied:
			applied = append(applied, m)
		case Buried:
			buried = append(buried, m)
		case Returned:
			returned = append(returned, m)
		}
		if m.Lag <= 0 || m.Lag > time.Minute {
			t.Errorf("lag %s of %+v", m.Lag, m)
		}
	}
	if len(applied) != 1 || applied[0].EventID != "e1" || applied[0].Type != "memory.facts.written.v1" || applied[0].Traceparent != "00-1-2-01" ||
		applied[0].Sequence != 1 || applied[0].Deliveries != 2 || applied[0].Err != nil {
		t.Errorf("applied %+v, want e1 at its second delivery", applied)
	}
	if len(returned) != 1 || returned[0].Deliveries != 1 || returned[0].Err == nil {
		t.Errorf("returned %+v, want the first delivery of e1", returned)
	}
	if len(buried) != 1 || buried[0].Sequence != 2 || buried[0].Err == nil || buried[0].EventID != "" {
		t.Errorf("buried %+v, want the second event", buried)
	}
	if len(dead) != 1 || dead[0].Sequence != 2 || string(dead[0].Payload) != "bad" {
		t.Errorf("dead letters %+v, want the second event", dead)
	}
	var failed, committed int
	for _, b := range batches {
		if b.Err != nil {
			failed++
			continue
		}
		committed++
		// Two facts of one batch: two facts, one topic "tag", two edges to it and one between them.
		if b.Events != 1 || b.Spaces != 1 || b.Changes != 6 || b.Report.Added != 2 || b.Unchanged != 0 {
			t.Errorf("batch %+v", b)
		}
	}
	if failed != 1 || committed != 1 {
		t.Errorf("%d batches failed and %d were committed, want 1 and 1", failed, committed)
	}
}
