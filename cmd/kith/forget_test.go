package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

var forgetFacts = flag.Int("forget-facts", 500, "facts of each of the two users of TestForget")

// TestForget forgets ann through a running service and looks at everything that could remember her, or that could have lost
// something of bob's.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, *forgetFacts)
	w.start()
	js := w.stream()
	projected(t, w.p, w.cl, w.putOddities(js))
	before := w.ofOthers(js)
	marks := w.marks()
	for _, class := range []string{classGraph, classVectors, "stream " + feed.EventStream, "stream " + feed.DeadStream} {
		if marks[class] == 0 {
			t.Fatalf("ann is not found in %s before: the search proves nothing: %v", class, marks)
		}
	}
	events := (*forgetFacts + factsPerEvent - 1) / factsPerEvent
	dry := w.forget(exitOK, "--dry-run")
	if after := w.marks(); after["stream "+feed.EventStream] != marks["stream "+feed.EventStream] {
		t.Errorf("a dry run changed the stream: %v, was %v", after, marks)
	}

	f := w.forget(exitOK, "--verify", "--canary", mark)
	// Each event of ann's, one imported, one with a bad fact and one of an unknown type; of the last two the dead letters.
	if want := (server.ForgottenLog{Events: events + 3, Dead: 2, Read: f.Log.Read}); f.Log != want {
		t.Errorf("log: %+v, want %+v", f.Log, want)
	}
	// Facts, and those that relations of the last three name.
	if n := *forgetFacts; f.Graph.Facts != n+3 || f.Graph.Entities != 10 || f.Graph.Topics != 6 || f.Graph.Edges["mentions"] != 2*n || f.Graph.Edges["tagged_with"] != 2*n {
		t.Errorf("graph: %+v, want %d facts, 10 entities, 6 topics, %d mentions and tags", f.Graph, n+3, 2*n)
	}
	if diff := cmp.Diff(dry.Graph, f.Graph); diff != "" || dry.Log.Events != f.Log.Events || dry.Log.Dead != f.Log.Dead || dry.Points.Erased != f.Points.Erased {
		t.Errorf("the dry run said something else: %+v %+v\n%s", dry.Log, dry.Points, diff)
	}
	if f.Points.Erased != int64(*forgetFacts) || f.Points.Remaining != 0 || f.Compaction == nil || f.Sequence == 0 || f.At.IsZero() {
		t.Errorf("receipt: %+v", f)
	}
	if v := f.Verification; !v.Clean || len(v.Asked) != 5 || v.Shared == 0 || v.Files.Canaries < *forgetFacts || v.Files.Bytes < 1<<20 {
		t.Errorf("verification: %+v", v)
	}
	if after := w.marks(); len(after) > 0 {
		t.Errorf("ann is still in the files: %v", after)
	}
	after := w.ofOthers(js)
	w.sameOthers(before, after)
	if a, err := w.cl.search(context.Background(), server.SearchRequest{UserID: "ann", Vector: []float32{1, 2, 3}}); err != nil || len(a.Results) != 0 {
		t.Errorf("ann is found: %d results, %v", len(a.Results), err)
	}

	t.Run("an old event comes back", func(t *testing.T) {
		forgotten, err := w.cl.digest(context.Background(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		projected(t, w.p, w.cl, w.put(js, projector.Subject("ann", projector.TypeFactsWritten), w.event("ann", 5, mark+"-again")))
		if got, err := w.cl.digest(context.Background(), "ann"); err != nil || got != forgotten {
			t.Errorf("digest %s, %v: want that of before, %s", got, err, forgotten)
		}
		late := w.forget(exitFailed, "--verify-only", "--canary", mark)
		if v := late.Verification; v.Clean || v.Asked[0].Found != 1 || v.Asked[2].Found+v.Asked[3].Found != 0 || len(v.Files.Hits) != 1 || v.Files.Hits[0].Class != "stream "+feed.EventStream {
			t.Errorf("an event that came late: %+v", v)
		}
		if f := w.forget(exitOK, "--verify", "--canary", mark); f.Log.Events != 2 || f.Graph.Facts != 0 { // it, and the earlier request
			t.Errorf("forgotten again: %+v %+v", f.Log, f.Graph)
		}
	})
	t.Run("after the service", func(t *testing.T) {
		w.p.terminate(t)
		if after := w.marks(); len(after) > 0 {
			t.Errorf("ann is still in the files: %v", after)
		}
		if f := w.forget(exitOK, "--verify-only", "--canary", mark); !f.Verification.Clean || f.Verification.Asked[0].Found != 0 || f.Sequence == 0 {
			t.Errorf("%+v", f.Verification)
		}
	})
}

// On the files the command projects by itself what waits in the stream, ann's events among them.
func TestForgetOnTheFiles(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, 60)
	f := w.forget(exitOK, "--verify", "--canary", mark)
	if f.Log.Events != 12 || f.Graph.Facts != 63 || f.Points.Erased != 60 {
		t.Errorf("%+v %+v %+v: want 12 events, 63 facts, 60 points", f.Log, f.Graph, f.Points)
	}
	if after := w.marks(); len(after) > 0 {
		t.Errorf("ann is still in the files: %v", after)
	}
	code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=error", "stats")
	if code != exitOK || !strings.Contains(out, "63 facts") { // bob's
		t.Errorf("stats: %d %s%s", code, out, errs)
	}
	code, out, _ = kith(t, "--data-dir", w.dir, "--log-level=error", "forget", "ann")
	for _, want := range []string{"user ann: forgotten as of", "1 events, 0 dead letters", "0 facts", "what remains:", "tombstone"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("again: %d, without %q\n%s", code, want, out)
		}
	}
}

