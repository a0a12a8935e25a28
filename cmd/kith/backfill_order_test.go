package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
)

// TestBackfillOrders has a backfill after all events, before them, and among them: the graph is the same. The points are as they were
// before the events.
func TestBackfillOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	seed := proofSeed(t)
	c := collection{users: 5, points: proving(9_000, 600), dim: 64, group: 8, lone: 3}
	s := c.storeIn(t, inFile)
	m := newMemorySystem(t, c, seed)
	for range proving(12_000, 1_200) {
		if _, _, err := m.write(); err != nil {
			t.Fatal(err)
		}
	}
	digests := map[string]string{}

	dir := s.dataDir(t)
	projectAll(t, dir, s.env, m.events)
	after := startGroup(t, dir, s.env, "backfill", "--json").account(t)
	digests["events first"] = fileDigest(t, dir)

	dir = s.dataDir(t)
	before := startGroup(t, dir, s.env, "backfill", "--json").account(t)
	projectAll(t, dir, s.env, m.events)
	digests["backfill first"] = fileDigest(t, dir)

	dir = s.dataDir(t)
	w := &killed{t: t, dir: dir}
	w.g, w.cl = serveGroup(t, dir, s.env...)
	half := m.publishSlowly(t, dir)
	w.begun = w.post(backfill.Request{Rate: proving(1_000, 300)})
	among := w.wait(w.begun)
	first, last := half()
	w.quiet(len(m.events))
	w.g.stopGroup(t)
	digests["one among the other"] = fileDigest(t, dir)

	// What events have settled is not settled anew, so a run that came later changes less.
	if b, a := before.Report, after.Report; b.Changed != int64(c.points) || a.Changed >= b.Changed || among.Report.StreamSeq == 0 || last-first < len(m.events)/10 {
		t.Errorf("before: %+v\nafter: %+v\namong, with events %d to %d published meanwhile: %+v", b, a, first, last, among.Report)
	}
	for how, digest := range digests {
		if digest != digests["events first"] {
			t.Errorf("%s: %s, events first: %s", how, digest, digests["events first"])
		}
	}
	proofSays("%d points and %d events, events first (%d facts changed), backfill first (%d), one among the other (%d; events %d to %d published meanwhile): digests %v", c.points,
		len(m.events), after.Report.Changed, before.Report.Changed, among.Report.Changed, first, last, sameOrNot(digests))
}

// sameOrNot says whether all digests are one.
func sameOrNot(digests map[string]string) string {
	all := map[string]bool{}
	for _, d := range digests {
		all[d] = true
	}
	if len(all) == 1 {
		return "equal"
	}
	return "DIFFER"
}

// publishSlowly publishes all events, a third of them before it returns, and the rest while something else goes on. The function that it
// returns waits for the end and says which were published before that was called.
func (m *memorySystem) publishSlowly(t *testing.T, dir string) (wait func() (first, last int)) {
	t.Helper()
	p, closeAll := (&world{t: t, dir: dir}).publisher()
	third := len(m.events) / 3
	if _, err := p.PublishBatch(context.Background(), slices.Values(m.events[:third])); err != nil {
		t.Fatal(err)
	}
	asked, ended := make(chan struct{}), make(chan struct{})
	sent := third
	go func() {
		defer close(ended)
		counting := true
		at := third
		for piece := range slices.Chunk(m.events[third:], 20) {
			select {
			case <-asked:
				if counting {
					sent, counting = at, false
				}
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := p.PublishBatch(context.Background(), slices.Values(piece)); err != nil {
				t.Errorf("publish: %v", err)
				return
			}
			at += len(piece)
		}
		if counting {
			sent = at
		}
	}()
	return func() (int, int) {
		close(asked)
		<-ended
		closeAll()
		return third + 1, sent
	}
}
