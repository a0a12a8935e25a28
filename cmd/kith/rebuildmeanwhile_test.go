package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
)

// withForgotten returns a file of the events with two users forgotten among them, one early and one late.
func withForgotten(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		for user, at := range map[string]int{"user-3": 2, "user-4": 150} {
			if i == at { // after every other event, whose times are at most 200 seconds after 1,780,000,000
				ev, err := projector.NewEvent("forget "+user, "test", time.Unix(1_790_000_000, 0), user, projector.UserForgotten{})
				if err != nil {
					t.Fatal(err)
				}
				text, err := projector.Marshal(ev, projector.Limits{}.WithDefaults())
				if err != nil {
					t.Fatal(err)
				}
				b.Write(append(text, '\n'))
			}
		}
	}
	out := filepath.Join(t.TempDir(), "more.jsonl")
	if err := os.WriteFile(out, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// Under a service, while events arrive, two users are forgotten and searches are made: after a rebuild from both the graph is that of
// all events and a backfill, after one from the store that of the events since the points were read and a backfill.
func TestRebuildFromBothWhileEventsArrive(t *testing.T) {
	for _, from := range []string{server.RebuildFromBoth, server.RebuildFromStore} {
		t.Run(from, func(t *testing.T) {
			w := newWorld(t, rand.New(rand.NewPCG(13, 13)), 300)
			w.storePoints(400)
			w.start()
			w.caughtUp()
			more := withForgotten(t, writeUsers(t, 5, 200))
			searching := w.searchAll(5 * time.Millisecond)
			stop := w.trickle(more, 150)
			var args []string
			if from == server.RebuildFromStore {
				args = []string{"--from-store", "--force"}
			}
			r := mustRebuildFrom(t, w.dir, args...)
			time.Sleep(300 * time.Millisecond) // for some events after it, whichever they are
			published := stop()
			searches, ranked := searching()
			w.events += published
			w.caughtUp()
			got := digestOf(t, w.cl)
			t.Logf("%d ms; noted event %d, read up to %d, published %d; %d searches, %d ranked", r.TookMS, r.Stream.Noted, r.Stream.Last, w.events, searches, ranked)
			if searches == 0 || ranked < searches*9/10 {
				t.Errorf("%d of %d searches were ranked by the graph", ranked, searches)
			}
			w.p.terminate(t)

			events := publishedFile(t, w.file, firstLines(t, more, published))
			if from == server.RebuildFromStore {
				events = restOf(t, events, int(r.Stream.Noted))
			}
			want := t.TempDir()
			code, out, errs := kith(t, "--data-dir", want, "--log-level=warn", "publish", events)
			if code != exitOK {
				t.Fatalf("publish: %d\n%s%s", code, out, errs)
			}
			for _, file := range []string{"vectors.db", "vectors.db-wal", "vectors.db-shm"} { // the same points
				data, err := os.ReadFile(filepath.Join(w.dir, file))
				if err == nil {
					err = os.WriteFile(filepath.Join(want, file), data, 0o600)
				}
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			mustRebuildFrom(t, want, "--from-log")
			mustBackfill(t, want)
			if want := fileDigest(t, want); got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		})
	}
}

// searchAll searches until it is stopped. A search that fails, that has no results, or that sees the graph go back fails the test.
func (w *world) searchAll(pause time.Duration) (stop func() (searches, ranked int)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	searches, ranked := 0, 0
	go func() {
		defer close(done)
		for last := uint64(0); ctx.Err() == nil; searches++ {
			a, err := w.cl.search(ctx, searchRequest(fmt.Sprintf("user-%d", searches%3)))
			if ctx.Err() != nil {
				return
			}
			if err != nil || len(a.Results) == 0 || a.AppliedSeq < last {
				w.t.Errorf("search: %v, %d results, event %d after %d", err, len(a.Results), a.AppliedSeq, last)
				return
			}
			if last = a.AppliedSeq; rankedByGraph(a) {
				ranked++
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}()
	return func() (int, int) { cancel(); <-done; return searches, ranked }
}

// publishedFile joins files.
func publishedFile(t *testing.T, files ...string) string {
	t.Helper()
	var all []byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	out := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(out, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// kill -9 of a rebuild from both, on files and under a service: while points are read the graph stays as it was; at any other moment it
// is the old one or the new one, whole. What it kept in files is gone when the next command has come.
func TestKilledRebuildFromBoth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	w := newWorld(t, rand.New(rand.NewPCG(14, 14)), 600)
	w.storePoints(400)
	old := mustRebuild(t, w.dir)
	ref := newWorldOf(t, w.rng, w.file, 600, 5)
	ref.storePoints(400)
	made := mustRebuildFrom(t, ref.dir)
	took := time.Duration(made.TookMS) * time.Millisecond
	kept := filepath.Join(w.dir, "rebuild", "facts")
	begun := func() bool { parts, _ := filepath.Glob(filepath.Join(kept, "part-*")); return len(parts) > 0 }
	check := func(digest string) {
		t.Helper()
		if digest != old.After.Digest && digest != made.After.Digest {
			t.Fatalf("digest %s: want the old one, %s, or the new one, %s", digest, old.After.Digest, made.After.Digest)
		}
	}

	p := command(t, w.dir, w.env, "rebuild")
	eventually(t, p, begun)
	p.kill()
	if got := fileDigest(t, w.dir); got != old.After.Digest {
		t.Fatalf("killed while points were read: digest %s, want the old graph's, %s", got, old.After.Digest)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("what it kept is still there: %v", err)
	}
	for range full(10, 2) {
		p := command(t, w.dir, w.env, "rebuild")
		time.Sleep(time.Duration(w.rng.Int64N(int64(took + took/4)))) // a kill is not to be in step with anything
		p.kill()
		check(fileDigest(t, w.dir))
	}
	for range full(10, 2) {
		w.start()
		w.caughtUp()
		done := make(chan error, 1)
		go func() {
			var r server.Rebuild
			done <- w.cl.call(t.Context(), "POST", "/v1/admin/rebuild", server.RebuildRequest{}, &r)
		}()
		time.Sleep(time.Duration(w.rng.Int64N(int64(took + took/4)))) // likewise
		w.killAll()
		t.Logf("killed, or just done: %v", <-done)
		w.start()
		w.caughtUp()
		check(digestOf(t, w.cl))
		w.p.terminate(t)
	}
	if r := mustRebuildFrom(t, w.dir); r.After.Digest != made.After.Digest {
		t.Errorf("at last: %s, want %s", r.After.Digest, made.After.Digest)
	}
}

// A graph that does not fit into memory is made in passes over the stream, and the users that only the store has come last.
func TestRebuildFromBothBeyondMemory(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(15, 15)), 2_000, "KITH_GRAPH_MEMORY=1048576")
	w.storePoints(300)
	var lines strings.Builder
	for u := range 40 {
		fmt.Fprintf(&lines, `{"user_id": "stranger-%d", "id": "f%d", "vector": [1, 0], "payload": {"content": "point", "tags": ["stored"]}}`+"\n", u, u)
	}
	file := filepath.Join(t.TempDir(), "strangers.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=warn", "publish", "--points", file); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
	w.start()
	w.caughtUp()
	r := mustRebuildFrom(t, w.dir, "--no-neighbors")
	got := digestOf(t, w.cl)
	w.p.terminate(t)
	if r.Passes < 2 || r.Users != 45 || r.Points.Users != 45 || r.After.Digest != got {
		t.Errorf("%d passes, %d users, %d with points, digest %s, of the service %s", r.Passes, r.Users, r.Points.Users, r.After.Digest, got)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "graph")); err != nil {
		t.Fatal(err)
	}
	mustRebuildFrom(t, w.dir, "--from-log")
	mustBackfill(t, w.dir, "--no-neighbors")
	if want := fileDigest(t, w.dir); got != want {
		t.Errorf("digest %s, of events and a backfill %s", got, want)
	}
}
