package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// User by user, agent by agent and all at once give one graph; a dry run none.
func TestRangesAddUp(t *testing.T) {
	points := clustered(t, 3, 40)
	for i := range points {
		points[i].Payload.AgentID = fmt.Sprint("agent-", i%2)
	}
	store, whole, parts := newPoints(t, points...), newGraph(t), newGraph(t)
	dry := must(t, t.TempDir(), store, whole, backfill.Request{DryRun: true})
	if dry.Changed != 120 || dry.Commits != 0 || whole.live.Digest() != (graphstore.Digest{}) {
		t.Errorf("dry run: %+v", dry)
	}
	all := must(t, t.TempDir(), store, whole, backfill.Request{})
	for kind, n := range all.Written {
		if kind == "semantic_neighbor" && dry.Written[kind] != n {
			t.Errorf("dry run says %d %s, there are %d", dry.Written[kind], kind, n)
		}
	}
	dir := t.TempDir()
	for user := range 3 {
		for agent := range 2 {
			req := backfill.Request{UserID: fmt.Sprint("user-", user), AgentID: fmt.Sprint("agent-", agent)}
			if a := must(t, dir, store, parts, req); a.Scanned != 40 || a.Changed+a.Filtered != 40 || a.Total != 40 {
				t.Errorf("%+v: %+v", req, a)
			}
		}
	}
	if whole.live.Digest() != parts.live.Digest() {
		t.Error("parts give another graph than all at once")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 0 {
		t.Errorf("checkpoints of runs that are done: %v %v", files, err)
	}
}

func TestSince(t *testing.T) {
	points := clustered(t, 1, 4)
	points[0].Payload.CreatedAt = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	points[1].Payload.CreatedAt = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	points[2].Payload.CreatedAt = points[0].Payload.CreatedAt
	points[2].Payload.Extra["updated_at"] = int64(1_772_323_200) // 2026-03-01 in seconds
	a := must(t, t.TempDir(), newPoints(t, points...), newGraph(t), backfill.Request{Since: points[1].Payload.CreatedAt})
	if a.Filtered != 1 || a.Undated != 1 || a.Changed != 3 {
		t.Errorf("filtered %d, undated %d, changed %d: want 1 (the first), 1 (the last), 3", a.Filtered, a.Undated, a.Changed)
	}
}

// A clear leaves schemas with their evidence and what events said of the user as a whole, and the scan brings the facts of the
// store back; facts that only events knew are gone.
func TestClear(t *testing.T) {
	proj, user := newProjector(t), space(t, "user-0")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := func(id string, p projector.Data) projector.Event {
		ev, err := projector.NewEvent(id, "test", at, "user-0", p)
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	schema := event("e1", projector.SchemaUpserted{SchemaID: "s", Level: "l6", Title: "habits", Evidence: []string{"fact-1", "gone"}})
	wrote := event("e2", projector.FactsWritten{BatchID: "b", Facts: []projector.FactWrite{{ID: "gone", Op: projector.OpAdd, Tags: projector.Some([]string{"only here"})}}})
	store := newPoints(t, clustered(t, 2, 20)...)
	want, got := newGraph(t), newGraph(t)
	want.event(t, proj, schema)
	must(t, t.TempDir(), store, want, backfill.Request{})
	got.event(t, proj, wrote)
	got.event(t, proj, schema)
	must(t, t.TempDir(), store, got, backfill.Request{})
	if got.live.Digest() == want.live.Digest() {
		t.Fatal("the event changed nothing")
	}
	a := must(t, t.TempDir(), store, got, backfill.Request{UserID: "user-0", Clear: true})
	if a.Cleared == 0 || a.Changed != 20 {
		t.Errorf("%+v", a)
	}
	if got.live.Digest() != want.live.Digest() {
		view, err := got.live.View(user)
		t.Errorf("digest %s after the clear, want %s: evidence %v, %v", got.live.Digest(), want.live.Digest(), view.Evidence("s"), err)
	}
}

// What cannot be a fact is counted and named; all else is there.
func TestBadPoints(t *testing.T) {
	good := clustered(t, 2, 20) // ids are the same for both users
	good[3].Payload.Content = strings.Repeat("x", 1<<20)
	good[5].ID = "not a UUID / at all"
	good[6].Payload.Version = -4
	good[7].Payload.Extra["entities"] = []any{"Ada", int64(7), map[string]any{"type": "person"}}
	good[8].Payload.Extra["relations"] = "fact-1"
	good[9].Payload.State = "unheard of"
	good[10].Payload.MemoryAt = time.Date(290_000, 1, 1, 0, 0, 0, 0, time.UTC)
	lone := clustered(t, 1, 1)[0]
	lone.Space = space(t, "lone")
	mem, g := newPoints(t, append(good, lone)...), newGraph(t)
	store := &odd{Store: mem}
	a := must(t, t.TempDir(), store, g, backfill.Request{})
	if a.Scanned != 44 || a.Skipped != 1 || a.Duplicates != 1 || a.BadVectors != 1 || a.BadFacts != 0 || a.BadItems != 3 || a.BadValues != 3 {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{"no user id", "stored twice", "version", "entities[1]", "entities[2]", "relations[0]", "NaN", "unheard of", "memory_at"} {
		if !strings.Contains(strings.Join(a.Problems, "\n"), want) {
			t.Errorf("no problem says %q: %q", want, a.Problems)
		}
	}
	if n := g.live.Counts(); n.Spaces != 3 || n.Present != 42 {
		t.Errorf("%d spaces and %d facts in the graph, want 3 and 42", n.Spaces, n.Present)
	}
}

// odd is a store with a point without a user, one that is there twice and one whose vector is not a number.
type odd struct{ vdb.Store }

func (o *odd) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	page, err := o.Store.Scroll(ctx, q)
	if err != nil || q.After != "" {
		return page, err
	}
	nan := page.Points[1]
	nan.ID, nan.Vector = "nan", []float32{float32(math.NaN()), 1, 1, 1, 1, 1, 1, 1}
	page.Points = append(page.Points, page.Points[0], nan)
	page.Skipped = append(page.Skipped, "point 7: no user id at user_id")
	return page, nil
}

func TestBadRequests(t *testing.T) {
	store, g := newPoints(t, clustered(t, 1, 1)...), newGraph(t)
	for _, c := range []struct {
		req  backfill.Request
		says []string
	}{
		{backfill.Request{UserID: "a\x00b"}, []string{"user"}},
		{backfill.Request{Clear: true}, []string{"clear", "want a user"}},
		{backfill.Request{UserID: "u", AgentID: "a", Clear: true}, []string{"clear", "neither agent nor since"}},
		{backfill.Request{UserID: "u", Clear: true, DryRun: true}, []string{"clear", "dry_run"}},
		{backfill.Request{Resume: true, DryRun: true}, []string{"resume", "dry_run"}},
		{backfill.Request{Rate: -1, Memory: 1}, []string{"rate -1", "memory 1: want 1048576"}},
	} {
		_, err := work(t, t.TempDir(), store, g, c.req)
		if !errors.Is(err, backfill.ErrBadRequest) {
			t.Errorf("%+v: %v", c.req, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v: want it to say %q", c.req, err, want)
			}
		}
	}
}

// A checkpoint is taken up by a run of the same options only, and one that is broken says so.
func TestCheckpointOfAnotherRun(t *testing.T) {
	store, g, dir := &pages{Store: newPoints(t, clustered(t, 1, 30)...), most: 10}, newGraph(t), t.TempDir()
	g.killedAt = 2
	if _, err := work(t, dir, store, g, backfill.Request{}); err == nil {
		t.Fatal("not killed")
	}
	for _, req := range []backfill.Request{{Resume: true, AgentID: "a"}, {Resume: true, NoNeighbors: true}, {Resume: true, UserID: "user-0"}} {
		if _, err := work(t, dir, store, g, req); !errors.Is(err, backfill.ErrNoCheckpoint) {
			t.Errorf("%+v: %v", req, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "all.json"), []byte(`{"format": 1, "cur`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := work(t, dir, store, g, backfill.Request{Resume: true}); err == nil || !strings.Contains(err.Error(), "all.json") {
		t.Errorf("broken checkpoint: %v", err)
	}
}
