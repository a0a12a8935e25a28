package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// userA and tokenA are a user id and its token, worked out by hand: "ada" is 61 64 61, the five-bit groups 01100 00101 10010
// 00110 0001(0) are 12 5 18 6 2, in base32hex c 5 i 6 2.
const (
	userA  = "ada"
	tokenA = "c5i62"
)

func TestBadEventsAreDeadLettered(t *testing.T) {
	good := string(factsEvent("ok", userA, 1, "f"))
	for name, c := range map[string]struct {
		subject, payload string
		wantSubject      string
		wantID           string
		wantError        []string
	}{
		"not JSON at all": {
			"memory.events.x", "\x00\xff{", "memory.dead.unknown.unknown", "", []string{"$"},
		},
		"an empty message": {
			"memory.events." + tokenA + ".facts.written.v1", "", "memory.dead." + tokenA + ".facts.written.v1", "", []string{"$"},
		},
		"an unknown type": {
			"memory.events.x", strings.Replace(good, "memory.facts.written.v1", "memory.weather.v1", 1),
			"memory.dead." + tokenA + ".unknown", "ok", []string{"memory.weather.v1", "unknown event type"},
		},
		"a higher major version": {
			"memory.events.x", strings.Replace(good, "written.v1", "written.v2", 1),
			"memory.dead." + tokenA + ".unknown", "ok", []string{"memory.facts.written.v2", "higher major version"},
		},
		"a naive time": {
			"memory.events.x", strings.Replace(good, "12:00:00Z", "12:00:00", 1),
			"memory.dead." + tokenA + ".facts.written.v1", "ok", []string{"time", "2026-11-30T12:00:00", "zone"},
		},
		"no user": {
			"memory.events.x", strings.Replace(good, `"user_id":"ada"`, `"user_id":""`, 1),
			"memory.dead.unknown.facts.written.v1", "ok", []string{"data.user_id", "empty"},
		},
		"a subject that names another user": {
			projector.Subject("bob", projector.TypeFactsWritten), good,
			"memory.dead." + tokenA + ".facts.written.v1", "ok", []string{"data.user_id", `"ada"`, `"bob"`},
		},
		"a user that is a number, cut off": {
			"memory.events.x", strings.Replace(strings.Replace(good, `"ada"`, "17", 1), "12:00:00Z", "never", 1),
			"memory.dead.64rg.facts.written.v1", "ok", []string{"time"}, // "17" is 31 37: 00110 00100 11011 1(0000), 6 4 r g
		},
	} {
		t.Run(name, func(t *testing.T) {
			js, g := newJS(t), newGraph(t)
			f := run(t, newFeed(t, js, g, fastConfig()))
			header := nats.Header{"X-Trace": {"a", "b"}, "traceparent": {"00-1-2-01"}, jetstream.MsgIDHeader: {"original"}}
			seq := publishRaw(t, js, c.subject, []byte(c.payload), header)
			publish(t, js, []byte(good))
			f.applied(t)
			g.wantFacts(t, userA, 1) // the good one behind it
			wantSettled(t, js)

			msgs := deadMessages(t, js)
			if len(msgs) != 1 {
				t.Fatalf("%d dead letters, want 1", len(msgs))
			}
			if !bytes.Equal(msgs[0].Data, []byte(c.payload)) {
				t.Errorf("payload %q, want it as it came: %q", msgs[0].Data, c.payload)
			}
			if msgs[0].Subject != c.wantSubject {
				t.Errorf("subject %s, want %s", msgs[0].Subject, c.wantSubject)
			}
			if got, want := msgs[0].Header.Get(jetstream.MsgIDHeader), fmt.Sprintf("dlq:MEMORY_EVENTS:%d", seq); got != want {
				t.Errorf("message id %s, want %s", got, want)
			}
			letter := deadLetters(t, js)[0]
			if letter.Reason != ReasonBadEvent || letter.Stream != EventStream || letter.Sequence != seq || letter.Deliveries != 1 ||
				letter.Subject != c.subject || letter.FactIndex != -1 || letter.Received.IsZero() || letter.EventID != c.wantID {
				t.Errorf("dead letter %+v, want the event's id %q", letter, c.wantID)
			}
			if diff := cmp.Diff(nats.Header{"X-Trace": {"a", "b"}, "traceparent": {"00-1-2-01"}}, letter.Header); diff != "" {
				t.Errorf("headers of the original (-want +got):\n%s", diff)
			}
			for _, want := range c.wantError {
				if !strings.Contains(letter.LastError, want) || letter.FirstError != letter.LastError {
					t.Errorf("errors %q and %q: want both to say %q", letter.FirstError, letter.LastError, want)
				}
			}
			if s := f.Status(); s.Dead != 1 || s.Applied != 1 || s.Returned != 0 {
				t.Errorf("status %+v: want 1 dead, 1 applied", s)
			}
		})
	}
}