// What is dated later than the erasure stays, and the verification does not take it for a rest.
func TestForgetLeavesWhatIsLater(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, 30)
	late := filepath.Join(t.TempDir(), "late.jsonl")
	payload := strings.NewReplacer(`"time":"2026`, `"time":"2226`, `"version":`, `"version":9`, mark+"-late", "later-event").Replace(string(w.event("ann", 5, mark+"-late")))
	if err := os.WriteFile(late, []byte(payload+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, w.dir, late)
	f := w.forget(exitOK, "--verify")
	if f.Log.Later != 1 || f.Log.Events != 6 || !slices.ContainsFunc(f.Remains, func(s string) bool { return strings.HasPrefix(s, "1 messages of the user that are dated later") }) {
		t.Errorf("%+v %v: want 6 events erased and 1 left", f.Log, f.Remains)
	}
	want := newForgetWorld(t, 0) // in which there was never anything but that event and that ann was forgotten
	publish(t, want.dir, late)
	want.forget(exitOK)
	got := w.forget(exitOK, "--dry-run").Graph // digests have the time of the erasure in them
	if diff := cmp.Diff(want.forget(exitOK, "--dry-run").Graph, got); diff != "" || got.Facts < factsPerEvent {
		t.Errorf("graph of ann, %+v (-want +got):\n%s", got, diff)
	}
}

// Old copies are whole graphs of all users. They are named, searched, and removed only when that is asked for.
func TestForgetOldCopies(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, 10)
	w.forget(exitOK, "--dry-run") // which projects
	graph := filepath.Join(w.dir, "graph", "kith.kuzu")
	for _, dir := range []string{graph + ".quarantine/20260901T000000.000Z", graph + ".replaced-20260901T000000.000Z"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := copyDurably(graph, filepath.Join(dir, "kith.kuzu")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kith.kuzu.wal"), []byte(mark+"-fact-2"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := w.forget(exitOK, "--verify")
	if len(f.OldCopies) != 2 || f.OldCopies[0].Erased || f.OldCopies[0].Bytes == 0 || len(f.Verification.Kept) == 0 || !f.Verification.Clean {
		t.Errorf("%+v %+v: want two copies that stay, and what was found in them", f.OldCopies, f.Verification)
	}
	if marks := w.marks(); len(marks) != 1 || marks[classOldCopies] == 0 {
		t.Errorf("ann is in %v: want the old copies alone", marks)
	}
	f = w.forget(exitOK, "--verify", "--old-copies", "--canary", mark)
	if len(f.OldCopies) != 2 || !f.OldCopies[0].Erased || !f.OldCopies[1].Erased || len(f.Verification.Kept) != 0 {
		t.Errorf("%+v %+v: want two copies removed", f.OldCopies, f.Verification)
	}
	if marks := w.marks(); len(marks) != 0 {
		t.Errorf("ann is in %v", marks)
	}
}

// Points in Qdrant are the memory system's: they are counted, and deleted only when that is asked for.
func TestForgetQdrant(t *testing.T) {
	srv := startWire(t, "127.0.0.1:0")
	t.Setenv("QDRANT_URL", "http://"+srv.Addr())
	t.Setenv("QDRANT_CREATE_DIMENSION", "3")
	w := newForgetWorld(t, 10)
	f := w.forget(exitOK, "--verify")
	if f.Points.Driver != "qdrant" || f.Points.Erased != 0 || f.Points.Remaining != 10 || !f.Verification.Clean {
		t.Errorf("%+v %+v: want 10 points that stay", f.Points, f.Verification)
	}
	f = w.forget(exitOK, "--verify", "--points")
	if f.Points.Erased != 10 || f.Points.Remaining != 0 || !f.Verification.Clean {
		t.Errorf("%+v %+v: want 10 points erased", f.Points, f.Verification)
	}
	code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=error", "stats")
	if code != exitOK || !strings.Contains(out, "10 points") { // bob's
		t.Errorf("stats: %d %s%s", code, out, errs)
	}
	srv.Stop()
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=error", "forget", "ann", "--points"); code != exitFailed || !strings.Contains(errs, "not all is erased") {
		t.Errorf("without Qdrant: %d %s%s: want that said", code, out, errs)
	}
}

