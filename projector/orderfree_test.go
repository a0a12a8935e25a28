package projector

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
)

// TestMain raises the number of random histories; -rapid.checks and -rapid.seed still decide if given.
func TestMain(m *testing.M) {
	if f := flag.Lookup("rapid.checks"); f != nil {
		f.DefValue = "500"
		_ = f.Value.Set(f.DefValue)
	}
	flag.Parse()
	os.Exit(m.Run())
}

func mustNew(tb testing.TB, cfg Config) *Projector {
	tb.Helper()
	p, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// fataler is the part of testing.TB and rapid.T that helpers need.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// apply plans an event and returns the snapshot after it.
func apply(t fataler, p *Projector, view *graphstore.Snapshot, ev Event) (*graphstore.Snapshot, Planned) {
	t.Helper()
	planned, err := p.Plan(view, ev)
	if err != nil {
		t.Fatalf("plan %+v: %v", ev, err)
	}
	for _, c := range planned.Changes {
		if idle(view, c) {
			t.Fatalf("event %s puts or deletes %s and changes nothing by it", ev.ID, c.Key())
		}
	}
	after, err := view.With(planned.Changes)
	if err != nil {
		t.Fatalf("changes of %+v: %v", ev, err)
	}
	if again, err := p.Plan(after, ev); err != nil || len(again.Changes) != 0 {
		t.Fatalf("planned again: %v, changes %v", err, again.Changes)
	}
	return after, planned
}

// idle reports whether a change leaves the snapshot as it is.
func idle(view *graphstore.Snapshot, c graphstore.Change) bool {
	for old := range view.Records() {
		if old.Key() == c.Key() {
			return c.Op == graphstore.Put && cmp.Equal(old, c, eventOptions)
		}
	}
	return c.Op == graphstore.Delete
}

// shape is a small configuration in which every limit is met by short histories.
var shape = Config{MaxCoOccurs: 3, MaxNeighbors: 2}

// Same events, same graph, and the graph that a naive reading of the contract gives: after each event of a random
// history, in a random order with repetitions, the snapshot is the one the model derives from scratch from the events
// so far.
func TestAnyOrderGivesTheGraphOfTheModel(t *testing.T) {
	space := mustSpace(t, "u")
	p := mustNew(t, shape)
	rapid.Check(t, func(t *rapid.T) {
		history := genHistory(space, 10).Draw(t, "history")
		order := rapid.Permutation(history).Draw(t, "order")
		repeats := rapid.SliceOfN(rapid.SampledFrom(history), 0, 4).Draw(t, "repeats")
		m := model{cfg: p.cfg, events: map[string]Event{}}
		view := graphstore.NewSnapshot(space)
		for _, ev := range slices.Concat(order, repeats) {
			view, _ = apply(t, p, view, ev)
			m.add(ev)
			if diff := cmp.Diff(m.records(), snapshotRecords(view)); diff != "" {
				t.Fatalf("after %s (-model +graph):\n%s", ev.ID, diff)
			}
		}
	})
}

// The registers count too: whole records, by digest, over several orders of one history.
func TestAnyOrderGivesTheSameDigest(t *testing.T) {
	space := mustSpace(t, "u")
	p := mustNew(t, shape)
	rapid.Check(t, func(t *rapid.T) {
		history := genHistory(space, 14).Draw(t, "history")
		want := graphstore.NewSnapshot(space)
		for _, ev := range history {
			want, _ = apply(t, p, want, ev)
		}
		for range 3 {
			repeats := rapid.SliceOfN(rapid.SampledFrom(history), 0, 6).Draw(t, "repeats")
			order := rapid.Permutation(slices.Concat(history, repeats)).Draw(t, "order")
			got := graphstore.NewSnapshot(space)
			for _, ev := range order {
				got, _ = apply(t, p, got, ev)
			}
			if got.Digest() != want.Digest() {
				t.Fatalf("digest %s: want %s\n%s", got.Digest(), want.Digest(), cmp.Diff(allRecords(want), allRecords(got)))
			}
		}
	})
}

// Cut into transactions at any places, each the coalesced plans of its events, the graph is the same.
func TestAnySplitIntoTransactionsGivesTheSameDigest(t *testing.T) {
	space := mustSpace(t, "u")
	p := mustNew(t, shape)
	rapid.Check(t, func(t *rapid.T) {
		history := genHistory(space, 14).Draw(t, "history")
		want, committed, ahead := graphstore.NewSnapshot(space), graphstore.NewSnapshot(space), graphstore.NewSnapshot(space)
		var plans [][]graphstore.Change
		for i, ev := range history {
			want, _ = apply(t, p, want, ev)
			var planned Planned
			ahead, planned = apply(t, p, ahead, ev)
			plans = append(plans, planned.Changes)
			if i+1 < len(history) && rapid.Bool().Draw(t, "go on") {
				continue
			}
			joined := Coalesce(plans...)
			after, err := committed.With(joined)
			if err != nil {
				t.Fatalf("transaction of %d plans: %v", len(plans), err)
			}
			committed, ahead, plans = after, after, nil
		}
		if committed.Digest() != want.Digest() {
			t.Fatalf("digest %s: want %s\n%s", committed.Digest(), want.Digest(), cmp.Diff(allRecords(want), allRecords(committed)))
		}
	})
}

// Deleting every fact after everything else leaves tombstones and nothing else.
func TestDeletingEverythingLeavesTombstones(t *testing.T) {
	space := mustSpace(t, "u")
	p := mustNew(t, shape)
	rapid.Check(t, func(t *rapid.T) {
		events := genHistory(space, 10).Draw(t, "history")
		for i, id := range []string{"a", "b", "c", "d"} {
			events = append(events, Event{ID: numbered(99)[90+i], Space: space, Time: at("2026-01-01T00:00:00Z"), Data: FactDeleted{FactID: id}})
		}
		view := graphstore.NewSnapshot(space)
		for _, ev := range rapid.Permutation(events).Draw(t, "order") {
			view, _ = apply(t, p, view, ev)
		}
		if view.Facts() != 4 || view.Present() != 0 || view.Entities() != 0 || view.Topics() != 0 || view.Edges() != 0 {
			t.Fatalf("left: %v", snapshotRecords(view))
		}
	})
}

// What one user's events do to a graph is the same whether another user with the same ids exists or not.
func TestUsersWithTheSameIDsStayApart(t *testing.T) {
	p := mustNew(t, shape)
	one, two := mustSpace(t, "one"), mustSpace(t, "two")
	rapid.Check(t, func(t *rapid.T) {
		histories := map[graphstore.Space][]Event{one: genHistory(one, 6).Draw(t, "one"), two: genHistory(two, 6).Draw(t, "two")}
		mixed := rapid.Permutation(slices.Concat(histories[one], histories[two])).Draw(t, "mixed")
		views := map[graphstore.Space]*graphstore.Snapshot{one: graphstore.NewSnapshot(one), two: graphstore.NewSnapshot(two)}
		for _, ev := range mixed {
			var planned Planned
			views[ev.Space], planned = apply(t, p, views[ev.Space], ev)
			for _, c := range planned.Changes {
				if c.Space != ev.Space {
					t.Fatalf("event of %s changes %s of %s", ev.Space, c.Key(), c.Space)
				}
			}
		}
		for space, history := range histories {
			alone := graphstore.NewSnapshot(space)
			for _, ev := range history {
				alone, _ = apply(t, p, alone, ev)
			}
			if alone.Digest() != views[space].Digest() {
				t.Fatalf("graph of %s differs: %s", space, cmp.Diff(allRecords(alone), allRecords(views[space])))
			}
		}
	})
}

func allRecords(s *graphstore.Snapshot) []string {
	var out []string
	for c := range s.Records() {
		switch {
		case c.Fact != nil:
			out = append(out, line(*c.Fact))
		case c.Entity != nil:
			out = append(out, line(*c.Entity))
		case c.Topic != nil:
			out = append(out, line(*c.Topic))
		default:
			out = append(out, line(*c.Edge))
		}
	}
	slices.Sort(out)
	return out
}
