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
	"github.com/kithgraph/kith/projector/feed"
)

// deadWorld is a service with dead letters.
type deadWorld struct {
	t   *testing.T
	dir string
	p   *process // nil: none runs
	cl  *client
}

// jet connects to the stream of the running service.
func (w *deadWorld) jet() jetstream.JetStream {
	w.t.Helper()
	nc, js := jetStreamOf(w.t, w.dir)
	w.t.Cleanup(nc.Close)
	eventually(w.t, w.p, func() bool {
		_, err := js.Stream(context.Background(), feed.DeadStream)
		return err == nil
	})
	return js
}

// publish puts any bytes on the event stream and returns the sequence.
func (w *deadWorld) publish(js jetstream.JetStream, payload string) uint64 {
	w.t.Helper()
	ack, err := js.Publish(context.Background(), "memory.events.x", []byte(payload))
	if err != nil {
		w.t.Fatal(err)
	}
	return ack.Sequence
}

// kith runs a dead command and returns its exit code and all it printed.
func (w *deadWorld) kith(args ...string) (int, string) {
	w.t.Helper()
	code, out, errs := kith(w.t, append([]string{"--data-dir", w.dir, "--log-level=error", "dead"}, args...)...)
	return code, out + errs
}

// want runs a dead command and checks its exit code and what it says.
func (w *deadWorld) want(code int, says string, args ...string) string {
	w.t.Helper()
	got, out := w.kith(args...)
	if got != code || !strings.Contains(out, says) {
		w.t.Errorf("kith dead %v: %d\n%s\nwant %d and %q", args, got, out, code, says)
	}
	return out
}

// list returns what is listed, as programs see it.
func (w *deadWorld) list(args ...string) []server.DeadLetter {
	w.t.Helper()
	var page server.DeadPage
	if out := w.want(exitOK, "", append([]string{"list", "--json"}, args...)...); json.Unmarshal([]byte(out), &page) != nil {
		w.t.Fatalf("no JSON: %s", out)
	}
	return page.Letters
}

func writeFact(user, id, op, when string) string {
	return fmt.Sprintf(`{"specversion": "1.0", "id": "e-%s", "source": "test", "type": "memory.facts.written.v1", "time": %q, "data": {"user_id": %q, "facts": [{"id": %q, "op": %q}]}}`,
		id, when, user, id, op)
}

