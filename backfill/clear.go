package backfill

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

// clear removes what was projected of one user's facts.
func (r *run) clear(ctx context.Context) error {
	r.phase("clearing")
	return r.patiently(ctx, "clear graph of user", func() error {
		n := 0
		err := r.b.graph.Update(ctx, func(ctx context.Context, views Views) ([]graphstore.Change, error) {
			view, err := views(ctx, r.space)
			if err != nil {
				return nil, err
			}
			changes := clearing(view)
			n = len(changes)
			return changes, nil
		})
		if err == nil {
			r.change(func(rep *Account) { rep.Cleared = int64(n) })
		}
		return err
	})
}

// clearing returns the changes that leave of a user's graph its schemas with their evidence, the merge log with its entities, and
// the tombstones. Evidence points at refs then, as it does when its fact is not there; a fact that comes back takes it over.
func clearing(view *graphstore.Snapshot) []graphstore.Change {
	space := view.Space()
	logged := map[string]bool{}
	for c := range view.Records() {
		if c.Merge != nil {
			logged[c.Merge.Kept], logged[c.Merge.Merged] = true, true
		}
	}
	var changes []graphstore.Change
	refs := map[string]bool{}
	for c := range view.Records() {
		switch {
		case c.Fact != nil, c.Topic != nil, c.Entity != nil && !logged[c.Entity.ID]:
			changes = append(changes, graphstore.DeleteKey(space, c.Key()))
		case c.Edge == nil || c.Edge.Type == graphstore.DerivedFromRef:
		default:
			changes = append(changes, graphstore.DeleteKey(space, c.Key()))
			if c.Edge.Type == graphstore.DerivedFrom {
				e := *c.Edge
				e.Type = graphstore.DerivedFromRef
				changes = append(changes, graphstore.PutEdge(space, e))
				if _, there := view.Record(graphstore.Ref{ID: e.Target}.Key()); !there && !refs[e.Target] {
					refs[e.Target] = true
					changes = append(changes, graphstore.PutRef(space, graphstore.Ref{ID: e.Target}))
				}
			}
		}
	}
	return changes
}
