package main

import (
	"context"
	"errors"
	"flag"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

var forgetFacts = flag.Int("forget-facts", 500, "facts of each of the two users of TestForget")

// TestForget forgets ann through a running service and looks at everything that could remember her, or that could have lost
// something of bob's.
func TestForget(t *testing.T) {
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
	if v := f.Verification; !v.Clean || len(v.Asked) != 5 || v.Files.Canaries < *forgetFacts || v.Files.Bytes < 1<<20 {
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

// A kill in the middle, again and again, later each time: what is given again ends clean, and bob has lost nothing.
func TestForgetKilled(t *testing.T) {
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
