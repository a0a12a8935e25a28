package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
)

// world is a data directory with events and points, the graph that they make, and a service on it.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	file   string // of the events
	events int
	env    []string
	want   graphstore.Digest
	byUser map[string]graphstore.Digest

	p  *process
	cl *client
}

// newWorld publishes events of five users, and two points for each user to search.
func newWorld(t *testing.T, rng *rand.Rand, events int, env ...string) *world {
	t.Helper()
	// Who is killed on purpose need not rest.
	return newWorldOf(t, rng, writeEvents(t, events), events, 5, append([]string{"KITH_GRAPH_STORE_CRASHES=1000"}, env...)...)
}

// newWorldOf publishes a file of so many events, and two points for each of the users user-0, user-1, ...
func newWorldOf(t *testing.T, rng *rand.Rand, file string, events, users int, env ...string) *world {
	t.Helper()
	w := &world{t: t, rng: rng, dir: t.TempDir(), file: file, events: events, env: env}
	w.want, w.byUser = expectedGraph(t, file)
	var points strings.Builder
	for i := range users {
		fmt.Fprintf(&points, `{"user_id": "user-%d", "id": "f1", "vector": [1, 0], "payload": {"content": "one"}}`+"\n", i)
		fmt.Fprintf(&points, `{"user_id": "user-%d", "id": "f2", "vector": [0.6, 0.8], "payload": {"content": "two"}}`+"\n", i)
	}
	pointsFile := filepath.Join(t.TempDir(), "points.jsonl")
	if err := os.WriteFile(pointsFile, []byte(points.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=warn", "publish", "--points", pointsFile, file); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
	return w
}

// expectedGraph projects the events of files in this process, one after the other, without a stream, a store or a service.
func expectedGraph(t *testing.T, files ...string) (all graphstore.Digest, byUser map[string]graphstore.Digest) {
	t.Helper()
	plan, err := projector.New(projector.Config{})
	if err != nil {
		t.Fatal(err)
	}
	views := map[graphstore.Space]*graphstore.Snapshot{}
	for _, file := range files {
		if err := eachLine(file, func(_ int, line []byte) error { return planLine(plan, views, line) }); err != nil {
			t.Fatal(err)
		}
	}
	byUser = map[string]graphstore.Digest{}
	for space, view := range views {
		byUser[space.UserID()] = view.Digest()
		all.Merge(view.Digest())
	}
	return all, byUser
}

func planLine(plan *projector.Projector, views map[graphstore.Space]*graphstore.Snapshot, line []byte) error {
	ev, rejected, err := projector.Decode(line, projector.Limits{}.WithDefaults())
	if err != nil || len(rejected) > 0 {
		return fmt.Errorf("%v %w", rejected, err)
	}
	view, ok := views[ev.Space]
	if !ok {
		view = graphstore.NewSnapshot(ev.Space)
	}
	planned, err := plan.Plan(view, ev)
	if err != nil {
		return err
	}
	views[ev.Space], err = view.With(planned.Changes)
	return err
}

// start starts the service and returns when it answers.
func (w *world) start(extra ...string) {
	w.t.Helper()
	w.p, w.cl = serve(w.t, w.dir, append(w.env, extra...)...)
}

// startProbed starts the service and searches until it has its graph.
func (w *world) startProbed(o *outcome) {
	w.t.Helper()
	w.start()
	p := w.probe(2 * time.Millisecond)
	eventually(w.t, w.p, func() bool { h, err := w.health(); return err == nil && h.GraphLoaded })
	p.end(w.t, o)
}

// graph is the path of the graph's file.
func (w *world) graph() string { return filepath.Join(w.dir, "graph", "kith.kuzu") }

func (w *world) stats() (server.Stats, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.cl.stats(ctx)
}

func (w *world) health() (server.Health, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.cl.health(ctx)
}

// done returns how many events are settled, as far as this run of the service knows.
func (w *world) done(h server.Health) uint64 {
	if h.LastSuccess.IsZero() || !h.GraphLoaded {
		return 0
	}
	return uint64(w.events) - min(h.Pending, uint64(w.events))
}

// progressed waits until the service is at work and has taken some more events: a random number up to a share of all.
func (w *world) progressed(share int) {
	w.t.Helper()
	var from uint64
	eventually(w.t, w.p, func() bool {
		h, err := w.health()
		from = w.done(h)
		return err == nil && from > 0
	})
	until := min(uint64(w.events), from+w.rng.Uint64N(uint64(max(2, w.events/share))))
	eventually(w.t, w.p, func() bool {
		h, err := w.health()
		return err == nil && w.done(h) >= until
	})
}

// childPID waits for a store process and returns it.
func (w *world) childPID() int {
	w.t.Helper()
	pid := 0
	eventually(w.t, w.p, func() bool {
		h, err := w.health()
		pid = h.StorePID
		return err == nil && pid > 0
	})
	return pid
}

// killChild is kill -9 of the store's process; it returns when that has ended.
func (w *world) killChild() {
	w.t.Helper()
	pid := w.childPID()
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	eventually(w.t, w.p, func() bool {
		h, err := w.health()
		return err == nil && h.StorePID != pid
	})
}

// killAll is kill -9 of the service and then of what it leaves behind.
func (w *world) killAll() {
	w.t.Helper()
	h, err := w.health()
	if err == nil && h.StorePID > 0 {
		_ = syscall.Kill(h.StorePID, syscall.SIGKILL)
	}
	w.p.kill()
	if h.StorePID > 0 {
		waitGone(w.t, h.StorePID)
	}
}

// waitGone waits until a process that is not a child of this one has ended.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(5 * time.Millisecond) {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d does not end", pid)
		}
	}
}

