package backfill_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func newGather(t *testing.T, dir string, points backfill.Points, req backfill.GatherRequest, patience time.Duration) *backfill.Gather {
	t.Helper()
	b, err := backfill.New(points, nil, newProjector(t), backfill.Config{Dir: dir, Patience: patience, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.NewGather(req)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func scanned(t *testing.T, g *backfill.Gather) {
	t.Helper()
	if _, err := g.Total(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := g.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Users who are asked for, in the order of the parts, and the rest come to the graph of a backfill, with little in memory; the files are gone
// afterwards.
func TestGatherIsABackfill(t *testing.T) {
	proj, store, dir := newProjector(t), &odd{Store: newPoints(t, clustered(t, 40, 60)...)}, t.TempDir()
	wrote, err := projector.NewEvent("e", "test", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "user-1", projector.FactsWritten{Facts: []projector.FactWrite{
		{ID: "fact-3", Op: projector.OpAdd, Tags: projector.Some([]string{"of the event"})}, {ID: "of events only", Op: projector.OpAdd},
	}})
	if err != nil {
		t.Fatal(err)
	}
	other := wrote
	other.Space = space(t, "of events only")
	want := newGraph(t)
	want.event(t, proj, wrote)
	want.event(t, proj, other)
	log := map[graphstore.Space]*graphstore.Snapshot{}
	for _, s := range []graphstore.Space{wrote.Space, other.Space} {
		if log[s], err = want.live.Snapshot(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	paged := must(t, t.TempDir(), store, want, backfill.Request{})

	g := newGather(t, dir, store, backfill.GatherRequest{Memory: backfill.MinMemoryBytes}, 0)
	scanned(t, g)
	parts, err := filepath.Glob(filepath.Join(dir, "facts", "part-*"))
	if err != nil || len(parts) < 4 { // 2,400 points at 1 KiB, of which half a MiB may be in memory
		t.Errorf("%v, %v: want 5 parts or so", parts, err)
	}
	var digest graphstore.Digest
	for s, view := range log {
		if p := g.Part(s.UserID()); p < 0 || p >= len(parts) {
			t.Errorf("part %d of %s", p, s.UserID())
		}
		points, err := g.User(s)
		if err != nil || (points == nil) != (s == other.Space) {
			t.Fatalf("%s: %+v %v", s.UserID(), points, err)
		}
		if points != nil {
			alone, err := points.Alone()
			if err != nil || alone.Digest().Records() == 0 {
				t.Errorf("alone: %v", err)
			}
			if _, ok := alone.Fact("of events only"); ok {
				t.Error("a fact of events only is among those of the points")
			}
			if view, err = points.Over(view); err != nil {
				t.Fatal(err)
			}
		}
		digest.Merge(view.Digest())
	}
	rest := 0
	err = g.Rest(context.Background(), func(p *backfill.Gathered) error {
		rest++
		made, err := p.Over(graphstore.NewSnapshot(p.Space()))
		if err == nil {
			digest.Merge(made.Digest())
		}
		return err
	})
	if err != nil || rest != 39 {
		t.Errorf("%d users besides user-1: want 39: %v", rest, err)
	}
	if w := want.live.Digest(); digest != w {
		t.Errorf("digest %s, of a backfill %s", digest, w)
	}
	a := g.Account()
	if a.Changed != paged.Changed || a.Duplicates != paged.Duplicates || a.Scanned != paged.Scanned || a.Searches != paged.Searches {
		t.Errorf("account %+v, of a backfill %+v", a, paged)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// One user's points alone are read, and an error of who takes them ends the rest.
func TestGatherOfOneUser(t *testing.T) {
	g := newGather(t, t.TempDir(), newPoints(t, clustered(t, 3, 20)...), backfill.GatherRequest{UserID: "user-1", NoNeighbors: true}, 0)
	scanned(t, g)
	failed := errors.New("failed")
	if err := g.Rest(context.Background(), func(p *backfill.Gathered) error {
		if p.Space() != space(t, "user-1") || p.Facts() != 20 {
			t.Errorf("%d facts of %s", p.Facts(), p.Space().UserID())
		}
		return failed
	}); !errors.Is(err, failed) {
		t.Errorf("%v, want the error of who takes them", err)
	}
	if a := g.Account(); a.Total != 20 || a.Scanned != 20 || a.Searches != 0 {
		t.Errorf("%+v", a)
	}
	if points, err := g.User(space(t, "a stranger")); err != nil || points != nil {
		t.Errorf("a stranger: %+v %v", points, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A store that fails half way is asked again; one that goes on failing ends the scan, one that fails at the start is told of at once.
func TestGatherOfAStoreThatFails(t *testing.T) {
	store, dir := newPoints(t, clustered(t, 3, 60)...), t.TempDir()
	reads := 0
	shaky := &pages{Store: store, most: 20, before: func() error {
		if reads++; reads == 4 || reads == 5 {
			return vdb.ErrUnavailable
		}
		return nil
	}}
	g := newGather(t, dir, shaky, backfill.GatherRequest{NoNeighbors: true}, time.Minute)
	scanned(t, g)
	if a := g.Account(); a.Scanned != 180 || reads < 11 {
		t.Errorf("%d points in %d reads, want 180 in 9 and 2 that failed", a.Scanned, reads)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}

	reads = 0
	gone := &pages{Store: store, most: 20, before: func() error {
		if reads++; reads > 4 {
			return vdb.ErrUnavailable
		}
		return nil
	}}
	g = newGather(t, dir, gone, backfill.GatherRequest{NoNeighbors: true}, time.Millisecond)
	if _, err := g.Total(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := g.Scan(context.Background()); !errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("%v, want unavailable", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "facts")); !os.IsNotExist(err) {
		t.Errorf("files of facts are left: %v", err)
	}

	away := vdbtest.NewMemory(0)
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := newGather(t, dir, away, backfill.GatherRequest{}, time.Hour).Total(context.Background()); !errors.Is(err, vdb.ErrClosed) {
		t.Errorf("%v, want closed, at once", err)
	}
}
