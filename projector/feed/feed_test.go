package feed

import (
	"fmt"
	"testing"
	"time"
)

func TestEventsReachTheGraph(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	for _, user := range []string{"ada", "bob"} {
		publish(t, js, numbered(user, 100)...)
	}
	f.applied(t)
	g.wantFacts(t, "ada", 100)
	g.wantFacts(t, "bob", 100)
	wantSettled(t, js)
	s := f.Status()
	if s.Applied != 200 || s.Dead != 0 || s.Redelivered != 0 || s.Returned != 0 || s.LastApplied != 200 {
		t.Errorf("status %+v: want 200 applied up to sequence 200 and nothing else", s)
	}
	if !s.Connected || !s.Attached || s.LastSuccess.IsZero() || s.LastError != nil || s.Failures != 0 || s.Pending != 0 {
		t.Errorf("status %+v: want a feed that is well and has nothing pending", s)
	}
}

func TestBacklogIsCommittedInFullBatches(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	publish(t, js, numbered("ada", 300)...)
	cfg := fastConfig()
	cfg.BatchSize, cfg.BatchWait = 100, time.Second
	run(t, newFeed(t, js, g, cfg)).applied(t)
	if got := g.commits(); got != 3 { // 300 events of a backlog in batches of 100
		t.Errorf("%d transactions, want 3", got)
	}
}

func TestBatchIsBoundedByBytes(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	events := make([][]byte, 20)
	for i := range events {
		events[i] = event(fmt.Sprint("e", i), "memory.facts.written.v1", map[string]any{"user_id": "ada", "facts": []any{
			map[string]any{"id": fmt.Sprint("f", i), "op": "add", "version": 1, "content": string(make40k())}}})
	}
	publish(t, js, events...)
	cfg := fastConfig()
	cfg.BatchWait = 300 * time.Millisecond
	cfg.BatchBytes = 100 << 10 // two events of 40 KiB, and not three
	f := run(t, newFeed(t, js, g, cfg))
	f.applied(t)
	if got := g.commits(); got != 10 {
		t.Errorf("%d transactions, want 10 of two events each", got)
	}
	g.wantFacts(t, "ada", 20)
	if s := f.Status(); s.Redelivered != 0 {
		t.Errorf("%d redeliveries: messages were left behind in a pull", s.Redelivered)
	}
}

func make40k() []byte {
	b := make([]byte, 40<<10)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

func TestLoneEventWaitsNoLongerThanTheBatch(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	cfg := fastConfig()
	cfg.BatchWait = 20 * time.Millisecond
	f := run(t, newFeed(t, js, g, cfg))
	f.attached(t)
	start := time.Now()
	publish(t, js, numbered("ada", 1)...)
	f.applied(t)
	if took := time.Since(start); took > time.Second {
		t.Errorf("one event took %s, want about the batch wait of 20ms", took)
	}
}

func TestRepeatsChangeNothing(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	events := numbered("ada", 10)
	publish(t, js, events...)
	f.applied(t)
	commits, digest := g.commits(), g.Digest().String()
	publish(t, js, events...) // publish sets no message id: the server stores them again
	f.applied(t)
	if g.commits() != commits || g.Digest().String() != digest {
		t.Errorf("%d transactions and another digest after repeats, want %d and the same", g.commits(), commits)
	}
	if s := f.Status(); s.Applied != 20 || s.Unchanged != 10 {
		t.Errorf("status %+v: want 20 applied, 10 of them unchanged", s)
	}
}

func TestRunIsForOnce(t *testing.T) {
	js := newJS(t)
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	f.applied(t)
	f.stop(t)
	if err := f.Run(t.Context()); err == nil {
		t.Error("second run returned nil")
	}
}
