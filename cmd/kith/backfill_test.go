package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
)

// backfillIn runs the command on a data directory and returns its account.
func backfillIn(t *testing.T, dir string, args ...string) (server.Backfill, int, string) {
	t.Helper()
	code, out, errs := kith(t, append([]string{"--data-dir", dir, "--log-level=warn", "backfill", "--json"}, args...)...)
	var b server.Backfill
	if out != "" {
		if err := json.Unmarshal([]byte(out), &b); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return b, code, errs
}

func mustBackfill(t *testing.T, dir string, args ...string) server.Backfill {
	t.Helper()
	b, code, errs := backfillIn(t, dir, args...)
	if code != exitOK || !b.Report.Done {
		t.Fatalf("backfill: %d %s: %+v", code, errs, b)
	}
	return b
}

// storePoints stores points of the users that events are about, some of facts that events write and some of others.
func (w *world) storePoints(each int) {
	w.t.Helper()
	var lines strings.Builder
	for u := range 5 {
		for i := range each {
			fmt.Fprintf(&lines, `{"user_id": "user-%d", "id": "f%d", "vector": [1, %d.5], "payload": {"content": "point", "version": %d, "tags": ["stored"], "batch_id": "sb%d"}}`+"\n",
				u, 3*i, i%7, i%3, i/4)
		}
	}
	file := filepath.Join(w.t.TempDir(), "stored.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if code, out, errs := kith(w.t, "--data-dir", w.dir, "--log-level=warn", "publish", "--points", file); code != exitOK {
		w.t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
}

// A backfill of a running service while events arrive, one after all of them, and one on the files give the same graph.
func TestBackfillUnderTheService(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(5, 5)), 300)
	w.storePoints(60)
	w.start()
	more := writeUsers(t, 5, 40)
	stop := w.trickle(more, 200)
	first := mustBackfill(t, w.dir)
	published := stop()
	w.events += published
	w.caughtUp()
	during := digestOf(t, w.cl)
	again := mustBackfill(t, w.dir)
	if got := digestOf(t, w.cl); again.Report.Changed != 0 || got != during {
		t.Errorf("again: digest %s, was %s: %+v", got, during, again.Report)
	}
	if first.Report.Scanned < 300 || first.Report.Changed == 0 || first.Report.StreamSeq < 300 {
		t.Errorf("%+v", first.Report)
	}
	w.p.terminate(t)

	after := newWorldOf(t, w.rng, w.file, 300, 5)
	after.storePoints(60)
	after.start()
	for range published {
		after.events++
	}
	if code, out, errs := kith(t, "--data-dir", after.dir, "--log-level=warn", "publish", firstLines(t, more, published)); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
	after.caughtUp()
	after.p.terminate(t)
	alone := mustBackfill(t, after.dir)
	if alone.Report.Changed == 0 {
		t.Errorf("%+v", alone.Report)
	}
	code, out, errs := kith(t, "--data-dir", after.dir, "--log-level=error", "digest")
	if code != exitOK || strings.TrimSpace(out) != during {
		t.Errorf("digest of a backfill on the files after all events: %d %s%s: want %s", code, out, errs, during)
	}
	t.Logf("%d events published during the backfill; %d facts changed, %d as they were", published, first.Report.Changed, first.Report.Unchanged)
}

func TestBackfillBadCommands(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(10, 10)), 0)
	w.storePoints(1)
	dir := w.dir
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--since=yesterday"}, exitUsage, "--since"},
		{[]string{"--clear"}, exitUsage, "want a user"},
		{[]string{"--clear", "--user=ann", "--dry-run"}, exitUsage, "not together with dry_run"},
		{[]string{"--resume", "--dry-run"}, exitUsage, "not together with dry_run"},
		{[]string{"--rate=-1"}, exitUsage, "rate -1: want 0"},
		{[]string{"--memory=7"}, exitUsage, "memory 7"},
		{[]string{"--user="}, exitUsage, `--user: "": want`},
		{[]string{"--agent="}, exitUsage, `--agent: "": want`},
		{[]string{"--since="}, exitUsage, `--since: "": want`},
		{[]string{"--resume"}, exitFailed, "no checkpoint"},
	} {
		if _, code, errs := backfillIn(t, dir, tc.args...); code != tc.code || !strings.Contains(errs, tc.says) {
			t.Errorf("%v: %d %s: want %d and %q", tc.args, code, errs, tc.code, tc.says)
		}
	}
}

