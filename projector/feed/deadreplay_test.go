package feed

import (
	"bytes"
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
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// only returns the number of the one dead letter there is.
func only(t testing.TB, d *DeadLetters) uint64 {
	t.Helper()
	got := numbers(t, d, DeadQuery{})
	if len(got) != 1 {
		t.Fatalf("dead letters %v, want one", got)
	}
	return got[0]
}

// batchEvent returns a write event of n facts; the bad one has an operation that does not exist.
func batchEvent(n, bad int) []byte {
	facts := make([]any, n)
	for i := range facts {
		op := "add"
		if i == bad {
			op = "melt"
		}
		facts[i] = map[string]any{"id": fmt.Sprint("f", i), "op": op, "version": 1, "content": "<&>"}
	}
	return event("batch", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": facts})
}

// TestMendedEventIsProjected is the way from a bad event to the graph: dead letter, corrected, replayed, gone.
func TestMendedEventIsProjected(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	good := factsEvent("e", userA, 1, "f")
	bad := bytes.Replace(good, []byte("12:00:00Z"), []byte("12:00:00"), 1)
	publishRaw(t, js, projector.Subject(userA, projector.TypeFactsWritten), bad, nats.Header{jetstream.MsgIDHeader: {"e"}, "traceparent": {"00-1-2-01"}})
	f.applied(t)
	number := only(t, d)
	if l, err := d.Get(ctx, number); err != nil || !bytes.Equal(l.Payload, bad) || l.UserID != userA || l.Type != "memory.facts.written.v1" || l.Foreign != nil {
		t.Fatalf("dead letter %+v, %v", l, err)
	}
	if _, err := d.Replay(ctx, number, bad); !errors.Is(err, ErrNotReplayable) || !strings.Contains(err.Error(), "zone") {
		t.Errorf("replay of the same mistake: %v, want a refusal that names it", err)
	}
	r, err := d.Replay(ctx, number, good)
	if err != nil || r.Duplicate || r.Sequence != 2 {
		t.Fatalf("replayed %+v, %v: want it to be event 2, and no repeat of event 1", r, err)
	}
	if err := f.WaitApplied(ctx, r.Sequence); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 1)
	wantSettled(t, js)
	if left := numbers(t, d, DeadQuery{}); len(left) != 0 {
		t.Errorf("dead letters %v are left", left)
	}
	raw, err := getMessage(ctx, js, EventStream, r.Sequence, "")
	if err != nil || raw.Header.Get("traceparent") != "00-1-2-01" || raw.Header.Get(HeaderReplayOf) == "" || raw.Header.Get(HeaderReason) != "" {
		t.Errorf("headers %v, %v: want those of the producer, and what it was", raw.Header, err)
	}
	if _, err := d.Replay(ctx, number, good); !errors.Is(err, ErrNoDeadLetter) {
		t.Errorf("second replay: %v", err)
	}
}

// TestReplayThatFailsAgain keeps everything: the new dead letter has the payload, and so on.
func TestReplayThatFailsAgain(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	f.applied(t)
	for range 3 {
		r, err := d.Replay(ctx, only(t, d), nil)
		if err != nil || r.Duplicate {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := f.WaitApplied(ctx, r.Sequence); err != nil {
			t.Fatal(err)
		}
		if l, err := d.Get(ctx, only(t, d)); err != nil || string(l.Payload) != "bad" || l.Sequence != r.Sequence || l.Subject != "memory.events.x" {
			t.Errorf("dead letter %+v, %v, want that of event %d", l, err, r.Sequence)
		}
	}
}

// TestMendedFactEndsInItsPlace compares the graph with that of a producer who made no mistake: a batch larger than the ten
// facts that are all joined to each other, in which it matters where a fact stands, and where those behind it do.
func TestMendedFactEndsInItsPlace(t *testing.T) {
	const size, bad = 14, 6
	ctx := testContext(t)
	wantJS, want := newJS(t), newGraph(t)
	publish(t, wantJS, batchEvent(size, -1))
	run(t, newFeed(t, wantJS, want, fastConfig())).applied(t)

	js, g := newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	publishRaw(t, js, "memory.events.x", batchEvent(size, bad), nil)
	f.applied(t)
	g.wantFacts(t, userA, size-1)
	number := only(t, d)
	l, err := d.Get(ctx, number)
	if err != nil {
		t.Fatal(err)
	}
	mended := bytes.Replace(l.Payload, []byte("melt"), []byte("add"), 1)
	for says, wrong := range map[string][]byte{
		"data.facts: want the one fact": batchEvent(size, -1),
		"time ":                         bytes.Replace(mended, []byte("12:00:00Z"), []byte("12:00:01Z"), 1),
		"id ":                           bytes.Replace(mended, []byte(`"id":"batch"`), []byte(`"id":"other"`), 1),
		`data.user_id "bob"`:            bytes.Replace(mended, []byte(`"ada"`), []byte(`"bob"`), 1),
		"data.batch_id":                 bytes.Replace(mended, []byte(`"user_id"`), []byte(`"batch_id":"b","user_id"`), 1),
	} {
		if _, err := d.Replay(ctx, number, wrong); !errors.Is(err, ErrNotReplayable) || !strings.Contains(err.Error(), says) {
			t.Errorf("corrected to %s: %v, want a refusal that says %q", wrong, err, says)
		}
	}
	r, err := d.Replay(ctx, number, mended)
	if err != nil || r.Alone {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := f.WaitApplied(ctx, r.Sequence); err != nil {
		t.Fatal(err)
	}
	if got, want := g.Digest(), want.Digest(); got != want {
		t.Errorf("digest %s, that of a producer who made no mistake is %s", got, want)
	}
	if left := numbers(t, d, DeadQuery{}); len(left) != 0 {
		t.Errorf("dead letters %v are left", left)
	}
}

// TestOtherBadFactsKeepTheirOneDeadLetter replays facts one by one out of an event with three bad ones.
func TestOtherBadFactsKeepTheirOneDeadLetter(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	facts := []any{}
	for i := range 6 {
		facts = append(facts, map[string]any{"id": fmt.Sprint("f", i), "op": []string{"add", "melt"}[i%2], "version": 1})
	}
	publish(t, js, event("e", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": facts}))
	f.applied(t)
	for left := 3; left > 0; left-- {
		letters := numbers(t, d, DeadQuery{Oldest: true})
		if len(letters) != left {
			t.Fatalf("dead letters %v, want %d", letters, left)
		}
		l, err := d.Get(ctx, letters[0])
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Replay(ctx, l.Number, bytes.Replace(l.Payload, []byte("melt"), []byte("add"), 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.WaitApplied(ctx, r.Sequence); err != nil {
			t.Fatal(err)
		}
	}
	g.wantFacts(t, userA, 6)
	if left := numbers(t, d, DeadQuery{}); len(left) != 0 {
		t.Errorf("dead letters %v are left", left)
	}
}

// TestFactWhoseEventIsGone is published alone.
func TestFactWhoseEventIsGone(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, batchEvent(3, 1))
	f.applied(t)
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(ctx, 1); err != nil {
		t.Fatal(err)
	}
	l, err := d.Get(ctx, only(t, d))
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Replay(ctx, l.Number, bytes.Replace(l.Payload, []byte("melt"), []byte("add"), 1))
	if err != nil || !r.Alone {
		t.Fatalf("%+v, %v: want it to be said that the others are not there", r, err)
	}
	if err := f.WaitApplied(ctx, r.Sequence); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 3)
}

// TestReplayWhoseAnswerIsLost repeats a replay of which the dead letter could not be dropped.
func TestReplayWhoseAnswerIsLost(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d := newDead(t, js)
	number := storeLetter(t, js, userA, ReasonPlan, 1)
	l, err := d.Get(ctx, number)
	if err != nil {
		t.Fatal(err)
	}
	first := DeadReplay{}
	if err := d.publish(ctx, replayMessage(l, l.Subject, l.Payload, ""), &first); err != nil { // and the process dies
		t.Fatal(err)
	}
	r, err := d.Replay(ctx, number, nil)
	if err != nil || !r.Duplicate || r.Sequence != first.Sequence {
		t.Errorf("%+v, %v: want the same event %d again", r, err, first.Sequence)
	}
	if left := numbers(t, d, DeadQuery{}); len(left) != 0 {
		t.Errorf("dead letters %v are left", left)
	}
}

// TestForgedLettersAreNotPublishedAnywhere: whoever can store a message here must not get kith to send it elsewhere, or with
// headers that the server acts on.
func TestForgedLettersAreNotPublishedAnywhere(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d := newDead(t, js)
	forge := func(subject string, header nats.Header) uint64 {
		l := DeadLetter{Reason: ReasonPlan, Stream: EventStream, Sequence: 1, Subject: subject, Received: time.Unix(1, 0), FactIndex: -1}
		h := l.header()
		h.Del(jetstream.MsgIDHeader)
		for key, values := range header {
			h[key] = values
		}
		return publishRaw(t, js, "memory.dead."+tokenA+".facts.written.v1", []byte("{}"), h)
	}
	for _, subject := range []string{"$JS.API.STREAM.DELETE.MEMORY_EVENTS", "memory.dead.x", "memory.events.>", "memory.events.*", "memory.events.", "memory.events.a b", "other", "memory.events.a..b"} {
		if _, err := d.Replay(ctx, forge(subject, nil), nil); !errors.Is(err, ErrNotReplayable) {
			t.Errorf("subject %q: %v, want a refusal", subject, err)
		}
	}
	publishRaw(t, js, "memory.events.x", []byte("stays"), nil)
	r, err := d.Replay(ctx, forge("memory.events.x", nats.Header{"nats-rollup": {"all"}, "Nats-Expected-Last-Sequence": {"8"}, "Mine": {"kept"}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := getMessage(ctx, js, EventStream, r.Sequence, "")
	if err != nil {
		t.Fatal(err)
	}
	for key := range raw.Header {
		if !slices.Contains([]string{"Mine", HeaderReplayOf, jetstream.MsgIDHeader, "Nats-Expected-Stream"}, key) {
			t.Errorf("published with header %s", key)
		}
	}
}

// TestReplayMatching mends the store and replays what it had refused, and nothing else.
func TestReplayMatching(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	var refuse atomic.Bool
	refuse.Store(true)
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		if refuse.Load() && (touches(c, "f1") || touches(c, "f3")) {
			return graphstoretest.Fault{Before: fmt.Errorf("%w: test", graphstore.ErrBadChange)}
		}
		return graphstoretest.Fault{}
	}))
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, numbered(userA, 5)...)
	publish(t, js, event("three", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{
		map[string]any{"id": "x", "op": "melt"}, map[string]any{"id": "y", "op": "melt"}, map[string]any{"id": "z", "op": "add", "version": 1}}}))
	publishRaw(t, js, "memory.dead.x", []byte("noise"), nil)
	f.applied(t)
	if got := numbers(t, d, DeadQuery{}); len(got) != 5 { // two refused, two facts, noise
		t.Fatalf("dead letters %v, want 5", got)
	}
	refuse.Store(false)
	commits := DeadFilter{Reason: ReasonCommit}
	if r, err := d.ReplayMatching(ctx, commits, true); err != nil || r.Matched != 2 || r.Done != 0 || len(numbers(t, d, DeadQuery{})) != 5 {
		t.Errorf("dry run %+v, %v: want 2 matched and all left alone", r, err)
	}
	r, err := d.ReplayMatching(ctx, commits, false)
	if err != nil || r.Matched != 2 || r.Done != 2 || r.Refused != 0 || len(r.Replayed) != 2 {
		t.Fatalf("%+v, %v: want 2 replayed", r, err)
	}
	if err := f.WaitApplied(ctx, r.Last); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 6)

	// All that is left: two facts of one event, which goes once, and a foreign message, which is refused and stays.
	before := f.Status().Applied
	r, err = d.ReplayMatching(ctx, DeadFilter{From: time.Unix(1, 0)}, false)
	if err != nil || r.Matched != 3 || r.Done != 2 || r.Refused != 1 || len(r.Replayed) != 1 || len(r.Errors) != 1 {
		t.Fatalf("%+v, %v: want two facts replayed in one event, and one refusal", r, err)
	}
	if err := f.WaitApplied(ctx, r.Last); err != nil {
		t.Fatal(err)
	}
	if s := f.Status(); s.Applied != before+1 || s.DeadFacts != 4 {
		t.Errorf("status %+v: want the two facts dead again", s)
	}
	if r, err := d.DropMatching(ctx, DeadFilter{Reason: ReasonBadFact}, true); err != nil || r.Matched != 2 || r.Done != 0 {
		t.Errorf("dry run %+v, %v", r, err)
	}
	if r, err := d.DropMatching(ctx, DeadFilter{UserID: userA}, false); err != nil || r.Matched != 2 || r.Done != 2 {
		t.Errorf("dropped %+v, %v", r, err)
	}
	if got := numbers(t, d, DeadQuery{Filter: DeadFilter{Reason: ReasonForeign}}); len(got) != 1 || len(numbers(t, d, DeadQuery{})) != 1 {
		t.Errorf("left %v, want the foreign one alone", numbers(t, d, DeadQuery{}))
	}
}

// TestOmittedPayload takes the payload from the event stream, as long as that has it.
func TestOmittedPayload(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	most := bytes.Repeat([]byte("x"), int(js.Conn().MaxPayload()))
	publishRaw(t, js, "memory.events.x", most, nil)
	f.applied(t)
	number := only(t, d)
	if l, err := d.Get(ctx, number); err != nil || !bytes.Equal(l.Payload, most) {
		t.Errorf("payload of %d bytes, %v: want that of the event", len(l.Payload), err)
	}
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if l, err := d.Get(ctx, number); err != nil || len(l.Payload) > 0 || l.Omitted != len(most) {
		t.Errorf("%d bytes, %d omitted, %v", len(l.Payload), l.Omitted, err)
	}
	if _, err := d.Replay(ctx, number, nil); !errors.Is(err, ErrNotReplayable) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v, want a refusal", err)
	}
	r, err := d.Replay(ctx, number, factsEvent("short", userA, 1, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WaitApplied(ctx, r.Sequence); err != nil {
		t.Fatal(err)
	}
	g.wantFacts(t, userA, 1)
}

// TestEventThatExpiresDuringAReplay: the event of two bad facts is there when they are gathered, and gone when they are to be
// published together. Each goes alone then, and the work goes on.
func TestEventThatExpiresDuringAReplay(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, newGraph(t), fastConfig()))
	melt := func(id string) any { return map[string]any{"id": id, "op": "melt"} }
	publish(t, js, event("e", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{melt("x"), melt("y")}}))
	f.applied(t)
	f.stop(t) // else they are dead again at once
	page, err := d.List(ctx, DeadQuery{Oldest: true})
	if err != nil || len(page.Letters) != 2 {
		t.Fatalf("dead letters %+v, %v, want two", page, err)
	}
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(ctx, 1); err != nil {
		t.Fatal(err)
	}
	w := deadWork{d: d}
	if err := w.replay(ctx, page.Letters); err != nil {
		t.Fatalf("the work ended: %v", err)
	}
	if r := w.report; r.Matched != 2 || r.Done != 2 || r.Refused != 0 || len(r.Replayed) != 2 || !r.Replayed[0].Alone || !r.Replayed[1].Alone {
		t.Errorf("%+v: want two replayed, each alone", r)
	}
	if left := numbers(t, d, DeadQuery{}); len(left) != 0 {
		t.Errorf("dead letters %v are left", left)
	}
}

