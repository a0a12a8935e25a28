package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// A backup that is made while events are projected is the graph of some moment: restored into an empty directory it has the
// digest of its manifest, and restored beside the stream it takes up the events since and ends as the undisturbed graph.
func TestBackupDuringALoad(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(7, 7)), 1_500, "KITH_BATCH_EVENTS=32", "KITH_BATCH_TICK=1ms")
	w.start()
	w.progressed(4)
	dir := filepath.Join(t.TempDir(), "backup")
	if code, out, errs := kith(t, "--data-dir", w.dir, "backup", dir); code != exitOK || !strings.Contains(out, "the service at") {
		t.Fatalf("backup: %d %s%s", code, out, errs)
	}
	h, err := w.health()
	if err != nil || w.done(h) >= uint64(w.events) {
		t.Fatalf("%+v, %v: the backup was not made during a load", h, err)
	}
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Seq == 0 || m.Seq > uint64(w.events) || m.Facts == 0 || m.Digest == w.want.String() {
		t.Errorf("manifest %+v: want a graph in the middle of %d events", m, w.events)
	}
	var o outcome
	w.settled(&o)

	empty := t.TempDir()
	if code, out, errs := kith(t, "--data-dir", empty, "restore", dir); code != exitOK || !strings.Contains(out, m.Digest) {
		t.Fatalf("restore: %d %s%s", code, out, errs)
	}
	if code, out, errs := kith(t, "--data-dir", empty, "--log-level=error", "digest"); code != exitOK || strings.TrimSpace(out) != m.Digest {
		t.Errorf("digest of the restored graph: %d %s%s, want %s", code, out, errs, m.Digest)
	}

	if code, _, errs := kith(t, "--data-dir", w.dir, "restore", dir); code != exitUsage || !strings.Contains(errs, "--replace") {
		t.Errorf("restore over a graph: %d %s: want it refused", code, errs)
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "restore", "--replace", dir); code != exitOK || !strings.Contains(out, "replaced-") {
		t.Fatalf("restore --replace: %d %s%s", code, out, errs)
	}
	w.start()
	eventually(t, w.p, func() bool { // it is behind its consumer, and says so by taking events again
		st, err := w.stats()
		return err == nil && st.Feed.Applied > 0
	})
	w.settled(&o)
	if !o.equal {
		t.Error("the restored graph did not end as the undisturbed one")
	}
}

func TestBackupRefusals(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(8, 8)), 20)
	w.start()
	w.caughtUp()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := kith(t, "--data-dir", w.dir, "backup", full); code != exitFailed || !strings.Contains(errs, "not empty") {
		t.Errorf("into a full directory: %d %s", code, errs)
	}
	if code, _, errs := kith(t, "--data-dir", w.dir, "backup", filepath.Join(w.dir, "graph", "kith.kuzu.rebuilt")); code != exitFailed || !strings.Contains(errs, "outside") {
		t.Errorf("into the data directory: %d %s", code, errs)
	}
	dir := filepath.Join(t.TempDir(), "b")
	if code, out, errs := kith(t, "--data-dir", w.dir, "backup", dir); code != exitOK {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	if code, _, errs := kith(t, "--data-dir", w.dir, "restore", dir); code == exitOK || !strings.Contains(errs, "in use by process") {
		t.Errorf("restore under a running service: %d %s", code, errs)
	}
	w.p.terminate(t)

	graph := filepath.Join(dir, backupGraph)
	flip(t, w.rng, graph)
	if code, _, errs := kith(t, "--data-dir", t.TempDir(), "restore", dir); code != exitFailed || !strings.Contains(errs, "damaged") {
		t.Errorf("restore of a damaged backup: %d %s", code, errs)
	}
	if err := os.Remove(filepath.Join(dir, backupManifest)); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := kith(t, "--data-dir", t.TempDir(), "restore", dir); code != exitFailed || !strings.Contains(errs, "not a backup") {
		t.Errorf("restore without a manifest: %d %s", code, errs)
	}
}

// A compaction leaves the graph as it is and its file smaller; searches go on, also when the graph is not all in memory.
func TestCompact(t *testing.T) {
	for _, memory := range []string{"0", "1048576"} {
		w := newWorld(t, rand.New(rand.NewPCG(9, 9)), 600, "KITH_GRAPH_MEMORY="+memory, "KITH_BATCH_EVENTS=32")
		w.start()
		w.caughtUp()
		var o outcome
		p := w.probe(time.Millisecond)
		code, out, errs := kith(t, "--data-dir", w.dir, "compact")
		p.end(t, &o)
		if code != exitOK || !strings.Contains(out, w.want.String()) {
			t.Fatalf("compact: %d %s%s: want digest %s", code, out, errs, w.want)
		}
		t.Log(strings.ReplaceAll(out, "\n", "; "))
		w.settled(&o)
		if !o.equal || o.failedSearches > 0 {
			t.Errorf("after the compaction: %+v", o)
		}
	}
}

func TestBusy(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(10, 10)), 300, "KITH_BATCH_EVENTS=16")
	w.start()
	ask := func() (b server.Busy) {
		t.Helper()
		if err := w.cl.call(context.Background(), http.MethodGet, "/v1/admin/busy", nil, &b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	seen := false
	eventually(t, w.p, func() bool {
		b := ask()
		seen = seen || b.Busy
		h, err := w.health()
		return err == nil && h.AppliedSeq >= uint64(w.events) && !ask().Busy
	})
	if !seen {
		t.Error("never busy while events were projected")
	}
	text, err := json.Marshal(ask())
	if err != nil || strings.Contains(string(text), "maintenance") {
		t.Errorf("%s, %v: want no maintenance", text, err)
	}
	w.p.terminate(t)
}
