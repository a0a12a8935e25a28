package projector

import (
	"cmp"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// Coalesce joins the changes of plans that were made one after the other, of any number of users, into one set that a
// store commits in one transaction: of several changes to one record the last one stays. Applied to the graph the first
// plan was made against, it gives the graph that applying the plans one by one gives. The order is by user id, then key.
func Coalesce(plans ...[]graphstore.Change) []graphstore.Change {
	type id struct {
		space graphstore.Space
		key   graphstore.Key
	}
	last := map[id]graphstore.Change{}
	for _, changes := range plans {
		for _, c := range changes {
			last[id{c.Space, c.Key()}] = c
		}
	}
	out := make([]graphstore.Change, 0, len(last))
	for _, c := range last {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b graphstore.Change) int {
		return cmp.Or(cmp.Compare(a.Space.UserID(), b.Space.UserID()), a.Key().Compare(b.Key()))
	})
	return out
}
