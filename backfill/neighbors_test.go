package backfill_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// oneByOne answers many queries with one search each, as a backfill asked before it had batches.
type oneByOne struct{ vdb.Store }

func (o oneByOne) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	out := make([][]vdb.Match, len(queries))
	for i, q := range queries {
		var err error
		if out[i], err = o.Search(ctx, q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// asked is a store that notes what is asked of it, after it has let fault object.
type asked struct {
	vdb.Store
	fault func(queries []vdb.Query) error // nil: none
	turn  func(p *vdb.Point)              // changes points of scrolls; nil: nothing

	mu      sync.Mutex
	batches [][]vdb.Query
}

func (a *asked) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	a.mu.Lock()
	a.batches = append(a.batches, queries)
	a.mu.Unlock()
	if a.fault != nil {
		if err := a.fault(queries); err != nil {
			return nil, err
		}
	}
	return a.Store.SearchMany(ctx, queries)
}

func (a *asked) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	page, err := a.Store.Scroll(ctx, q)
	if a.turn != nil {
		for i := range page.Points {
			a.turn(&page.Points[i])
		}
	}
	return page, err
}

// batched does a run of everything and returns its account and the graph's digest.
func batched(t *testing.T, points backfill.Points, cfg backfill.Config) (backfill.Account, string, *graph) {
	t.Helper()
	g := newGraph(t)
	cfg.Dir, cfg.Logger = t.TempDir(), slog.New(slog.DiscardHandler)
	b, err := backfill.New(points, g, newProjector(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Prepare(backfill.Request{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := run.Do(t.Context())
	if err != nil || !a.Done {
		t.Fatalf("backfill: %v: %+v", err, a)
	}
	return a, g.live.Digest().String(), g
}

// crowd is the points of some users, in small dimensions, so that many are alike.
func crowd(t *testing.T) []vdb.Point {
	t.Helper()
	var points []vdb.Point
	for i, n := range []int{300, 150, 7, 1, 2} {
		points = append(points, vdbtest.Points(uint64(i), space(t, fmt.Sprint("user ", i)), n, 5)...)
	}
	return points
}

// The graph is the same however searches are put together: one by one, in batches of any size, over pages of any size.
func TestNeighborsInBatches(t *testing.T) {
	points := crowd(t)
	store := newPoints(t, points...)
	want, digest, _ := batched(t, oneByOne{store}, backfill.Config{InFlight: 1, SearchBatch: 1})
	if want.Searches != int64(len(points)) || want.Written[graphstore.SemanticNeighbor.String()] < 300 {
		t.Fatalf("%d searches, edges %v: the comparison would show little", want.Searches, want.Written)
	}
	for _, batch := range []int{1, 7, 64, vdb.MaxQueries} {
		for _, most := range []int{0, 50} {
			got, d, _ := batched(t, &pages{Store: store, most: most}, backfill.Config{SearchBatch: batch})
			if d != digest || got.Searches != want.Searches {
				t.Errorf("batches of %d, pages of %d: %d searches, digest %s; one by one %d, %s", batch, most, got.Searches, d, want.Searches, digest)
			}
		}
	}
}

// A page's searches are put together by user, and every call has as many as it may.
func TestNeighborBatchesByUser(t *testing.T) {
	points := crowd(t)
	store := &asked{Store: newPoints(t, points...)}
	batched(t, store, backfill.Config{InFlight: 1}) // all 460 points are one page
	sizes := make([]int, 0, 8)
	var users []string
	for _, queries := range store.batches {
		sizes = append(sizes, len(queries))
		for _, q := range queries {
			users = append(users, q.Space.UserID())
			if !q.NoPayload {
				t.Error("a search that asks for payloads")
			}
		}
	}
	if want := []int{64, 64, 64, 64, 64, 64, 64, 12}; !slices.Equal(sizes, want) { // 7*64 + 12 = 460
		t.Errorf("batches of %v, want %v", sizes, want)
	}
	if !slices.IsSorted(users) {
		t.Error("users are mixed")
	}
}

// Vectors that cannot be searched by leave their own facts without neighbours, and nobody else's.
func TestBadVectorAmongMany(t *testing.T) {
	u := space(t, "u")
	var points []vdb.Point
	for i := range 20 { // 5 degrees apart: cosines of up to cos 20 = 0.94 for the five nearest
		sin, cos := math.Sincos(float64(i) * 5 * math.Pi / 180)
		points = append(points, vdb.Point{Space: u, ID: fmt.Sprintf("p%02d", i), Vector: []float32{float32(cos), float32(sin)}})
	}
	bad := map[string][]float32{
		"p03": {float32(math.NaN()), 1}, "p07": {0, 0}, "p11": {1, 2, 3}, "p12": nil, "p15": {1}, "p16": {float32(math.Inf(1)), 0},
	}
	for _, batch := range []int{1, 4, 64} {
		store := &asked{Store: newPoints(t, points...), turn: func(p *vdb.Point) {
			if v, ok := bad[p.ID]; ok {
				p.Vector = v // as another client may have stored it; what the others' searches find is not changed
			}
		}}
		a, _, g := batched(t, store, backfill.Config{SearchBatch: batch})
		if a.BadVectors != 6 || a.Searches != 14 {
			t.Errorf("batches of %d: %d bad vectors, %d searches; want 6 and 14", batch, a.BadVectors, a.Searches)
		}
		for id := range bad {
			if !slices.ContainsFunc(a.Problems, func(text string) bool { return strings.Contains(text, id) }) {
				t.Errorf("batches of %d: %s is not among the problems %q", batch, id, a.Problems)
			}
		}
		view, err := g.live.Snapshot(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for c := range view.Records() {
			if c.Edge != nil && c.Edge.Type == graphstore.SemanticNeighbor {
				got[pair(c.Edge.Source, c.Edge.Target)] = true
			}
		}
		if diff := gocmp.Diff(nearestPairs(points, bad), got); diff != "" {
			t.Errorf("batches of %d: neighbours (-naive +graph):\n%s", batch, diff)
		}
	}
}

func pair(a, b string) string { return min(a, b) + " " + max(a, b) }

// nearestPairs is each point that is not bad with the five others of the greatest cosines, at the least 0.8.
func nearestPairs(points []vdb.Point, bad map[string][]float32) map[string]bool {
	pairs := map[string]bool{}
	for _, p := range points {
		if _, is := bad[p.ID]; is {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(points), func(o vdb.Point) bool { return o.ID == p.ID })
		slices.SortFunc(others, func(a, b vdb.Point) int {
			return cmp.Or(cmp.Compare(vdbtest.Cosine(p.Vector, b.Vector), vdbtest.Cosine(p.Vector, a.Vector)), cmp.Compare(a.ID, b.ID))
		})
		for _, o := range others[:5] {
			pairs[pair(p.ID, o.ID)] = true
		}
	}
	return pairs
}

// A store that does not bear many searches at once is asked for fewer; one that is away for a moment is asked again.
func TestNeighborBatchesShrink(t *testing.T) {
	points := crowd(t)
	store := newPoints(t, points...)
	_, digest, _ := batched(t, store, backfill.Config{})
	slow := &asked{Store: store, fault: func(queries []vdb.Query) error {
		if len(queries) > 20 {
			return fmt.Errorf("%w: no answer in time", vdb.ErrUnavailable)
		}
		return nil
	}}
	a, d, _ := batched(t, slow, backfill.Config{InFlight: 1, SearchBatch: 32})
	if d != digest || a.Searches != int64(len(points)) {
		t.Errorf("%d searches, digest %s; want %d, %s", a.Searches, d, len(points), digest)
	}
	failed := 0
	for _, queries := range slow.batches {
		if len(queries) > 20 {
			failed++
		}
	}
	// 32 fail, then 16 and one more each time up to 21, which fail, then 10 and so on: of 460 some thirty calls, few in vain.
	if n := len(slow.batches); failed < 2 || failed > 5 || n > 50 {
		t.Errorf("%d of %d calls were too large", failed, n)
	}
	broken := &asked{Store: store, fault: func([]vdb.Query) error { return vdb.ErrNoCollection }}
	b, err := backfill.New(broken, newGraph(t), newProjector(t), backfill.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Prepare(backfill.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Do(t.Context()); !errors.Is(err, vdb.ErrNoCollection) {
		t.Errorf("got %v, want ErrNoCollection", err)
	}
}

func TestSearchBatchBounds(t *testing.T) {
	for _, cfg := range []backfill.Config{{SearchBatch: -1}, {SearchBatch: vdb.MaxQueries + 1}, {SearchBatch: 1000, Neighbors: 100}} { // 101,000 matches
		cfg.Dir = t.TempDir()
		if _, err := backfill.New(newPoints(t), newGraph(t), newProjector(t), cfg); err == nil || !strings.Contains(err.Error(), "search batch") {
			t.Errorf("search batch %d, neighbors %d: got %v", cfg.SearchBatch, cfg.Neighbors, err)
		}
	}
}
