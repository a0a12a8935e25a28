package projector

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// Reconcile returns the graph that view should be: everything derived (states, co_occurs, the spine, unseen facts, counts and
// names of entities and topics, where evidence leads) derived anew from what the facts say, the facts settled by the stored ones
// as [Projector.PlanStored] settles them, and the facts of which gone is true left out. For a graph that plans alone have made
// and that no stored fact changes, the result equals view.
//
// It sees more than a plan does, which trusts what is there: a field that was settled by this very write of the store is
// compared with what the store says, the tags and relations that an event of the same version, not 0, wrote likewise by their
// keys, and a contribution of a field that nothing has settled, or a delete or a retraction has emptied, is not there.
// Schemas, the merge log and tombstones are taken as they are. The error is like that of PlanStored.
func (p *Projector) Reconcile(view *graphstore.Snapshot, facts []StoredFact, gone func(id string) bool) (*graphstore.Snapshot, error) {
	if view == nil {
		return nil, errors.New("reconcile graph: no snapshot")
	}
	stored := make(map[string]*StoredFact, len(facts))
	seen := make(map[string]int, len(facts))
	for i := range facts {
		if err := facts[i].Validate(); err != nil {
			return nil, underItem("facts", i, err)
		}
		if err := claim(seen, facts[i].ID, i); err != nil {
			return nil, underItem("facts", i, err)
		}
		stored[graphstore.CanonicalFactID(facts[i].ID)] = &facts[i]
	}
	base, err := undisputed(view)
	if err != nil {
		return nil, fmt.Errorf("reconcile graph: %w", err)
	}
	r := reconciling{draft: newDraft(p, base), was: view, own: contributions(view)}
	for c := range view.Records() {
		if c.Edge != nil {
			break // all others come before
		}
		switch {
		case c.Entity != nil:
			r.noteEntity(c.Entity)
		case c.Fact != nil && !gone(c.Fact.ID):
			r.fact(*c.Fact, stored[c.Fact.ID])
			delete(stored, c.Fact.ID)
		}
	}
	for id, s := range stored {
		r.fact(graphstore.Fact{ID: id}, s)
	}
	changes, err := r.changes()
	if err != nil {
		return nil, fmt.Errorf("reconcile graph: %w", err)
	}
	if base, err = base.With(changes); err != nil {
		return nil, fmt.Errorf("reconcile graph: %w", err)
	}
	return r.keepSpine(base)
}

// undisputed returns what of a graph is derived from nothing: schemas with their evidence, at refs as if no fact were present,
// the merge log with its entities, as if nothing mentioned them, and tombstones.
func undisputed(view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
	space := view.Space()
	var changes []graphstore.Change
	logged, refs := map[string]bool{}, map[string]bool{}
	for c := range view.Records() {
		switch {
		case c.Schema != nil, c.Tombstone != nil:
			changes = append(changes, c)
		case c.Merge != nil:
			changes = append(changes, c)
			logged[c.Merge.Kept], logged[c.Merge.Merged] = true, true
		case c.Edge != nil && c.Edge.Asserter.Kind == graphstore.BySchema:
			e := *c.Edge
			e.Type = graphstore.DerivedFromRef
			changes = append(changes, graphstore.PutEdge(space, e))
			refs[e.Target] = true
		}
	}
	for id := range refs {
		changes = append(changes, graphstore.PutRef(space, graphstore.Ref{ID: id}))
	}
	for id := range logged {
		if e, ok := view.Entity(id); ok {
			changes = append(changes, graphstore.PutEntity(space, graphstore.Entity{ID: id, Type: e.Type, Norm: e.Norm, Name: e.Norm}))
		}
	}
	return graphstore.NewSnapshot(space).With(changes)
}

// contributions returns the edges that facts assert, by fact.
func contributions(view *graphstore.Snapshot) map[string][]graphstore.Edge {
	own := map[string][]graphstore.Edge{}
	for c := range view.Records() {
		if c.Edge != nil && c.Edge.Asserter.Kind == graphstore.ByFact {
			own[c.Edge.Asserter.ID] = append(own[c.Edge.Asserter.ID], *c.Edge)
		}
	}
	return own
}

// reconciling is a draft of a whole graph on one that has no facts.
type reconciling struct {
	*draft
	was *graphstore.Snapshot
	own map[string][]graphstore.Edge
}

// noteEntity has the entity's name at hand for mentions that stay, and the entity looked at if it stays without any.
func (r *reconciling) noteEntity(e *graphstore.Entity) {
	r.names[e.ID] = entityName{id: e.ID, typ: e.Type, norm: e.Norm}
	if _, logged := r.view.Entity(e.ID); logged {
		key := e.Key()
		r.bridges[key] = append(r.bridges[key], tie{})
	}
}