func TestEventsOnOtherSubjectsAreGood(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	for i, subject := range []string{"memory.events.x", "memory.events.imported.2026", "memory.events." + tokenA, "memory.events." + tokenA + ".other"} {
		publishRaw(t, js, subject, factsEvent(fmt.Sprint(i), userA, 1, fmt.Sprint("f", i)), nil)
	}
	f.applied(t)
	g.wantFacts(t, userA, 4)
}

func TestBadFactsOfAGoodEvent(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	payload := event("e1", "memory.facts.written.v1", map[string]any{"user_id": userA, "batch_id": "b", "facts": []any{
		map[string]any{"id": "f0", "op": "add", "version": 1},
		map[string]any{"id": "f1", "op": "add", "version": 1, "memory_at": "yesterday", "content": "<&>"},
		map[string]any{"id": "f2", "op": "add", "version": 1},
		map[string]any{"id": "f3", "op": "melt", "version": 1},
	}})
	f := run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, payload)
	f.applied(t)
	g.wantFacts(t, userA, 2)
	wantSettled(t, js)

	letters := deadLetters(t, js)
	if len(letters) != 2 {
		t.Fatalf("%d dead letters, want 2", len(letters))
	}
	for i, want := range []struct {
		index     int
		id        string
		says      []string
		messageID string
	}{
		{1, "f1", []string{"data.facts[1].memory_at", "yesterday"}, "dlq:MEMORY_EVENTS:1:1"},
		{3, "f3", []string{"data.facts[3].op", "melt"}, "dlq:MEMORY_EVENTS:1:3"},
	} {
		l := letters[i]
		if l.Reason != ReasonBadFact || l.EventID != "e1" || l.FactIndex != want.index || l.FactID != want.id || l.MessageID() != want.messageID {
			t.Errorf("dead letter %+v, want fact %d", l, want.index)
		}
		for _, says := range want.says {
			if !strings.Contains(l.LastError, says) {
				t.Errorf("error %q does not say %q", l.LastError, says)
			}
		}
		var whole, single struct {
			ID   string
			Data struct {
				UserID  string `json:"user_id"`
				BatchID string `json:"batch_id"`
				Facts   []json.RawMessage
			}
		}
		if err := json.Unmarshal(payload, &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(l.Payload, &single); err != nil {
			t.Fatal(err)
		}
		whole.Data.Facts = whole.Data.Facts[want.index : want.index+1]
		if diff := cmp.Diff(whole, single); diff != "" {
			t.Errorf("event of the one fact (-want +got):\n%s", diff)
		}
	}
	if s := f.Status(); s.Applied != 1 || s.DeadFacts != 2 || s.Dead != 0 {
		t.Errorf("status %+v: want 1 applied with 2 dead facts", s)
	}
}

