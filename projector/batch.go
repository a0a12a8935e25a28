package projector

import (
	"cmp"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// deriveBatches brings the co_occurs edges of every batch that changed in line with its members.
func (d *draft) deriveBatches() {
	if len(d.batches) == 0 {
		return
	}
	changed := map[string][]graphstore.Fact{} // settled facts by the batch they are in now
	for _, f := range d.facts {
		changed[f.BatchID] = append(changed[f.BatchID], f)
	}
	for batch := range d.batches {
		d.deriveBatch(batch, changed[batch])
	}
}

func (d *draft) deriveBatch(batch string, joined []graphstore.Fact) {
	before := d.view.BatchMembers(batch)
	members := joined
	for _, f := range before {
		if _, settled := d.facts[f.ID]; !settled && d.presentNow(f.ID) { // also not one of which nothing is left
			members = append(members, f)
		}
	}
	members = slices.DeleteFunc(members, func(f graphstore.Fact) bool { return !f.Present() })
	slices.SortFunc(members, func(a, b graphstore.Fact) int {
		return cmp.Or(cmp.Compare(a.BatchSeq, b.BatchSeq), cmp.Compare(a.ID, b.ID))
	})
	changes := edgeChanges{}
	changes.restate(d.batchEdges(batch, before), coOccurs(batch, members, d.cfg.MaxCoOccurs))
	for key, c := range changes {
		d.change(key, c)
	}
}

// batchEdges returns the edges that the view has of a batch, each once.
func (d *draft) batchEdges(batch string, members []graphstore.Fact) []graphstore.Edge {
	var edges []graphstore.Edge
	by := graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch}
	for _, f := range members {
		n, _ := d.view.Node(f.ID)
		for _, l := range d.view.Links(n) {
			if l.Out() && l.Type == graphstore.CoOccurs && d.view.Asserter(n, l) == by {
				edges = append(edges, graphstore.Edge{Source: f.ID, Target: d.view.ID(l.To),
					Type: graphstore.CoOccurs, Asserter: by, Weight: l.Weight})
			}
		}
	}
	return edges
}

// coOccurs returns the edges of a batch whose present members are these, in batch order: all pairs up to limit members,
// and the pairs at most (limit-1)/2 places apart in a larger batch, so that no member has more than limit-1 edges and
// the number of edges grows with the batch and not with its square.
func coOccurs(batch string, members []graphstore.Fact, limit int) []graphstore.Edge {
	reach := len(members)
	if reach > limit {
		reach = (limit - 1) / 2
	}
	var edges []graphstore.Edge
	for i := range members {
		for j := i + 1; j < len(members) && j <= i+reach; j++ {
			edges = append(edges, graphstore.Edge{
				Source: members[i].ID, Target: members[j].ID, Type: graphstore.CoOccurs, Weight: 1,
				Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch},
			}.Normalized())
		}
	}
	return edges
}