// settled waits until everything is projected and the store is as it should be, and compares.
func (w *world) settled(o *outcome) {
	w.t.Helper()
	w.caughtUp()
	w.compare(o)
}

// caughtUp waits until everything is projected and the store runs.
func (w *world) caughtUp() {
	w.t.Helper()
	eventually(w.t, w.p, func() bool {
		h, err := w.health()
		return err == nil && h.GraphLoaded && h.Pending == 0 && h.AppliedSeq >= uint64(w.events) && h.StorePID > 0
	})
}

// compare compares the live graph, and then the file alone, with the expected graph.
func (w *world) compare(o *outcome) {
	w.t.Helper()
	live := digestOf(w.t, w.cl)
	if err := w.p.stop(); err != nil && strings.Contains(w.p.log.String(), "kith: close: store child did not answer") {
		// What was flipped last killed the store's process while it closed the file, which the service says. The next one mends it.
		w.start()
		w.caughtUp()
		live = digestOf(w.t, w.cl)
		w.p.terminate(w.t)
	} else if err != nil {
		w.t.Fatalf("stop: %v\n%s", err, w.p.log)
	}
	code, out, errs := kith(w.t, "--data-dir", w.dir, "--log-level=error", "digest")
	if code != exitOK {
		w.t.Fatalf("digest of the file: %d %s%s", code, out, errs)
	}
	file := strings.TrimSpace(out)
	o.equal = live == w.want.String() && file == w.want.String()
	if got, err := graphstore.ParseDigest(file); err == nil {
		o.lost = max(0, w.want.Records()-got.Records())
	} else {
		w.t.Fatal(err)
	}
	if !o.equal {
		w.t.Logf("live %s\nfile %s\nwant %s\nthe service said:\n%s", live, file, w.want, w.p.log)
	}
}

// prober searches all the time while the service is meant to be up.
type prober struct {
	stop     context.CancelFunc
	done     sync.WaitGroup
	searches atomic.Int64
	failed   atomic.Int64
	ranked   atomic.Int64
	first    atomic.Pointer[string]
}

// probe starts searching, every users in turn, with a pause between searches.
func (w *world) probe(pause time.Duration) *prober {
	ctx, stop := context.WithCancel(context.Background())
	p := &prober{stop: stop}
	cl := w.cl
	p.done.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			a, err := cl.search(ctx, searchRequest(fmt.Sprintf("user-%d", i%5)))
			if ctx.Err() != nil {
				return
			}
			p.searches.Add(1)
			switch {
			case err != nil || len(a.Results) != 2:
				text := fmt.Sprintf("%d results, %v", len(a.Results), err)
				p.first.CompareAndSwap(nil, &text)
				p.failed.Add(1)
			case rankedByGraph(a):
				p.ranked.Add(1)
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	})
	return p
}

// end stops searching and adds to the outcome.
func (p *prober) end(t *testing.T, o *outcome) {
	t.Helper()
	p.stop()
	p.done.Wait()
	o.searches += int(p.searches.Load())
	o.failedSearches += int(p.failed.Load())
	o.ranked += int(p.ranked.Load())
	if text := p.first.Load(); text != nil {
		t.Logf("first failed search: %s", *text)
	}
}
