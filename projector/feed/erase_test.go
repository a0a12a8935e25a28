package feed

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var erasedAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// userEvent is an event of one fact, as a producer that uses no code of kith's writes it.
func userEvent(user, id, fact, content, at string) []byte {
	return fmt.Appendf(nil, `{"specversion": "1.0", "id": %q, "source": "t", "type": "memory.facts.written.v1", "time": %q,
		"data": {"user_id": %q, "facts": [{"id": %q, "op": "add", "content": %q}]}}`, id, at, user, fact, content)
}

// put stores a message and returns its sequence.
func put(t *testing.T, js jetstream.JetStream, subject string, header nats.Header, payload []byte) uint64 {
	t.Helper()
	ack, err := js.PublishMsg(testContext(t), &nats.Msg{Subject: subject, Header: header, Data: payload})
	if err != nil {
		t.Fatal(err)
	}
	return ack.Sequence
}

// bytesIn counts how often each text is in the files below a directory.
func bytesIn(t *testing.T, dir string, texts ...string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if n := bytes.Count(data, []byte(text)); n > 0 {
				counts[text] += n
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// everything returns all messages of both streams.
func everything(t *testing.T, e *Eraser) map[string]KeptMessage {
	t.Helper()
	all := map[string]KeptMessage{}
	for _, stream := range Streams() {
		if _, err := e.EachKept(testContext(t), stream, func(m KeptMessage) error {
			all[fmt.Sprintf("%s %d", stream, m.Sequence)] = m
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestErase puts what a user can have left in the streams beside what looks like it and is not.
func TestErase(t *testing.T) {
	dir := t.TempDir()
	js := connectTo(t, startServer(t, dir, "127.0.0.1:0").ClientURL())
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	const before, after = "2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000001Z" // the time itself is not later
	ann, bob := projector.Subject("ann", projector.TypeFactsWritten), projector.Subject("bob", projector.TypeFactsWritten)
	deadAnn, deadBob := strings.Replace(ann, "events", "dead", 1), strings.Replace(bob, "events", "dead", 1)
	doomed, stays := map[string]bool{}, map[string]bool{}
	event := func(gone bool, subject string, header nats.Header, payload []byte) {
		t.Helper()
		stream := EventStream
		if strings.HasPrefix(subject, deadPrefix) {
			stream = DeadStream
		}
		key := fmt.Sprintf("%s %d", stream, put(t, js, subject, header, payload))
		if gone {
			doomed[key] = true
		} else {
			stays[key] = true
		}
	}
	for i := range 40 {
		event(true, ann, nats.Header{"Nats-Msg-Id": {fmt.Sprintf("canary-id-%d", i)}}, userEvent("ann", "e", "f1", fmt.Sprintf("canary-content-%d", i), before))
		event(false, bob, nil, userEvent("bob", "e", "f1", fmt.Sprintf("bobs-content-%d", i), before))
	}
	event(true, "memory.events.other.place", nil, userEvent("ann", "e", "f", "canary-elsewhere", before))
	event(true, bob, nil, userEvent("ann", "e", "f", "canary-on-bobs-subject", before))
	event(true, ann, nil, []byte(`{"canary-broken`))
	event(true, ann, nats.Header{"Status": {"canary-swallowed"}}, nil)
	event(true, ann+".more", nil, []byte(`{"type": "memory.facts.danced.v7", "time": "canary-time", "data": {"user_id": "ann"}}`))
	event(true, ann, nil, userEvent("ann", "e", "f", "canary-naive", "2027-01-01T00:00:00")) // no zone: not a time
	event(false, ann, nil, userEvent("bob", "e", "f", "bobs-on-anns-subject", before))
	event(false, ann, nil, userEvent("ann", "e", "f", "later-content", after))
	event(false, "memory.events.other.place", nil, []byte(`{"nobodys`))
	event(true, deadAnn, nats.Header{HeaderLastError: {"canary-error"}}, userEvent("ann", "e", "f", "canary-dead", before))
	event(true, deadPrefix+"unknown.unknown", nil, userEvent("ann", "e", "f", "canary-unfiled", before))
	event(true, deadAnn, nats.Header{HeaderOmitted: {"canary-omitted"}}, nil)
	event(false, deadBob, nil, userEvent("bob", "e", "f", "bobs-dead", before))
	event(false, deadAnn, nil, userEvent("ann", "e", "f", "later-dead", after))

	asked, err := projector.NewEvent("asked", "t", erasedAt, "ann", projector.UserForgotten{})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := projector.Marshal(asked, projector.Limits{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	forgotten := projector.Subject("ann", projector.TypeUserForgotten)
	event(true, forgotten, nil, payload) // an earlier one
	what := Erasure{UserID: "ann", Sequence: put(t, js, forgotten, nil, payload), At: asked.Time}
	stays[fmt.Sprintf("%s %d", EventStream, what.Sequence)] = true

	eraser, err := NewEraser(js, 0)
	if err != nil {
		t.Fatal(err)
	}
	was := everything(t, eraser)
	if len(was) != len(doomed)+len(stays) {
		t.Fatalf("%d messages read, %d were stored", len(was), len(doomed)+len(stays))
	}
	canaries := []string{"canary-content-0", "canary-content-39", "canary-id-7", "canary-elsewhere", "canary-on-bobs-subject", "canary-broken",
		"canary-swallowed", "canary-time", "canary-naive", "canary-error", "canary-dead", "canary-unfiled", "canary-omitted"}
	others := []string{"bobs-content-0", "bobs-content-39", "bobs-on-anns-subject", "later-content", "nobodys", "bobs-dead", "later-dead"}
	if got := bytesIn(t, dir, canaries...); len(got) != len(canaries) {
		t.Fatalf("only %v is found before the erasure: the search proves nothing", got)
	}
	// 40 in pairs, 6 elsewhere or unreadable, the earlier request; 3 dead letters; 2 dated later.
	want := Erased{Events: 47, Asked: 1, Dead: 3, Later: 2, Read: len(was)}
	if got, err := eraser.Count(testContext(t), what); err != nil || got != want {
		t.Fatalf("count: %+v, %v: want %+v", got, err, want)
	}
	steps := 0
	got, err := eraser.Erase(testContext(t), what, func(Erased) { steps++ })
	if err != nil || got != want || steps != 50 {
		t.Errorf("erased %+v in %d steps, %v: want %+v in 50", got, steps, err, want)
	}
	left := everything(t, eraser)
	for key := range doomed {
		delete(was, key)
	}
	if diff := cmp.Diff(was, left); diff != "" {
		t.Errorf("what stays (-want +got):\n%s", diff)
	}
	if got := bytesIn(t, dir, canaries...); len(got) > 0 {
		t.Errorf("still in the server's files: %v", got)
	}
	if got := bytesIn(t, dir, others...); len(got) != len(others) {
		t.Errorf("of the others only %v is still in the server's files", got)
	}
	want = Erased{Later: 2, Read: len(left)}
	if got, err := eraser.Erase(testContext(t), what, func(Erased) {}); err != nil || got != want {
		t.Errorf("a second erasure: %+v, %v: want %+v", got, err, want)
	}
}

// A purge is no erasure: the reason for erasing message by message. If a server comes to do better, this test fails.
func TestPurgeLeavesBytes(t *testing.T) {
	dir := t.TempDir()
	js := connectTo(t, startServer(t, dir, "127.0.0.1:0").ClientURL())
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	put(t, js, projector.Subject("ann", projector.TypeFactsWritten), nil, []byte("canary-purged"))
	put(t, js, projector.Subject("bob", projector.TypeFactsWritten), nil, []byte("bobs"))
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(testContext(t), jetstream.WithPurgeSubject(projector.Subject("ann", projector.TypeFactsWritten))); err != nil {
		t.Fatal(err)
	}
	if got := bytesIn(t, dir, "canary-purged"); len(got) == 0 {
		t.Error("a purge overwrites what it deletes: it can take the place of single deletions")
	}
}

func TestEraseRefuses(t *testing.T) {
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	eraser, err := NewEraser(js, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, what := range map[string]Erasure{
		"no user": {At: graphstore.InstantOf(erasedAt)},
		"no time": {UserID: "ann"},
	} {
		if _, err := eraser.Erase(testContext(t), what, func(Erased) {}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, err := eraser.Erase(testContext(t), Erasure{UserID: "ann", At: 1}, func(Erased) {}); err != nil || got != (Erased{}) {
		t.Errorf("without streams: %+v, %v: want nothing", got, err)
	}
	if _, err := NewEraser(js, -time.Second); err == nil {
		t.Error("a negative timeout is no error")
	}
}

// A stream that its operator has closed against deletion is an error that says so, and nothing is taken for erased.
func TestEraseDeniedByStream(t *testing.T) {
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	cfg := StreamsConfig{}.withDefaults().events()
	cfg.DenyDelete = true
	if _, err := js.CreateStream(testContext(t), cfg); err != nil {
		t.Fatal(err)
	}
	put(t, js, projector.Subject("ann", projector.TypeFactsWritten), nil, userEvent("ann", "e", "f", "x", "2026-01-01T00:00:00Z"))
	eraser, err := NewEraser(js, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := eraser.Erase(testContext(t), Erasure{UserID: "ann", At: graphstore.InstantOf(erasedAt)}, func(Erased) {})
	if err == nil || got.Events != 0 {
		t.Errorf("erased %+v, %v: want an error and nothing", got, err)
	}
	t.Log(err)
}
