package projector

import "github.com/kithgraph/kith/graphstore"

// deriveUnseen appends the nodes that stand for facts not seen yet: one for each end of a new edge that is no fact, and
// the removal of each whose last edge goes.
func (d *draft) deriveUnseen(out []graphstore.Change) []graphstore.Change {
	balance := map[string]int{} // edges that come less edges that go, by fact
	for key, c := range d.edges {
		if source, target := key.Relation.Ends(); source != graphstore.KindFact || target != graphstore.KindFact {
			continue
		}
		by := 0
		switch {
		case c.old == nil && c.now != nil:
			by = 1
		case c.old != nil && c.now == nil:
			by = -1
		}
		balance[key.Node] += by
		balance[key.Target] += by
	}
	space := d.view.Space()
	for _, id := range d.gone {
		if n, known := d.view.Node(id); known && len(d.view.Links(n))+balance[id] > 0 {
			out = append(out, graphstore.PutFact(space, graphstore.Fact{ID: id}))
		} else {
			out = append(out, graphstore.DeleteKey(space, graphstore.Fact{ID: id}.Key()))
		}
		delete(balance, id)
	}
	for id, by := range balance {
		if _, settled := d.facts[id]; settled {
			continue
		}
		f, known := d.fact(id)
		n, _ := d.view.Node(id)
		switch {
		case !known && by > 0:
			out = append(out, graphstore.PutFact(space, f))
		case known && f.State == graphstore.StateUnseen && len(d.view.Links(n))+by == 0:
			out = append(out, graphstore.DeleteKey(space, f.Key()))
		}
	}
	return out
}