func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, 5)
	on := func(args ...string) []string {
		return append([]string{"--data-dir", w.dir, "--log-level=error", "forget"}, args...)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no user":               {on(), exitUsage, "<user>"},
		"impossible user":       {on("a\x00b", "--dry-run"), exitFailed, "user"},
		"canary unasked":        {on("ann", "--canary="+mark), exitUsage, "--verify"},
		"canary of three bytes": {on("ann", "--verify-only", "--canary=abc"), exitFailed, "abc"},
		"dry verification":      {on("ann", "--dry-run", "--verify"), exitUsage, "--dry-run"},
		"verify what":           {on("ann", "--verify-only", "--points"), exitUsage, "--verify-only"},
		"no directory":          {[]string{"--data-dir", filepath.Join(w.dir, "none"), "forget", "ann"}, exitUsage, "does not exist"},
	} {
		if code, out, errs := kith(t, tc.args...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: %d %s%s: want %d and %q", name, code, out, errs, tc.code, tc.want)
		}
	}
	f := w.forget(exitFailed, "--verify-only") // who was not forgotten is found
	if f.Verification.Clean || f.Verification.Asked[0].Found != 1 || f.Verification.Asked[3].Found == 0 || f.Verification.Asked[4].Found != 5 {
		t.Errorf("%+v: want ann found", f.Verification)
	}
}

// One thing at a time: no erasure during a backup, no backup during an erasure.
func TestForgetBusy(t *testing.T) {
	nc, err := feed.Connect(t.Context(), "nats://"+closedPort(t), feed.ConnectConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	s := &service{host: &graphHost{}, sw: config.Switches{Write: true}}
	if s.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	if err := s.host.maintenance.try("backup", func() error {
		_, err := s.Forget(t.Context(), server.ForgetRequest{UserID: "ann"})
		if !errors.Is(err, server.ErrBusy) || !strings.Contains(err.Error(), "backup") {
			t.Errorf("during a backup: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.erasing.Lock()
	if _, err := s.Forget(t.Context(), server.ForgetRequest{UserID: "ann"}); !errors.Is(err, server.ErrBusy) {
		t.Errorf("during an erasure: %v", err)
	}
	s.sw.Write = false
	if _, err := s.Forget(t.Context(), server.ForgetRequest{UserID: "ann"}); !errors.Is(err, server.ErrNoGraph) {
		t.Errorf("without projection: %v", err)
	}
}

// A kill in the middle, again and again, later each time: what is given again ends clean, and bob has lost nothing.
func TestForgetKilled(t *testing.T) {
	t.Parallel()
	w := newForgetWorld(t, 120)
	w.start()
	js := w.stream()
	projected(t, w.p, w.cl, w.putOddities(js))
	before := w.ofOthers(js)
	for pause := 20 * time.Millisecond; ; pause *= 4 {
		done := make(chan error, 1)
		go func(cl *client) {
			var f server.Forgotten
			done <- cl.call(context.Background(), "POST", "/v1/admin/forget", server.ForgetRequest{UserID: "ann"}, &f)
		}(w.cl)
		var err error
		select {
		case err = <-done:
		case <-time.After(pause):
			h, _ := w.cl.health(context.Background())
			if h.StorePID > 0 {
				_ = syscall.Kill(h.StorePID, syscall.SIGKILL) // it may have ended by itself
			}
			w.p.kill()
			if h.StorePID > 0 {
				waitGone(t, h.StorePID)
			}
			err = errors.Join(<-done, errors.New("killed"))
			w.start()
		}
		if err == nil {
			break
		}
		t.Logf("after %v: %v", pause, err)
		if pause > time.Minute {
			t.Fatal("never comes to an end")
		}
	}
	js = w.stream()
	f := w.forget(exitOK, "--verify", "--canary", mark)
	if f.Graph.Facts != 0 || !f.Verification.Clean {
		t.Errorf("%+v %+v", f.Graph, f.Verification)
	}
	if after := w.marks(); len(after) > 0 {
		t.Errorf("ann is still in the files: %v", after)
	}
	w.sameOthers(before, w.ofOthers(js))
}