func TestDeadLettersWaitForTheirStream(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	if err := js.DeleteStream(ctx, DeadStream); err != nil {
		t.Fatal(err)
	}
	// Another stream holds the subjects, so that the feed cannot make its own.
	blocker := jetstream.StreamConfig{Name: "BLOCKER", Subjects: []string{"memory.dead.>"}}
	log := &lines{}
	cfg := fastConfig()
	cfg.Logger = slog.New(log)
	f := newFeed(t, js, g, cfg)
	r := run(t, f)
	r.attached(t) // made the dead-letter stream again
	if err := js.DeleteStream(ctx, DeadStream); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, blocker); err != nil {
		t.Fatal(err)
	}
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	publish(t, js, numbered(userA, 1)...)
	eventually(t, "the bad event goes back many times, the good one is applied", func() bool { s := f.Status(); return s.Returned >= 5 && s.Applied == 1 })
	s := f.Status()
	if s.Dead != 0 || s.LastError == nil || s.Failures == 0 || s.Undelivered != 1 {
		t.Errorf("status %+v: want one undelivered and a failure while dead letters cannot be stored", s)
	}
	if again := f.Status(); !again.LastSuccess.Equal(s.LastSuccess) {
		t.Errorf("success at %s while a dead letter waits", again.LastSuccess)
	}
	if err := js.DeleteStream(ctx, "BLOCKER"); err != nil {
		t.Fatal(err)
	}
	r.applied(t)
	g.wantFacts(t, userA, 1)
	letters := deadLetters(t, js)
	if len(letters) != 1 || letters[0].Deliveries < 3 || string(letters[0].Payload) != "bad" {
		t.Fatalf("dead letters %+v, want the bad event after 3 or more deliveries", letters)
	}
	eventually(t, "the trouble is over", func() bool {
		now := f.Status()
		return now.Undelivered == 0 && now.Failures == 0 && now.LastSuccess.After(s.LastSuccess)
	})
	for _, want := range []string{"ERROR dead letter cannot be stored", "INFO dead letters are stored again"} {
		if n := log.count(want); n != 1 {
			t.Errorf("%q is logged %d times in one episode, want once", want, n)
		}
	}
}

func TestBadFactsWaitForTheirStreamToo(t *testing.T) {
	ctx, js, g := testContext(t), newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	f.attached(t)
	if err := js.DeleteStream(ctx, DeadStream); err != nil {
		t.Fatal(err)
	}
	publish(t, js, event("e", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{
		map[string]any{"id": "good", "op": "add", "version": 1}, map[string]any{"id": "bad", "op": "melt", "version": 1}}}))
	f.applied(t) // the feed makes the stream again
	g.wantFacts(t, userA, 1)
	if letters := deadLetters(t, js); len(letters) != 1 || letters[0].FactID != "bad" {
		t.Errorf("dead letters %+v, want the bad fact once", letters)
	}
}

func TestLargeEvents(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := run(t, newFeed(t, js, g, fastConfig()))
	limit := projector.DefaultMaxEventBytes
	fits := padded(t, "fits", limit)
	over := padded(t, "over", limit+1)
	most := bytes.Repeat([]byte("x"), int(js.Conn().MaxPayload()))
	seqs := []uint64{
		publishRaw(t, js, "memory.events.x", fits, nil),
		publishRaw(t, js, "memory.events.x", over, nil),
		publishRaw(t, js, "memory.events.x", most, nil),
	}
	f.applied(t)
	g.wantFacts(t, userA, 1)
	letters := deadLetters(t, js)
	if len(letters) != 2 {
		t.Fatalf("%d dead letters, want 2", len(letters))
	}
	if l := letters[0]; l.Sequence != seqs[1] || !bytes.Equal(l.Payload, over) || l.Omitted != 0 ||
		!strings.Contains(l.LastError, "1048577 bytes: want at most 1048576") {
		t.Errorf("dead letter of one byte too much: sequence %d, %d bytes, %d omitted, %s", l.Sequence, len(l.Payload), l.Omitted, l.LastError)
	}
	// The largest message the server takes has no room for our headers: its payload stays where it is.
	if l := letters[1]; l.Sequence != seqs[2] || len(l.Payload) != 0 || l.Omitted != len(most) {
		t.Errorf("dead letter without room: sequence %d, %d bytes, %d omitted", l.Sequence, len(l.Payload), l.Omitted)
	}
}

// padded returns an event of exactly size bytes.
func padded(t *testing.T, factID string, size int) []byte {
	t.Helper()
	build := func(pad int) []byte {
		return event(factID, "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{
			map[string]any{"id": factID, "op": "add", "version": 1, "content": strings.Repeat("x", pad)}}})
	}
	payload := build(size - len(build(0)))
	if len(payload) != size {
		t.Fatalf("event has %d bytes, want %d", len(payload), size)
	}
	return payload
}

