package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/kithgraph/kith/vdb"
)

// eventsPerSecond is how many events arrive while backfills are killed.
const eventsPerSecond = 1000

// TestBackfillKillsUnderEvents kills a service, or cancels its backfill, at random points while a memory system writes points and
// publishes a thousand events a second, and goes on each time.
//
// What is the right graph? That of all events and then one backfill that nobody disturbs, of the points as they are at the end. It
// is the right one for what the graph says, directly: a point that was read early says what an event up to then says, which is why
// what an event changed later does not come back. It is not for the stamps of what was settled: a backfill that has read a point in
// version 7 settles what no event states in version 7, and one that reads it in version 9 settles the same value in version 9. So what
// the graph says is compared as it is when all events have been projected, and the digest, which has the stamps, after one more
// backfill that nobody disturbs: each point has a greater version than whatever was read of it before, or the same.
func TestBackfillKillsUnderEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	seed := proofSeed(t)
	for i, k := range []killCase{{inFile, false, true}, {inFile, true, true}, {inWire, false, true}} {
		if i > 0 && !*backfillProof {
			break
		}
		t.Run(k.String(), func(t *testing.T) { k.runUnderEvents(t, seed+uint64(i)) })
	}
}

func (k killCase) runUnderEvents(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := collection{users: 5, points: proving(9_000, 600), dim: 64, group: 8, lone: 3}
	rate := proving(900, 300)
	if k.bulk {
		c.points, rate = 12_000, 1_200
	}
	if k.kind == inWire { // each write looks at every point of the test's server
		c.points, rate = 1_500, 150
	}
	s := c.storeIn(t, k.kind)
	began := time.Now()
	w := &killed{t: t, dir: s.dataDir(t), killCase: k, env: append(slices.Clone(s.env), "KITH_NATS_LISTEN="+closedPort(t))}
	w.begin(rate)
	m := newMemorySystem(t, c, seed)
	stop := m.run(t, s.openAt(t, filepath.Join(w.dir, "vectors.db"), c.dim), w.dir, proving(40_000, 4_000))
	kills, cancels := proving(10, 3), 0
	for i := range kills {
		if i > 0 {
			w.begin(rate)
		}
		w.reach(int64((float64(i) + rng.Float64()) / float64(kills) * 0.8 * float64(c.points)))
		w.sleep(rng, 150*time.Millisecond)
		if i%4 == 1 {
			cancels++
			w.cancel()
		} else {
			w.g.killGroup()
		}
	}
	w.begin(0) // the collection grows, so a slow one might never end
	end := w.wait(w.begun)
	lasted := stop()
	w.quiet(len(m.events))
	w.g.stopGroup(t)
	if r := end.Report; r.Resumed == 0 || r.Bulk != k.bulk {
		t.Errorf("%+v: want it resumed, bulk %v", r, k.bulk)
	}

	ref := s.referenceOf(t, w.dir, m)
	verdict := compareContent(t, w.dir, ref)
	startGroup(t, w.dir, s.env, "backfill", "--json").account(t)
	digest := "equal"
	if got, want := fileDigest(t, w.dir), fileDigest(t, ref); got != want {
		digest = "DIFFERS"
		t.Errorf("after one more backfill: digest %s, want %s", got, want)
	}
	proofSays("%s, %d points, %d events in %.1fs (%.0f/s) meanwhile, service killed %d times, backfill cancelled %d times: what the graph says: %s; digest after one more backfill: %s; %.1fs", k, c.points,
		len(m.events), lasted.Seconds(), float64(len(m.events))/lasted.Seconds(), kills-cancels, cancels, verdict, digest, time.Since(began).Seconds())
}

// cancel cancels the backfill and stops the service in good order.
func (w *killed) cancel() {
	w.t.Helper()
	var b server.Backfill
	if err := w.cl.call(context.Background(), http.MethodDelete, "/v1/backfills/"+w.begun.Report.ID, nil, &b); err != nil || b.Running || b.Report.Done {
		w.t.Fatalf("cancel: %v: %+v", err, b)
	}
	w.g.stopGroup(w.t)
}

// quiet waits until so many events are projected.
func (w *killed) quiet(events int) {
	w.t.Helper()
	eventually(w.t, &w.g.process, func() bool {
		h, err := w.cl.health(context.Background())
		return err == nil && h.GraphLoaded && h.Pending == 0 && h.AppliedSeq >= uint64(events) && h.StorePID > 0
	})
}