// TestHeadersOfAReplayAloneHideNoBadFact: a producer sets the two headers of a replay, invents an id, or copies those of a
// replay for another payload. Its bad fact gets its dead letter all the same.
func TestHeadersOfAReplayAloneHideNoBadFact(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	d, f := newDead(t, js), run(t, newFeed(t, js, g, fastConfig()))
	bad := func(id string) []byte {
		return event(id, "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{map[string]any{"id": "x", "op": "melt"}}})
	}
	const of, elsewhere = "MEMORY_DEAD:1:1", "7"
	copied := replayMessage(Letter{Number: 1, Stored: time.Unix(0, 1)}, "memory.events.x", bad("other"), elsewhere).Header
	if copied.Get(HeaderReplayOf) != of {
		t.Fatalf("a replay has the headers %v, want it to be of %s", copied, of)
	}
	for i, header := range []nats.Header{
		{HeaderReplayOf: {of}, HeaderReplayFacts: {elsewhere}},
		{HeaderReplayOf: {of}, HeaderReplayFacts: {elsewhere}, jetstream.MsgIDHeader: {"mine"}},
		{HeaderReplayOf: {of}, HeaderReplayFacts: {elsewhere}, jetstream.MsgIDHeader: {"replay:" + of + ":0011223344556677"}},
		copied,
	} {
		publishRaw(t, js, "memory.events.x", bad(fmt.Sprint("e", i)), header)
		f.applied(t)
		if got := len(numbers(t, d, DeadQuery{})); got != i+1 {
			t.Errorf("headers %v: %d dead letters, want %d", header, got, i+1)
		}
	}
	// The replay itself, of which the fact in this place is none.
	publishRaw(t, js, "memory.events.x", bad("other"), nats.Header{HeaderReplayOf: {of}, HeaderReplayFacts: {elsewhere}, jetstream.MsgIDHeader: {replayID(of, elsewhere, bad("other"))}})
	f.applied(t)
	if got := len(numbers(t, d, DeadQuery{})); got != 4 {
		t.Errorf("%d dead letters after a replay for another fact, want no more than 4", got)
	}
}
