package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	dir := t.TempDir()
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
