package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// errKilled stands for the end of the process. It is permanent, so nothing tries again.
var errKilled = fmt.Errorf("%w: killed", graphstore.ErrBadChange)

// graph is a live graph over a store in memory, with a turn to plan in.
type graph struct {
	store *graphstoretest.Memory
	live  *live.Graph
	turn  sync.Mutex

	commits  int
	killedAt int // the commit after which the process ends, counted from 1; 0: never
}

func newGraph(t fataler) *graph {
	t.Helper()
	store := graphstoretest.NewMemory()
	g := &graph{store: store, live: live.New(store, live.Config{Logger: slog.New(slog.DiscardHandler)})}
	if err := g.live.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *graph) Update(ctx context.Context, plan func(context.Context, backfill.Views) ([]graphstore.Change, error)) error {
	g.turn.Lock()
	defer g.turn.Unlock()
	changes, err := plan(ctx, g.live.Snapshot)
	if err != nil || len(changes) == 0 {
		return err
	}
	if err := g.live.Apply(ctx, changes); err != nil {
		return err
	}
	if g.commits++; g.commits == g.killedAt {
		return errKilled
	}
	return nil
}

func (g *graph) ID(ctx context.Context) (string, error) {
	head, err := g.store.Head(ctx)
	return head.ID, err
}

// event plans and commits an event as the feed does.
func (g *graph) event(t fataler, p *projector.Projector, ev projector.Event) {
	t.Helper()
	err := g.Update(context.Background(), func(ctx context.Context, views backfill.Views) ([]graphstore.Change, error) {
		view, err := views(ctx, ev.Space)
		if err != nil {
			return nil, err
		}
		planned, err := p.Plan(view, ev)
		return planned.Changes, err
	})
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
}

// pages is a store whose pages have few points, with something done before each is read.
type pages struct {
	vdb.Store
	most   int
	before func() error // nil: nothing
}

func (p *pages) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	if p.before != nil {
		if err := p.before(); err != nil {
			return vdb.Page{}, err
		}
	}
	if p.most > 0 {
		q.Limit = min(q.Limit, p.most)
	}
	return p.Store.Scroll(ctx, q)
}

func newPoints(t fataler, points ...vdb.Point) vdb.Store {
	t.Helper()
	store := vdbtest.NewMemory(0)
	if err := store.Upsert(context.Background(), points); err != nil {
		t.Fatal(err)
	}
	return store
}

func newProjector(t fataler) *projector.Projector {
	t.Helper()
	p, err := projector.New(projector.Config{TemporalSpine: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func space(t fataler, user string) graphstore.Space {
	t.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// work does a run.
func work(t fataler, dir string, points backfill.Points, g backfill.Graph, req backfill.Request) (backfill.Account, error) {
	t.Helper()
	return workWith(t, backfill.Config{Dir: dir}, points, g, req)
}

// workWith is work with a configuration.
func workWith(t fataler, cfg backfill.Config, points backfill.Points, g backfill.Graph, req backfill.Request) (backfill.Account, error) {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	b, err := backfill.New(points, g, newProjector(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Prepare(req)
	if err != nil {
		return backfill.Account{}, err
	}
	return run.Do(context.Background())
}

// must is work that must be done.
func must(t fataler, dir string, points backfill.Points, g backfill.Graph, req backfill.Request) backfill.Account {
	t.Helper()
	a, err := work(t, dir, points, g, req)
	if err != nil || !a.Done {
		t.Fatalf("backfill: %v: %+v", err, a)
	}
	return a
}
