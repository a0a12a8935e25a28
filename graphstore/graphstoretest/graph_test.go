package graphstoretest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestGraphIsDeterministicAndEveryPieceApplies(t *testing.T) {
	const spaces, facts = 3, 100
	all := Graph(7, spaces, facts)
	if diff := cmp.Diff(all, Graph(7, spaces, facts), recordOptions); diff != "" {
		t.Errorf("the same arguments gave another graph:\n%s", diff)
	}
	if err := graphstore.ValidateChanges(all); err != nil {
		t.Fatalf("as one transaction: %v", err)
	}
	m := NewMemory()
	for i, c := range all { // a piece of one change is the hardest: nothing may come before what it needs
		if err := m.Apply(t.Context(), []graphstore.Change{c}); err != nil {
			t.Fatalf("change %d alone: %v", i, err)
		}
	}
	st, err := m.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Spaces != spaces || st.Facts != spaces*facts || st.Edges < 3*st.Facts || st.Edges > 8*st.Facts {
		t.Errorf("got %+v, want %d spaces of %d facts with three to eight edges each", st, spaces, facts)
	}
}

func TestGraphCountsMentionsAndTags(t *testing.T) {
	all := Graph(3, 1, 200)
	counts := make(map[graphstore.Key]int)
	for _, c := range all {
		if c.Edge != nil {
			counts[ends(*c.Edge)[1]]++
		}
	}
	bridges := 0
	for _, c := range all {
		switch {
		case c.Entity != nil && c.Entity.Mentions != counts[c.Key()]:
			t.Errorf("%s: %d mentions, edges say %d", c.Key(), c.Entity.Mentions, counts[c.Key()])
		case c.Topic != nil && c.Topic.Facts != counts[c.Key()]:
			t.Errorf("%s: %d facts, edges say %d", c.Key(), c.Topic.Facts, counts[c.Key()])
		case c.Entity != nil || c.Topic != nil:
			bridges++
		}
	}
	if bridges < 10 {
		t.Errorf("%d entities and topics for 200 facts", bridges)
	}
}

func TestGraphsOfOtherSeedsDiffer(t *testing.T) {
	a, b := Graph(1, 1, 20), Graph(2, 1, 20)
	if slices.EqualFunc(a, b, func(x, y graphstore.Change) bool { return x.Key() == y.Key() }) {
		t.Error("seeds 1 and 2 gave the same keys")
	}
}