// Where nothing was ever stored, and no service runs, the directory is a wrong one: it is not made, and no success is reported.
func TestBackfillOfAWrongDirectory(t *testing.T) {
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "nowhere")} {
		for _, command := range []string{"backfill", "rebuild"} {
			code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", command)
			if code != exitUsage || !strings.Contains(errs, dir) || !strings.Contains(errs, "--data-dir") {
				t.Errorf("%s in %s: %d %s%s", command, dir, code, out, errs)
			}
		}
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A backfill is work in flight. When it has ended its rate is that of all of it, whenever it is asked for, and it can be resumed.
func TestBackfillIsInFlight(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(11, 11)), 0)
	w.storePoints(60)
	w.start()
	ask := func(method, path string, in, out any) {
		t.Helper()
		if err := w.cl.call(t.Context(), method, path, in, out); err != nil {
			t.Fatal(err)
		}
	}
	var b, again server.Backfill
	ask(http.MethodPost, "/v1/backfills", map[string]any{"rate": 10}, &b)
	var busy, idle server.Busy
	ask(http.MethodGet, "/v1/admin/busy", nil, &busy)
	if !busy.Busy || busy.Maintenance != "backfill" || busy.Since.IsZero() {
		t.Errorf("%+v", busy)
	}
	path := "/v1/backfills/" + b.Report.ID
	eventually(t, w.p, func() bool {
		ask(http.MethodGet, path, nil, &b)
		return b.Report.Scanned > 0
	})
	ask(http.MethodDelete, path, nil, &b)
	if b.Running || !strings.Contains(b.Error, "cancelled") || !b.Resumable {
		t.Errorf("%+v", b)
	}
	time.Sleep(1100 * time.Millisecond) // another process; the rate of a running one is taken anew each second
	ask(http.MethodGet, path, nil, &again)
	if want := meanRate(b.Report); b.Rate != want || again.Rate != want {
		t.Errorf("rate %v, then %v: want %v", b.Rate, again.Rate, want)
	}
	ask(http.MethodGet, "/v1/admin/busy", nil, &idle)
	if idle.Maintenance != "" {
		t.Errorf("%+v", idle)
	}
}

func TestVerificationIsInFlight(t *testing.T) {
	s, at := &service{}, time.Unix(1_700_000_000, 0)
	if name, _ := s.comparing(); name != "" {
		t.Errorf("%q before", name)
	}
	s.verifies.say(&backfill.VerifyReport{Started: at})
	if name, since := s.comparing(); name != "verification" || !since.Equal(at) {
		t.Errorf("%q since %s", name, since)
	}
}

// A command whose service goes while it watches says how the backfill goes on.
func TestBackfillOfAServiceThatGoes(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet {
			http.Error(w, "gone", http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(server.Backfill{Running: true, Report: backfill.Account{ID: "one"}})
	})
	e := &env{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
	_, err := e.backfill(&client{base: "http://localhost", http: &http.Client{Transport: handlerTransport{handler}}}, backfill.Request{})
	if err == nil || !strings.Contains(err.Error(), "gone") || !strings.Contains(err.Error(), "kith backfill --resume") {
		t.Errorf("%v: want the reason and how to go on", err)
	}
}

// What an interrupted backfill keeps of users is gone when one of them is forgotten.
func TestForgetRemovesWhatBackfillsKeep(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(6, 6)), 20)
	kept := filepath.Join(w.dir, "backfills", "facts", "part-000")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("user-1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=warn", "forget", "user-1"); code != exitOK {
		t.Fatalf("forget: %d %s%s", code, out, errs)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
