package backfill_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
	"github.com/kithgraph/kith/vdb"
)

// genPoint draws a point of one of the facts that histories are about, close enough to others to have neighbours.
func genPoint(user graphstore.Space, id string) *rapid.Generator[vdb.Point] {
	return rapid.Custom(func(t *rapid.T) vdb.Point {
		at := func(label string) time.Time {
			if n := rapid.IntRange(0, 6).Draw(t, label); n > 0 {
				return time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC)
			}
			return time.Time{}
		}
		text := func(label string, values ...string) string {
			return rapid.SampledFrom(append(values, "")).Draw(t, label)
		}
		p := vdb.Point{Space: user, ID: id, Vector: []float32{1, float32(rapid.IntRange(-3, 3).Draw(t, "x")) / 2, float32(rapid.IntRange(-1, 1).Draw(t, "y"))}}
		p.Payload = vdb.Payload{
			AgentID: text("agent", "a1", "a2"), BatchID: text("batch", "b1", "b2"), EpisodeID: text("episode", "e1"), SourceID: text("source", "s1"),
			State: text("state", "active", "superseded", "shadowed", "deleted"), Version: rapid.SampledFrom([]int64{0, 1, 5}).Draw(t, "version"),
			MemoryAt: at("memory_at"), CreatedAt: at("created_at"), ValidFrom: at("valid_from"),
			Tags: rapid.SliceOfN(rapid.SampledFrom([]string{"tea", "Tea", "work"}), 0, 2).Draw(t, "tags"), Extra: map[string]any{},
		}
		if rapid.Bool().Draw(t, "placed") {
			p.Payload.Extra["batch_seq"] = int64(rapid.IntRange(0, 2).Draw(t, "place"))
		}
		if rapid.Bool().Draw(t, "updated") {
			p.Payload.Extra["updated_at"] = at("updated_at").Format(time.RFC3339)
		}
		if rapid.Bool().Draw(t, "entities") {
			p.Payload.Extra["entities"] = []any{"Ada", map[string]any{"name": "Berlin", "type": "place"}}
		}
		if to := rapid.SampledFrom(projectortest.FactIDs()).Draw(t, "to"); rapid.Bool().Draw(t, "related") {
			p.Payload.Extra["relations"] = []any{map[string]any{"to": to, "type": "causes"}}
		}
		return p
	})
}

// A backfill may come before, after or anywhere between events, may be killed after any commit and taken up again, and repeated: the
// graph is the same.
func TestBackfillBetweenEvents(t *testing.T) {
	user := space(t, "u")
	rapid.Check(t, func(t *rapid.T) {
		proj := newProjector(t)
		events := projectortest.GenHistory(8, user).Draw(t, "history")
		forgotten := slices.ContainsFunc(events, func(ev projector.Event) bool { _, is := ev.Data.(projector.UserForgotten); return is })
		var stored []vdb.Point
		for _, id := range projectortest.FactIDs() {
			if canon := graphstore.CanonicalFactID(id); canon == id && rapid.Bool().Draw(t, "has "+id) {
				p := genPoint(user, id).Draw(t, "point")
				if forgotten {
					// It was stored after everything that is forgotten, if it says when, so its version must be greater: forgetting is
					// exact only if versions grow with time, and of a batch only with a place.
					p.Payload.Version = 1000
					p.Payload.Extra["batch_seq"] = int64(1)
				}
				stored = append(stored, p)
			}
		}
		store := newPoints(t, stored...)

		want := newGraph(t)
		for _, ev := range events {
			want.event(t, proj, ev)
		}
		must(t, tempDir(t), store, want, backfill.Request{})

		got, dir := newGraph(t), tempDir(t)
		left := projectortest.GenOrder(events).Draw(t, "order")
		some := func() error {
			n := rapid.IntRange(0, len(left)).Draw(t, "events before a page")
			for _, ev := range left[:n] {
				got.event(t, proj, ev)
			}
			left = left[n:]
			return nil
		}
		small := &pages{Store: store, most: rapid.IntRange(1, 3).Draw(t, "page"), before: some}
		got.killedAt = rapid.IntRange(0, 4).Draw(t, "killed at")
		if a, err := work(t, dir, small, got, backfill.Request{}); err != nil {
			if a.Done {
				t.Fatalf("killed and done: %+v", a)
			}
			must(t, dir, small, got, backfill.Request{Resume: true})
		}
		for _, ev := range left {
			got.event(t, proj, ev)
		}
		if w, g := want.live.Digest(), got.live.Digest(); w != g {
			t.Fatalf("digest %s after interleaving, %s after all events and then a backfill:\n%s", g, w,
				projectortest.DiffRecords(recordsOf(t, want, user), recordsOf(t, got, user)))
		}
		again := must(t, dir, store, got, backfill.Request{})
		if again.Changed != 0 || again.Commits != 0 || got.live.Digest() != want.live.Digest() {
			t.Fatalf("a second run changed something: %+v", again)
		}
	})
}

func recordsOf(t fataler, g *graph, user graphstore.Space) []graphstore.Change {
	t.Helper()
	view, err := g.live.View(user)
	if err != nil {
		t.Fatal(err)
	}
	var out []graphstore.Change
	for c := range view.Records() {
		out = append(out, c)
	}
	return out
}

// tempDir returns a directory for the checkpoints of one draw.
func tempDir(t *rapid.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "backfill")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(fmt.Errorf("remove checkpoints: %w", err))
		}
	})
	return dir
}