// fact settles a fact that is there, or an empty one, by what the store says of it, if anything.
func (r *reconciling) fact(f graphstore.Fact, s *StoredFact) {
	own := map[graphstore.Field][]graphstore.Edge{}
	for _, e := range r.own[f.ID] {
		if stamp := f.Registers.Of(e.Type.Field()); !stamp.IsZero() && stamp.Rank != graphstore.RankDeleted && !r.withdrawn(stamp) {
			own[e.Type.Field()] = append(own[e.Type.Field()], e)
		}
	}
	w := &settling{fact: f, asserted: own}
	if t, forgotten := r.view.Tombstone(""); s != nil && !(forgotten && t.Covers(s.UpdatedAt)) {
		w.stamp = graphstore.Stamp{Version: s.Version.Value, EventID: storedEventID, At: s.UpdatedAt, Source: s.SourceID.Value}
		r.settleStored(w, s)
	}
	if w.fact.Registers.Equal(graphstore.Registers{}) {
		return // merely named: it is there if an edge says so
	}
	before := graphstore.Fact{ID: f.ID}
	r.settle(settledFact{before: before, after: w.fact, asserted: w.asserted})
}

// settleStored is [draft.stored] for a fact of which what this write of the store settled is settled again.
func (r *reconciling) settleStored(w *settling, s *StoredFact) {
	r.sameWrite(w, s)
	var again []graphstore.FieldStamp
	w.fact.Registers.Fields = slices.DeleteFunc(slices.Clone(w.fact.Registers.Fields), func(fs graphstore.FieldStamp) bool {
		stamp := w.stamp
		if fs.Field == graphstore.FieldBatch {
			stamp = s.batchStamp(stamp)
		}
		if fs.Stamp.Compare(stamp) != 0 || !s.States(fs.Field) {
			return false
		}
		again = append(again, fs)
		return true
	})
	r.storedFields(w, s)
	for _, fs := range again { // time and source of the write that came first stay, as they do in a plan
		if w.fact.Registers.Of(fs.Field).Compare(fs.Stamp) == 0 {
			w.fact.Registers = w.fact.Registers.With(fs.Field, fs.Stamp)
		}
	}
	if state, settles := s.stateStamp(w.stamp); settles && s.State == graphstore.StateSuperseded && w.fact.Registers.State.Compare(state) == 0 {
		w.fact.SupersededBy, w.fact.SupersededAt = graphstore.CanonicalFactID(s.SupersededBy), w.fact.Registers.State.At
	}
	r.storedState(w, s)
}

// sameWrite holds what an event said of tags and relations against what the store says of them in the same version: it is
// the same write. What is not compared is how it is said: spelling, weight, detail.
func (r *reconciling) sameWrite(w *settling, s *StoredFact) {
	for _, l := range []struct {
		field graphstore.Field
		edges func() []graphstore.Edge
	}{
		{graphstore.FieldTags, func() []graphstore.Edge { return r.tagEdges(w.fact.ID, s.Tags.Value) }},
		{graphstore.FieldRelations, func() []graphstore.Edge { return r.relationEdges(w.fact.ID, s.Relations.Value) }},
	} {
		by := w.fact.Registers.Of(l.field)
		wrote := by.Rank == graphstore.RankAdd || by.Rank == graphstore.RankUpdate // an event, not the store, a delete or nothing
		if !s.States(l.field) || !wrote || by.Version == 0 || by.Version != s.Version.Value || r.withdrawn(by) {
			continue
		}
		edges := l.edges()
		for i, e := range edges {
			key := e.Normalized().Key()
			if at := slices.IndexFunc(w.asserted[l.field], func(had graphstore.Edge) bool { return had.Key() == key }); at >= 0 {
				edges[i] = w.asserted[l.field][at]
			}
		}
		w.asserted[l.field] = edges
	}
}

// keepSpine gives back the steps of a spine that is no longer kept up, between facts that are still on it: no plan touches them.
func (r *reconciling) keepSpine(to *graphstore.Snapshot) (*graphstore.Snapshot, error) {
	if r.cfg.TemporalSpine {
		return to, nil
	}
	on := func(id string) bool {
		f, _ := to.Fact(id)
		return spineView(f).on
	}
	var changes []graphstore.Change
	for c := range r.was.Records() {
		if c.Edge != nil && c.Edge.Asserter.Kind == graphstore.BySpine && on(c.Edge.Source) && on(c.Edge.Target) {
			changes = append(changes, c)
		}
	}
	to, err := to.With(changes)
	if err != nil {
		return nil, fmt.Errorf("reconcile graph: %w", err)
	}
	return to, nil
}
