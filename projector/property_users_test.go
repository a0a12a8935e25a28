package projector_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector/projectortest"
)

// What one user's events do to a graph is the same whether others with the same ids exist or not: names, batches,
// sources and episodes of one are nobody else's, and a retraction or a forgetting is of one.
func TestUsersWithTheSameIDsStayApart(t *testing.T) {
	p := newProjector(t)
	spaces := []graphstore.Space{user(t, "one"), user(t, "two"), user(t, "a")} // the last is also the id of a fact
	check(t, func(t *rapid.T) {
		mixed := projectortest.GenHistory(18, spaces...).Draw(t, "mixed")
		views := map[graphstore.Space]*graphstore.Snapshot{}
		alone := map[graphstore.Space]projectortest.History{}
		m := projectortest.NewModel(projectortest.SmallShape())
		for _, space := range spaces {
			views[space] = graphstore.NewSnapshot(space)
		}
		for _, ev := range projectortest.GenOrder(mixed).Draw(t, "order") {
			views[ev.Space] = apply(t, p, views[ev.Space], ev)
			m.Add(ev)
		}
		for _, ev := range mixed {
			alone[ev.Space] = append(alone[ev.Space], ev)
		}
		for _, space := range spaces {
			wantDigest(t, inOrder(t, p, space, alone[space]), views[space])
			if diff := m.Diff(views[space]); diff != "" {
				t.Fatalf("user %s (-model +graph):\n%s", space, diff)
			}
		}
	})
}