func TestParseDeadLetterNamesWhatIsMissing(t *testing.T) {
	_, err := ParseDeadLetter(nats.Header{HeaderSequence: {"-1"}, HeaderDeliveries: {"many"}, HeaderReason: {"bad_event"}}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{HeaderSequence + ` "-1"`, HeaderDeliveries + ` "many"`, HeaderStream + ": missing", HeaderSubject + ": missing", HeaderReceived} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestTraceparentInEitherCase(t *testing.T) {
	for _, c := range []struct {
		header nats.Header
		want   string
	}{
		{nats.Header{"traceparent": {"lower"}}, "lower"},
		{nats.Header{"Traceparent": {"upper"}}, "upper"},
		{nats.Header{"Other": {"x"}}, ""},
		{nil, ""},
	} {
		if got := Traceparent(c.header); got != c.want {
			t.Errorf("%v: %q, want %q", c.header, got, c.want)
		}
	}
}

func TestHostileMembersOfADeadEvent(t *testing.T) {
	fact := `{"id":"f","op":"melt"}`
	payload := []byte(`{"DATA":{"user_id":"eve","facts":[]},"data":{"user_id":"ada","USER_ID":"eve","Facts":[],"facts":[` + fact + `]},` +
		`"id":"e","ID":"x","specversion":"1.0","type":"memory.facts.written.v1","FACTS":[]}`)
	e := readLoosely(payload)
	if got, want := e.deadSubject("memory.events.x"), "memory.dead."+tokenA+".facts.written.v1"; got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
	facts, err := e.facts()
	if err != nil || len(facts) != 1 {
		t.Fatalf("%d facts, %v", len(facts), err)
	}
	single, err := e.with(facts[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"specversion":"1.0","id":"e","type":"memory.facts.written.v1","data":{"user_id":"ada","facts":[` + fact + `]}}`
	if string(single) != want {
		t.Errorf("event of the one fact %s, want %s", single, want)
	}
}

func TestLooseIDIsAValidOneOrNone(t *testing.T) {
	for payload, want := range map[string]string{
		`{"id":"e-1","type":7}`:        "e-1",
		`{"id":17}`:                    "17",
		`{"ID":"e-1"}`:                 "",
		`{"id":""}`:                    "",
		`{"id":{"a":1}}`:               "",
		`{"id":1.5}`:                   "",
		`{"id":"a\r\nNats-Msg-Id: x"}`: "",
		"{\"id\":\"a\xff\"}":           "",
		`{"id":"` + strings.Repeat("x", 513) + `"}`: "", // one more than an id may have
		`{"id":"` + strings.Repeat("x", 512) + `"}`: strings.Repeat("x", 512),
		`["id"]`:         "",
		`{"id":"cut off`: "",
	} {
		if got := readLoosely([]byte(payload)).id(); got != want {
			t.Errorf("id of %.40q is %q, want %q", payload, got, want)
		}
	}
}

func TestManyBadFacts(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	facts := make([]any, 1000)
	for i := range facts {
		facts[i] = map[string]any{"id": fmt.Sprint("f", i), "op": "melt", "version": 1, "content": strings.Repeat("x", 900)}
	}
	f := run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, event("e", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": facts}))
	f.applied(t)
	if letters := deadLetters(t, js); len(letters) != 1000 || letters[999].FactIndex != 999 {
		t.Errorf("%d dead letters, want one for each of 1000 facts", len(letters))
	}
	if s := f.Status(); s.Redelivered != 0 {
		t.Errorf("status %+v: want the event delivered once", s)
	}
}

// TestDeadLetterWhoseIDIsTaken: the server takes it for a repeat of a message that is another one.
func TestDeadLetterWhoseIDIsTaken(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	old := DeadLetter{Reason: ReasonBadEvent, Stream: EventStream, Sequence: 2, Deliveries: 1, Subject: "memory.events.x", Received: time.Unix(1, 0), FactIndex: -1}
	publishRaw(t, js, "memory.dead.unknown.unknown", []byte("of a stream that was deleted"), old.header())
	publishRaw(t, js, "memory.dead.unknown.unknown", []byte("forged"), nats.Header{jetstream.MsgIDHeader: {"dlq:MEMORY_EVENTS:1"}})
	f := run(t, newFeed(t, js, g, fastConfig()))
	publishRaw(t, js, "memory.events.x", []byte("bad"), nil)
	publishRaw(t, js, "memory.events.x", []byte("worse"), nil)
	f.applied(t)
	var got []string
	for _, msg := range deadMessages(t, js) {
		got = append(got, string(msg.Data))
	}
	if diff := cmp.Diff([]string{"of a stream that was deleted", "forged", "bad", "worse"}, got); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}
