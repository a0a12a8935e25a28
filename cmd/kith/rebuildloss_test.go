package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/server"
)

// annsEvents writes events of ann's, a second apart: type and data by turns.
func annsEvents(t *testing.T, events ...string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(events); i += 2 {
		fmt.Fprintf(&b, `{"specversion":"1.0","id":"e%d","source":"test","type":"%s","time":"2026-01-01T00:00:%02dZ","data":{"user_id":"ann",%s}}`+"\n", i, events[i], i, events[i+1])
	}
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the stream has dropped made no facts, but a decision, a tombstone and a schema: that is a loss too, which is named and refused,
// by the service and on the files.
func TestRebuildDoesNotDropDecisions(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, annsEvents(t,
		"memory.source.retracted.v1", `"source_id":"doc"`,
		"memory.entity.aliased.v1", `"entity":{"name":"Asha","type":"person"},"alias":"Ash"`,
		"memory.schema.upserted.v1", `"schema_id":"s","level":"l6","title":"Ships","evidence":["f1"]`,
		"memory.facts.written.v1", `"facts":[{"id":"f1","op":"add","version":1}]`))
	p, cl := serve(t, dir)
	projected(t, p, cl, 4)
	want := digestOf(t, cl)
	w := &world{t: t, dir: dir}
	stream, _, done := w.eventStream()
	if err := stream.Purge(context.Background(), jetstream.WithPurgeSequence(4)); err != nil {
		t.Fatal(err)
	}
	done()
	refused := func(where string) {
		t.Helper()
		r, code, errs := rebuildIn(t, dir)
		if code != exitFailed || r.Done || r.Before.Facts != 1 || r.After.Facts != 1 {
			t.Errorf("%s: %d %s %+v: want it refused", where, code, errs, r)
		}
		for _, part := range []string{"0 schemas instead of 1", "0 rows of the merge log instead of 1", "0 tombstones instead of 1"} {
			if !strings.Contains(r.Refused, part) {
				t.Errorf("%s: refused because %q: want %q in it", where, r.Refused, part)
			}
		}
	}
	refused("service")
	if got := digestOf(t, cl); got != want {
		t.Errorf("digest %s after a refusal, want %s", got, want)
	}
	p.terminate(t)
	refused("files")
	if r := mustRebuild(t, dir, "--force"); r.After.Tombstones != 0 || r.After.Records != 1 {
		t.Errorf("forced: %+v: want the fact alone", r.After)
	}
	// Another stream has all it ever had, and still not what this graph was made of.
	other := t.TempDir()
	publish(t, other, annsEvents(t, "memory.facts.written.v1", `"facts":[{"id":"f1","op":"add","version":1}]`))
	mustRebuild(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "nats")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, "nats"), filepath.Join(dir, "nats")); err != nil {
		t.Fatal(err)
	}
	if r := mustRebuild(t, dir); !r.Stream.Other || !r.Stream.Complete {
		t.Errorf("of another stream: %+v", r.Stream)
	}
}

// An event that the feed had settled, that cannot be projected, and that is not among the dead letters is told of.
func TestRebuildTellsWhatHasNoDeadLetter(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, annsEvents(t, "memory.facts.written.v1", `"facts":[{"id":"f1","op":"add","version":1}]`))
	p, cl := serve(t, dir)
	_, js, done := (&world{t: t, dir: dir}).eventStream()
	if _, err := js.Publish(context.Background(), "memory.events.nobody", []byte("no event")); err != nil {
		t.Fatal(err)
	}
	projected(t, p, cl, 2)
	done()
	if r := mustRebuild(t, dir); r.Unburied != 0 || len(r.Problems) != 1 || r.Problems[0].Unburied {
		t.Errorf("with its dead letter: %+v", r)
	}
	p.terminate(t)
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "dead", "drop", "1"); code != exitOK {
		t.Fatalf("drop: %d %s%s", code, out, errs)
	}
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "rebuild", "--from-log")
	if code != exitOK || !strings.Contains(out, "(no dead letter)") || !strings.Contains(out, "1 of these events were settled before") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	var r server.Rebuild
	_, out, _ = kith(t, "--data-dir", dir, "--log-level=error", "rebuild", "--from-log", "--user=ann", "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Unburied != 0 { // it is nobody's
		t.Errorf("%v: %+v", err, r)
	}
}
