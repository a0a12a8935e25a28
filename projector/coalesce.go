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
		user string
		key  graphstore.Key
	}
	n := 0
	for _, changes := range plans {
		n += len(changes)
	}
	places := make(map[id]int, n)
	ids, last := make([]id, 0, n), make([]graphstore.Change, 0, n)
	for _, changes := range plans {
		for _, c := range changes {
			is := id{c.Space.UserID(), c.Key()}
			if at, known := places[is]; known {
				last[at] = c
				continue
			}
			places[is] = len(last)
			ids, last = append(ids, is), append(last, c)
		}
	}
	order := make([]int, len(last))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if by := cmp.Compare(ids[a].user, ids[b].user); by != 0 {
			return by
		}
		return ids[a].key.Compare(ids[b].key)
	})
	out := make([]graphstore.Change, len(last))
	for i, at := range order {
		out[i] = last[at]
	}
	return out
}