// TestDead works on dead letters of a running service, and of none: a bad event is listed, shown, corrected and replayed,
// and ends in the graph.
func TestDead(t *testing.T) {
	w := &deadWorld{t: t, dir: t.TempDir()}
	w.p, w.cl = serve(t, w.dir)
	js := w.jet()
	const naive, good = "2026-11-30T12:00:00", "2026-11-30T12:00:00Z"
	w.publish(js, writeFact("ann", "f1", "add", naive))
	w.publish(js, writeFact("bob", "f2", "melt", good))
	w.publish(js, "\x1b[2J not an event \xff")
	last := w.publish(js, writeFact("ann", "f3", "add", good))
	projected(t, w.p, w.cl, last)

	all := w.list()
	if len(all) != 3 || all[0].Number < all[1].Number || all[1].Number < all[2].Number {
		t.Fatalf("listed %+v, want 3, the newest first", all)
	}
	if oldest := w.list("--oldest", "--limit=1"); len(oldest) != 1 || oldest[0].Number != all[2].Number {
		t.Errorf("the oldest is %+v, want %d", oldest, all[2].Number)
	}
	ann := w.list("--user=ann")
	if len(ann) != 1 || ann[0].Reason != "bad_event" || ann[0].EventID != "e-f1" || !strings.Contains(ann[0].LastError, "zone") || ann[0].FirstErrorAt.IsZero() {
		t.Fatalf("ann's are %+v", ann)
	}
	for args, want := range map[string]int{"--reason=bad_fact": 1, "--reason=bad_event": 2, "--type=unknown": 1, "--type=memory.facts.written.v1": 2, "--since=1h": 3, "--since=2100-01-01T00:00:00Z": 0, "--until=1h": 0, "--user=zoe": 0, "--reason=foreign": 0} {
		if got := w.list(args); len(got) != want {
			t.Errorf("%s: %d listed, want %d", args, len(got), want)
		}
	}
	table := w.want(exitOK, "the service at http://", "list")
	if strings.Contains(table, "\x1b") || strings.Count(table, "\n") != 6 || !strings.Contains(table, "3 of 3 in the stream") {
		t.Errorf("table:\n%q\nwant who was asked, a head, three rows and a count", table)
	}
	w.want(exitOK, "--after=", "list", "--limit=1")

	// Show: the payload as it came, for people and byte for byte.
	number := fmt.Sprint(ann[0].Number)
	w.want(exitOK, "first error", "show", number)
	if code, out := w.kith("show", number, "--payload"); code != exitOK || out != writeFact("ann", "f1", "add", naive) {
		t.Errorf("payload %d %q", code, out)
	}
	noise := fmt.Sprint(w.list("--type=unknown")[0].Number)
	if code, out := w.kith("show", noise, "--payload"); code != exitOK || out != "\x1b[2J not an event \xff" {
		t.Errorf("payload %d %q", code, out)
	}
	if out := w.want(exitOK, "base64", "show", noise); strings.Contains(out, "\x1b") {
		t.Errorf("shown to a terminal: %q", out)
	}
	w.want(exitFailed, "no such dead letter", "show", "999")

	// Replay: refused as long as it is not corrected, then projected.
	file := filepath.Join(t.TempDir(), "event.json")
	correct := func(payload string) {
		if err := os.WriteFile(file, []byte(payload), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	correct(writeFact("ann", "f1", "add", naive))
	w.want(exitFailed, "zone", "replay", number, "--file", file)
	correct(writeFact("bob", "f1", "add", good))
	w.want(exitFailed, `data.user_id "bob"`, "replay", number, "--file", file)
	correct(writeFact("ann", "f1", "add", good))
	w.want(exitOK, "dry run: would replay 1 of 1", "replay", number, "--file", file, "--dry-run")
	w.want(exitOK, "replayed 1 of 1", "replay", number, "--file", file)
	projected(t, w.p, w.cl, last+1)
	if facts := w.facts(); facts != 2 {
		t.Errorf("%d facts are present, want f1 and f3", facts)
	}
	w.want(exitFailed, "no such dead letter", "replay", number)

	// Many: dry run first, then what it said.
	w.want(exitOK, "dry run: would drop 1 of 1", "drop", "--all", "--type=unknown", "--dry-run")
	if len(w.list()) != 2 {
		t.Error("a dry run dropped something")
	}
	w.want(exitOK, "dropped 1 of 1", "drop", "--all", "--type=unknown")
	w.want(exitOK, "replayed 1 of 1", "replay", "--all", "--user=bob")
	projected(t, w.p, w.cl, last+2)
	if left := w.list(); len(left) != 1 || left[0].FactIndex == nil || left[0].Sequence != last+2 {
		t.Errorf("left %+v, want bob's fact, dead again", left)
	}
	w.p.terminate(t)

	// None runs: the stream in the data directory is asked.
	offline := w.list()
	if len(offline) != 1 {
		t.Fatalf("without a service %+v are listed", offline)
	}
	w.want(exitOK, "since no service runs", "list")
	number = fmt.Sprint(offline[0].Number)
	correct(writeFact("bob", "f2", "add", good))
	w.want(exitOK, "replayed 1 of 1", "replay", number, "--file", file)
	w.want(exitOK, "0 of 0 in the stream", "list")
	w.p, w.cl = serve(t, w.dir)
	projected(t, w.p, w.cl, last+3)
	if facts := w.facts(); facts != 3 {
		t.Errorf("%d facts are present, want bob's too", facts)
	}
	w.p.terminate(t)
}

// facts returns how many facts are present.
func (w *deadWorld) facts() int {
	w.t.Helper()
	st, err := w.cl.stats(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return st.Graph.Present
}

func TestDeadUsage(t *testing.T) {
	w := &deadWorld{t: t, dir: t.TempDir()}
	none := filepath.Join(w.dir, "none.json")
	noJSON := filepath.Join(w.dir, "cut.json")
	if err := os.WriteFile(noJSON, []byte(`{"id": `), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"want numbers of dead letters":                 {"drop"},
		"--all: want at least one of":                  {"drop", "--all"},
		"want either numbers":                          {"drop", "3", "--all", "--user=ann"},
		"want either numbers of dead letters or --all": {"replay", "3", "--user=ann"},
		"--file":                          {"replay", "3", "4", "--file", noJSON},
		"no JSON":                         {"replay", "3", "--file", noJSON},
		"none.json":                       {"replay", "3", "--file", none},
		`--since "yesterday"`:             {"list", "--since=yesterday"},
		"--until \"2026-01-01T00:00:00\"": {"list", "--until=2026-01-01T00:00:00"},
		"--limit -1":                      {"list", "--limit=-1"},
		"number":                          {"show", "three"},
		"either --payload or --json":      {"show", "3", "--payload", "--json"},
		"there is no stream in":           {"list"},
	} {
		if code, out := w.kith(args...); code != exitUsage || !strings.Contains(out, says) {
			t.Errorf("kith dead %v: %d %s: want %d and %q", args, code, out, exitUsage, says)
		}
	}
}

// TestDeadWithoutNATS: what cannot be asked is an error, and no empty list.
func TestDeadWithoutNATS(t *testing.T) {
	t.Setenv("NATS_URL", "nats://"+closedPort(t))
	w := &deadWorld{t: t, dir: t.TempDir()}
	w.want(exitFailed, "NATS does not answer", "list")
	w.want(exitFailed, "NATS does not answer", "drop", "--all", "--user=ann")
}
