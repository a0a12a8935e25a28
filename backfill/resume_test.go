package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// clustered returns points of some users in groups of similar ones, all of version 1.
func clustered(t fataler, users, each int) []vdb.Point {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var points []vdb.Point
	for i := range users * each {
		group := i / users / 10
		p := vdb.Point{Space: space(t, fmt.Sprint("user-", i%users)), ID: fmt.Sprint("fact-", i/users), Vector: vdbtest.Vector(uint64(group), 8)}
		for d := range p.Vector {
			p.Vector[d] += float32(r.NormFloat64()) / 5
		}
		p.Payload = vdb.Payload{Version: 1, Tags: []string{fmt.Sprint("tag ", group%7)}, BatchID: fmt.Sprint("batch ", i/users/4), Extra: map[string]any{
			"entities": []any{fmt.Sprint("Entity ", group%5)}, "batch_seq": int64(i / users % 4),
		}}
		points = append(points, p)
	}
	return points
}

// A run of a few thousand points that ends at ten commits, each time by another worker on the same directory, ends in the graph of one
// that was not interrupted, and its account counts each point once.
func TestKilledTenTimesAndResumed(t *testing.T) {
	embedded, err := sqlite.New(filepath.Join(t.TempDir(), "vectors.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := embedded.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := embedded.Upsert(context.Background(), clustered(t, 4, 750)); err != nil {
		t.Fatal(err)
	}
	store := &pages{Store: embedded, most: 70}
	whole, cut, dir := newGraph(t), newGraph(t), t.TempDir()
	want := must(t, t.TempDir(), store, whole, backfill.Request{})

	var got backfill.Account
	resumed := 0
	r := rand.New(rand.NewPCG(3, 4))
	for kills := 0; !got.Done; kills++ {
		if kills < 10 {
			cut.killedAt = cut.commits + 1 + r.IntN(3)
		}
		got, err = work(t, dir, store, cut, backfill.Request{Resume: kills > 0})
		if err != nil && !errors.Is(err, graphstore.ErrBadChange) {
			t.Fatal(err)
		}
		resumed = kills
	}
	if resumed != 10 || got.Resumed != 10 {
		t.Errorf("resumed %d times, says %d: want 10", resumed, got.Resumed)
	}
	if w, g := whole.live.Digest(), cut.live.Digest(); w != g {
		t.Errorf("digest %s, want that of the uninterrupted run %s", g, w)
	}
	if got.Scanned != 3000 || want.Scanned != 3000 || got.ID == want.ID {
		t.Errorf("scanned %d and %d points, want 3000", got.Scanned, want.Scanned)
	}
	if want.Changed != 3000 || got.Changed+got.Unchanged != 3000 || got.Unchanged == 0 {
		t.Errorf("%d changed; interrupted: %d changed, %d as they were (pages that were committed and not noted)", want.Changed, got.Changed, got.Unchanged)
	}
	if _, err := work(t, dir, store, cut, backfill.Request{Resume: true}); !errors.Is(err, backfill.ErrNoCheckpoint) {
		t.Errorf("resume of a run that is done: %v", err)
	}
}

// Each fact asserts its best five active neighbours above the floor, as a comparison of every pair with every other finds them.
func TestNeighborsAreThoseOfAllPairs(t *testing.T) {
	points := clustered(t, 2, 120)
	points[7].Payload.State = "superseded"
	store, g := newPoints(t, points...), newGraph(t)
	must(t, t.TempDir(), store, g, backfill.Request{})
	edges := 0
	for _, p := range points {
		view, err := g.live.View(p.Space)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, e := range view.EdgesOf(p.ID) {
			if e.Type != graphstore.SemanticNeighbor || e.Asserter.ID != p.ID {
				continue
			}
			far := e.Source
			if far == p.ID {
				far = e.Target
			}
			got[far] = e.Weight
		}
		want := nearest(p, points)
		for id, score := range want {
			if w, ok := got[id]; !ok || w < score-1e-6 || w > score+1e-6 {
				t.Errorf("%s of %s: neighbour %s of %.6f is %.6f", p.ID, p.Space.UserID(), id, score, w)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d neighbours, want %d", p.ID, len(got), len(want))
		}
		edges += len(got)
	}
	if edges < len(points) {
		t.Errorf("%d edges of %d points: the test has too few", edges, len(points))
	}
}

// nearest compares a point with all others of its user.
func nearest(p vdb.Point, points []vdb.Point) map[string]float64 {
	best := map[string]float64{}
	for _, o := range points {
		if o.Space != p.Space || o.ID == p.ID || o.Payload.State == "superseded" {
			continue
		}
		if c := vdbtest.Cosine(p.Vector, o.Vector); c >= 0.75 {
			best[o.ID] = c
		}
		for len(best) > 5 {
			worst := ""
			for id, c := range best {
				if worst == "" || c < best[worst] || (c == best[worst] && id > worst) {
					worst = id
				}
			}
			delete(best, worst)
		}
	}
	return best
}

// A store that fails in the middle is asked again; one that fails for good leaves the checkpoint.
func TestScrollThatFailsHalfWay(t *testing.T) {
	failures := 0
	store := &pages{Store: newPoints(t, clustered(t, 1, 50)...), most: 10}
	store.before = func() error {
		if failures++; failures == 3 || failures == 4 {
			return fmt.Errorf("scroll: %w: connection refused", vdb.ErrUnavailable)
		}
		return nil
	}
	g, dir := newGraph(t), t.TempDir()
	if a := must(t, dir, store, g, backfill.Request{}); a.Changed != 50 {
		t.Errorf("%+v: want 50 changed", a)
	}
	other := newGraph(t)
	store.before = func() error {
		if failures++; other.commits == 2 {
			return fmt.Errorf("scroll: %w", vdb.ErrNoCollection)
		}
		return nil
	}
	a, err := work(t, dir, store, other, backfill.Request{})
	if !errors.Is(err, vdb.ErrNoCollection) || a.Done || a.Scanned != 20 {
		t.Fatalf("collection that goes away: %v: %+v", err, a)
	}
	store.before = nil
	must(t, dir, store, other, backfill.Request{Resume: true})
	if other.live.Digest() != g.live.Digest() {
		t.Error("another digest than that of an undisturbed run")
	}
}

// A graph that is lost meanwhile and begun anew has everything in the end.
func TestGraphThatIsAnotherOneMeanwhile(t *testing.T) {
	points := clustered(t, 1, 50)
	want := newGraph(t)
	must(t, t.TempDir(), newPoints(t, points...), want, backfill.Request{})

	s := &swapped{graph: newGraph(t)}
	store := &pages{Store: newPoints(t, points...), most: 10}
	n := 0
	store.before = func() error {
		if n++; n == 3 {
			s.graph = newGraph(t)
		}
		return nil
	}
	a := must(t, t.TempDir(), store, s, backfill.Request{})
	if a.Restarted != 1 || a.Changed+a.Unchanged != 50 || s.graph.live.Digest() != want.live.Digest() {
		t.Errorf("%+v: digest %s, want %s", a, s.graph.live.Digest(), want.live.Digest())
	}
}

// swapped is a graph in whose place another one comes.
type swapped struct{ graph *graph }

func (s *swapped) Update(ctx context.Context, plan func(context.Context, backfill.Views) ([]graphstore.Change, error)) error {
	return s.graph.Update(ctx, plan)
}
func (s *swapped) ID(ctx context.Context) (string, error) { return s.graph.ID(ctx) }
