package projector

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// draft collects what one event changes.
//
// Planning has two steps. First each fact that the event names is settled alone: its registers decide which parts of
// the event apply, and its own edges are compared with what it asserts now. Then everything that is a function of
// several facts (co_occurs of a batch, the counts and names of entities and topics, the nodes that stand for facts not
// seen yet) is brought in line with the facts and edges as they are after the first step. Only the first step looks at
// the event; the second is a function of the graph alone, which is why it too ends the same in any order.
type draft struct {
	*Projector
	view   *graphstore.Snapshot
	report Report

	facts   map[string]graphstore.Fact // as they will be
	edges   map[graphstore.Key]edgeChange
	bridges map[graphstore.Key][]tie // what changes at an entity or topic
	batches map[string]struct{}      // whose members change
	names   map[string]entityName    // by entity id, of the mentions in the event
}

// edgeChange is one edge before and after; nil where there is none.
type edgeChange struct{ old, now *graphstore.Edge }

func newDraft(p *Projector, view *graphstore.Snapshot) *draft {
	return &draft{
		Projector: p, view: view,
		facts: map[string]graphstore.Fact{}, edges: map[graphstore.Key]edgeChange{},
		bridges: map[graphstore.Key][]tie{}, batches: map[string]struct{}{}, names: map[string]entityName{},
	}
}

// fact returns a fact as the view has it; an unseen one if it has none.
func (d *draft) fact(id string) (f graphstore.Fact, known bool) {
	f, known = d.view.Fact(id)
	f.ID = id
	return f, known
}

// settle records what a fact becomes. asserted holds, for each field with edges that was settled, the edges it asserts
// now; the edges of other fields stay. No event names a fact twice, so this is called once per fact.
func (d *draft) settle(before, after graphstore.Fact, known bool, asserted map[graphstore.Field][]graphstore.Edge) {
	if known && len(asserted) == 0 && after.Equal(before) {
		return
	}
	if !known || !after.Equal(before) {
		d.facts[after.ID] = after
	}
	d.settleEdges(before, after, asserted)
	if before.BatchID != after.BatchID || before.BatchSeq != after.BatchSeq || before.Present() != after.Present() {
		for _, batch := range []string{before.BatchID, after.BatchID} {
			if batch != "" {
				d.batches[batch] = struct{}{}
			}
		}
	}
}

// settleEdges compares the edges the fact asserted with those it asserts now.
func (d *draft) settleEdges(before, after graphstore.Fact, asserted map[graphstore.Field][]graphstore.Edge) {
	if len(asserted) == 0 && before.Present() == after.Present() {
		return
	}
	changes := map[graphstore.Key]edgeChange{}
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: after.ID}
	for _, e := range d.view.EdgesOf(after.ID) {
		if e.Asserter != by {
			continue
		}
		c := edgeChange{old: &e}
		if _, settled := asserted[fieldOf(e.Type)]; !settled {
			c.now = &e
		}
		changes[e.Key()] = c
	}
	for _, edges := range asserted {
		for _, e := range edges {
			e = e.Normalized()
			c := changes[e.Key()]
			c.now = &e
			changes[e.Key()] = c
		}
	}
	for key, c := range changes {
		d.tie(key, tie{fact: after.ID, edgeChange: c, was: before.Present(), is: after.Present()})
		d.change(key, c)
	}
}

// change records what an edge becomes, if it becomes anything else.
func (d *draft) change(key graphstore.Key, c edgeChange) {
	if c.old != nil && c.now != nil && *c.old == *c.now {
		return
	}
	d.edges[key] = c
}

// fieldOf returns the field of a fact that asserts edges of a type.
func fieldOf(t graphstore.RelationType) graphstore.Field {
	switch t {
	case graphstore.Mentions:
		return graphstore.FieldEntities
	case graphstore.TaggedWith:
		return graphstore.FieldTags
	case graphstore.SemanticNeighbor:
		return graphstore.FieldNeighbors
	default:
		return graphstore.FieldRelations
	}
}

// changes derives what follows from the settled facts and returns the changes of all of it.
func (d *draft) changes() ([]graphstore.Change, error) {
	d.deriveBatches()
	out := make([]graphstore.Change, 0, len(d.facts)+len(d.edges)+len(d.bridges))
	for _, f := range d.facts {
		out = append(out, graphstore.PutFact(d.view.Space(), f))
	}
	for key, c := range d.edges {
		if c.now == nil {
			out = append(out, graphstore.DeleteKey(d.view.Space(), key))
		} else {
			out = append(out, graphstore.PutEdge(d.view.Space(), *c.now))
		}
	}
	out = d.deriveUnseen(out)
	out, err := d.deriveBridges(out)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
	return out, nil
}