// run writes until it is stopped, or has done so many writes: each twentieth of a second the points, and then the events, of all writes that are due. What the service
// does not take, since it is down, is sent again.
func (m *memorySystem) run(t *testing.T, store vdb.Store, dir string, most int) (stop func() time.Duration) {
	t.Helper()
	r, ok, err := readRunFile(dir)
	if err != nil || !ok {
		t.Fatalf("service file: %v %v", ok, err)
	}
	nc, err := nats.Connect(r.NATS, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	p, err := feed.NewPublisher(js, feed.PublisherConfig{AckTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	began, lasted := time.Now(), time.Duration(0)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			due := int(time.Since(began).Seconds()*eventsPerSecond) - len(m.events)
			if err := m.writeDue(store, p, min(due, most-len(m.events))); err != nil {
				t.Errorf("memory system: %v", err)
				return
			}
			if lasted = time.Since(began); len(m.events) == most {
				return
			}
		}
	})
	return func() time.Duration {
		close(end)
		done.Wait()
		p.Close()
		nc.Close()
		closeStore(t, store)
		return lasted
	}
}

// writeDue does so many writes.
func (m *memorySystem) writeDue(store vdb.Store, p *feed.Publisher, due int) error {
	from := len(m.events)
	last := map[*memoryFact]bool{}
	for range due {
		f, _, err := m.write()
		if err != nil {
			return err
		}
		last[f] = true
	}
	var put []vdb.Point
	for f := range last {
		if !f.gone {
			put = append(put, f.point)
		} else if err := store.Delete(context.Background(), f.point.Space, []string{f.point.ID}); err != nil {
			return err
		}
	}
	if len(put) > 0 {
		if err := store.Upsert(context.Background(), put); err != nil {
			return err
		}
	}
	if due <= 0 {
		return nil
	}
	for patience := time.Now().Add(time.Minute); ; {
		_, err := p.PublishBatch(context.Background(), slices.Values(m.events[from:]))
		if err == nil || time.Now().After(patience) {
			return err
		}
	}
}

// referenceOf returns a data directory with the points as they are, on which all events were projected before one backfill.
func (s *stored) referenceOf(t *testing.T, dir string, m *memorySystem) string {
	t.Helper()
	ref := t.TempDir()
	if s.srv == nil {
		now := &stored{file: filepath.Join(dir, "vectors.db")}
		ref = now.dataDir(t)
	}
	projectAll(t, ref, s.env, m.events)
	startGroup(t, ref, s.env, "backfill", "--json").account(t)
	return ref
}

// projectAll has a service project events.
func projectAll(t *testing.T, dir string, env []string, events [][]byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, slices.Concat(withLineEnds(events)...), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, file)
	w := &killed{t: t, dir: dir}
	w.g, w.cl = serveGroup(t, dir, env...)
	w.quiet(len(events))
	w.g.stopGroup(t)
}

func withLineEnds(lines [][]byte) (out [][]byte) {
	for _, line := range lines {
		out = append(out, line, []byte("\n"))
	}
	return out
}

// compareContent compares two graphs without the stamps of what was settled, record by record.
func compareContent(t *testing.T, dir, want string) string {
	t.Helper()
	a, b := contentOf(t, dir), contentOf(t, want)
	differ := 0
	for key, text := range b {
		if a[key] != text {
			if differ++; differ <= 3 {
				t.Errorf("%s:\n got %s\nwant %s", key, a[key], text)
			}
		}
	}
	for key, text := range a {
		if _, ok := b[key]; !ok {
			if differ++; differ <= 3 {
				t.Errorf("%s: got %s, want none", key, text)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d records differ", differ)
		return fmt.Sprintf("%d RECORDS DIFFER", differ)
	}
	return fmt.Sprintf("equal in %d records", len(b))
}

// contentOf reads the graph of a data directory that nothing runs on.
func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	store, err := kuzu.Open(filepath.Join(dir, "graph", "kith.kuzu"), kuzu.Config{Logger: discardLog()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	out := map[string]string{}
	err = store.LoadAll(context.Background(), func(c graphstore.Change) error {
		if c.Fact != nil {
			f := *c.Fact
			f.Registers = graphstore.Registers{}
			c.Fact = &f
		}
		var d graphstore.Digest
		d.Add(c)
		text := d.String()
		if c.Fact != nil {
			text += fmt.Sprintf(" %+v", *c.Fact)
		}
		out[c.Space.UserID()+" "+c.Key().String()] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
