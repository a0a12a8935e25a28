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
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// rewritable is a graph that can be written anew.
type rewritable struct {
	*graph
	rewrites int
	fail     error // of the next rewrite, after everything was yielded
}

var _ backfill.Rewriter = (*rewritable)(nil)

func (g *rewritable) Facts(context.Context) (int64, error) {
	return int64(g.live.Counts().Present), nil
}

func (g *rewritable) Rewrite(ctx context.Context, users func(backfill.YieldUser) error) error {
	g.turn.Lock()
	defer g.turn.Unlock()
	var all []graphstore.Change
	err := users(func(space graphstore.Space, become backfill.Become) error {
		view, err := g.live.Snapshot(ctx, space)
		if err != nil {
			return err
		}
		next, err := become(view)
		if err != nil {
			return err
		}
		stays := map[graphstore.Key]bool{}
		for c := range next.Records() {
			all, stays[c.Key()] = append(all, c), true
		}
		for c := range view.Records() {
			if !stays[c.Key()] {
				c.Op = graphstore.Delete
				all = append(all, c)
			}
		}
		return nil
	})
	if fail := g.fail; err != nil || fail != nil {
		g.fail = nil
		return errors.Join(err, fail)
	}
	g.rewrites++
	if err := g.store.Apply(ctx, all); err != nil {
		return err
	}
	g.live = live.New(g.store, live.Config{Logger: slog.New(slog.DiscardHandler)})
	return g.live.Load(ctx)
}

// workBulk does a run that writes the graph anew.
func workBulk(t *testing.T, dir string, points backfill.Points, g backfill.Graph, req backfill.Request) (backfill.Account, error) {
	t.Helper()
	return workWith(t, backfill.Config{Dir: dir, BulkFrom: 1}, points, g, req)
}

// A whole collection written anew is the graph of page by page: over what events wrote, killed in the scan and in the rewrite, with
// facts that are stored twice.
func TestRewriteIsTheSameGraph(t *testing.T) {
	proj := newProjector(t)
	wrote, err := projector.NewEvent("e", "test", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "user-1", projector.FactsWritten{Facts: []projector.FactWrite{
		{ID: "fact-3", Op: projector.OpAdd, Tags: projector.Some([]string{"of the event"})}, {ID: "of events only", Op: projector.OpAdd},
	}})
	if err != nil {
		t.Fatal(err)
	}
	other := wrote
	other.Space = space(t, "of events only")
	store := newPoints(t, clustered(t, 3, 60)...)
	want, got := newGraph(t), &rewritable{graph: newGraph(t)}
	for _, g := range []*graph{want, got.graph} {
		g.event(t, proj, wrote)
		g.event(t, proj, other)
	}
	paged := must(t, t.TempDir(), &odd{Store: store}, want, backfill.Request{})

	dir, pagesRead := t.TempDir(), 0
	small := &pages{Store: &odd{Store: store}, most: 25, before: func() error {
		if pagesRead++; pagesRead == 4 {
			return errKilled
		}
		return nil
	}}
	if _, err := workBulk(t, dir, small, got, backfill.Request{}); !errors.Is(err, errKilled) {
		t.Fatalf("killed in the scan: %v", err)
	}
	got.fail = errKilled
	if _, err := workBulk(t, dir, small, got, backfill.Request{Resume: true}); !errors.Is(err, errKilled) || got.rewrites != 0 {
		t.Fatalf("killed in the rewrite: %v", err)
	}
	read := pagesRead
	a, err := workBulk(t, dir, small, got, backfill.Request{Resume: true})
	if err != nil || !a.Done || !a.Bulk || got.rewrites != 1 || pagesRead != read || a.Resumed != 2 {
		t.Fatalf("%v: %d rewrites, %d pages read after the scan was over: %+v", err, got.rewrites, pagesRead-read, a)
	}
	if w, g := want.live.Digest(), got.live.Digest(); w != g {
		t.Errorf("digest %s, page by page %s", g, w)
	}
	if a.Changed != paged.Changed || a.Duplicates != paged.Duplicates || a.Scanned != paged.Scanned || a.Written["fact"] == 0 {
		t.Errorf("account %+v, page by page %+v", a, paged)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	again, err := workBulk(t, dir, small, got, backfill.Request{})
	if err != nil || again.Bulk || again.Changed != 0 || got.live.Digest() != want.live.Digest() {
		t.Errorf("a second run, of a graph that has everything: %v %+v", err, again)
	}
}

// Files of facts that are shorter than the checkpoint says are not taken up.
func TestFilesOfFactsThatAreCut(t *testing.T) {
	store, g, dir := newPoints(t, clustered(t, 2, 20)...), &rewritable{graph: newGraph(t), fail: errKilled}, t.TempDir()
	if _, err := workBulk(t, dir, store, g, backfill.Request{}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "facts", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := workBulk(t, dir, store, g, backfill.Request{Resume: true}); err == nil {
		t.Error("taken up")
	}
	a, err := workBulk(t, dir, store, g, backfill.Request{})
	if err != nil || a.Changed != 40 {
		t.Errorf("from the beginning: %v %+v", err, a)
	}
}

var _ backfill.Points = vdb.Store(nil)
