package projector

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// draft collects what one event changes.
//
// Planning has two steps. First each record that the event names is settled alone: its registers decide which parts of
// the event apply. Then everything that is a function of several records is brought in line with them as they are after
// the first step: the states of facts (a supersession does not outlive the source that said it), their own edges, the
// co_occurs of a batch, the spine, the evidence of schemas, the counts and names of entities and topics, the nodes that
// stand for facts not seen. Only the first step looks at the event; the second is a function of the graph alone, which
// is why it too ends the same in any order.
type draft struct {
	*Projector
	view   *graphstore.Snapshot
	report Report

	settled map[string]*settledFact    // by fact id
	facts   map[string]graphstore.Fact // as they will be
	gone    []string                   // facts of which nothing is left
	edges   map[graphstore.Key]edgeChange
	bridges map[graphstore.Key][]tie // what changes at an entity or topic
	batches map[string]struct{}      // whose members change
	names   map[string]entityName    // by entity id, of the mentions and decisions in the event

	tombstones map[string]graphstore.Instant        // new ones, by source
	schemas    map[string]schemaChange              // by schema id
	merges     map[graphstore.Key]*graphstore.Merge // rows of the merge log; nil for one that goes
	mergesAt   map[string][]graphstore.Key          // which of them name an entity
	erased     []graphstore.Change                  // deletes of everything, where nothing stays
	dropped    []graphstore.Key                     // tombstones that go
}

// settledFact is one fact before and after. asserted holds, for each field with edges that was settled, the edges it
// asserts now; the edges of other fields stay.
type settledFact struct {
	before, after graphstore.Fact
	known         bool
	asserted      map[graphstore.Field][]graphstore.Edge
}

// edgeChange is one edge before and after; nil where there is none.
type edgeChange struct{ old, now *graphstore.Edge }

// edgeChanges are changes of edges, by key.
type edgeChanges map[graphstore.Key]edgeChange

// restate notes that old edges give way to new ones, some of which may be the same.
func (c edgeChanges) restate(old, now []graphstore.Edge) {
	for _, e := range old {
		c[e.Key()] = edgeChange{old: &e}
	}
	for _, e := range now {
		both := c[e.Key()]
		both.now = &e
		c[e.Key()] = both
	}
}

func newDraft(p *Projector, view *graphstore.Snapshot) *draft {
	return &draft{
		Projector: p, view: view, settled: map[string]*settledFact{},
		facts: map[string]graphstore.Fact{}, edges: map[graphstore.Key]edgeChange{},
		bridges: map[graphstore.Key][]tie{}, batches: map[string]struct{}{}, names: map[string]entityName{},
		tombstones: map[string]graphstore.Instant{}, schemas: map[string]schemaChange{},
		merges: map[graphstore.Key]*graphstore.Merge{}, mergesAt: map[string][]graphstore.Key{},
	}
}

// fact returns a fact as the view has it; an unseen one if it has none.
func (d *draft) fact(id string) (f graphstore.Fact, known bool) {
	f, known = d.view.Fact(id)
	f.ID = id
	return f, known
}

// factNow returns a fact as it is after what was settled so far; an unseen one if there is none.
func (d *draft) factNow(id string) graphstore.Fact {
	if s, ok := d.settled[id]; ok {
		return s.after
	}
	f, _ := d.fact(id)
	return f
}

// presentNow reports whether a fact is present after what was settled so far.
func (d *draft) presentNow(id string) bool {
	if s, ok := d.settled[id]; ok {
		return s.after.Present()
	}
	n, ok := d.view.Node(id)
	return ok && d.view.IsPresent(n)
}

// settle records what a fact becomes, once per fact. Its state is derived later.
func (d *draft) settle(s settledFact) { d.settled[s.after.ID] = &s }

// record takes up a settled fact whose state is derived.
func (d *draft) record(s *settledFact) {
	before, after := s.before, s.after
	if s.known && len(s.asserted) == 0 && after.Equal(before) {
		return
	}
	switch {
	case after.State == graphstore.StateUnseen:
		d.gone = append(d.gone, after.ID)
	case !s.known || !after.Equal(before):
		d.facts[after.ID] = after
	}
	d.settleEdges(before, after, s.asserted)
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
		if _, settled := asserted[e.Type.Field()]; !settled {
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

// changes derives what follows from the settled records and returns the changes of all of it.
func (d *draft) changes() ([]graphstore.Change, error) {
	d.deriveStates()
	for _, s := range d.settled {
		d.record(s)
	}
	d.deriveBatches()
	d.deriveSpine()
	out := make([]graphstore.Change, 0, len(d.facts)+len(d.edges)+len(d.bridges))
	out = d.deriveEvidence(out)
	space := d.view.Space()
	for _, f := range d.facts {
		out = append(out, graphstore.PutFact(space, f))
	}
	for key, c := range d.edges {
		if c.now == nil {
			out = append(out, graphstore.DeleteKey(space, key))
		} else {
			out = append(out, graphstore.PutEdge(space, *c.now))
		}
	}
	out = d.deriveUnseen(out)
	out = append(d.appendLog(out), d.erased...)
	out, err := d.deriveBridges(out)
	if err != nil {
		return nil, err
	}
	return inOrder(out), nil
}

// inOrder returns changes in the order of their keys.
func inOrder(changes []graphstore.Change) []graphstore.Change {
	keys := make([]graphstore.Key, len(changes)) // made once each, not for every comparison
	order := make([]int, len(changes))
	for i, c := range changes {
		keys[i], order[i] = c.Key(), i
	}
	slices.SortFunc(order, func(a, b int) int { return keys[a].Compare(keys[b]) })
	sorted := make([]graphstore.Change, len(changes))
	for i, at := range order {
		sorted[i] = changes[at]
	}
	return sorted
}

// appendLog appends what becomes of the merge log and of tombstones.
func (d *draft) appendLog(out []graphstore.Change) []graphstore.Change {
	space := d.view.Space()
	for key, m := range d.merges {
		if m == nil {
			out = append(out, graphstore.DeleteKey(space, key))
		} else {
			out = append(out, graphstore.PutMerge(space, *m))
		}
	}
	for source, at := range d.tombstones {
		out = append(out, graphstore.PutTombstone(space, graphstore.Tombstone{Source: source, At: at}))
	}
	for _, key := range d.dropped {
		out = append(out, graphstore.DeleteKey(space, key))
	}
	return out
}
