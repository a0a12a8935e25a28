package kuzu

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func TestPoolEdgesAreThoseInsideThePool(t *testing.T) {
	s := mustOpen(t, t.TempDir()+"/graph", testConfig())
	defer s.Close()
	all := graphstoretest.Graph(1, 2, 120)
	if err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	space := graphstoretest.SpaceName(1)
	pool := make(map[string]bool)
	ids := []string{"unknown"}
	for _, c := range all {
		if c.Space == space && c.Fact != nil && len(pool) < 50 {
			pool[c.Fact.ID] = true
			ids = append(ids, c.Fact.ID)
		}
	}
	var want []graphstore.Edge
	for _, c := range all {
		if c.Space == space && c.Edge != nil && pool[c.Edge.Source] && pool[c.Edge.Target] {
			want = append(want, *c.Edge)
		}
	}
	got, err := s.PoolEdges(t.Context(), space, ids)
	if err != nil {
		t.Fatal(err)
	}
	byKey := func(a, b graphstore.Edge) int { return a.Key().Compare(b.Key()) }
	slices.SortFunc(got, byKey)
	slices.SortFunc(want, byKey)
	if diff := gocmp.Diff(want, got); diff != "" || len(want) < 50 {
		t.Errorf("%d edges (-want +got):\n%s", len(want), diff)
	}
}
