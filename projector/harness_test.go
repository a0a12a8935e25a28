package projector

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("e%02d", i)
	}
	return ids
}

func allRecords(s *graphstore.Snapshot) []graphstore.Change {
	return slices.SortedFunc(s.Records(), func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
}
