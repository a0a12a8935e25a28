package projector

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// withdrawn reports whether a write is taken back by a retraction of the source that it states.
func (d *draft) withdrawn(s graphstore.Stamp) bool {
	if s.Source == "" {
		return false
	}
	if at, ok := d.tombstones[s.Source]; ok {
		return graphstore.Tombstone{Source: s.Source, At: at}.Covers(s.At)
	}
	return d.wasWithdrawn(s)
}

// wasWithdrawn is withdrawn as of the view.
func (d *draft) wasWithdrawn(s graphstore.Stamp) bool {
	if s.Source == "" {
		return false
	}
	t, ok := d.view.Tombstone(s.Source)
	return ok && t.Covers(s.At)
}

// goneBy reports whether registers say that a fact is deleted because what was written of it is withdrawn: its latest add
// is, or there never was an add or delete and all its fields are.
func goneBy(withdrawn func(graphstore.Stamp) bool, r graphstore.Registers) bool {
	if !r.Base.IsZero() {
		return r.Base.Rank == graphstore.RankAdd && withdrawn(r.Base)
	}
	for _, fs := range r.Fields {
		if !withdrawn(fs.Stamp) {
			return false
		}
	}
	return len(r.Fields) > 0
}

// deriveStates gives every settled fact its state, and settles those that a fact retired which is now withdrawn, or no
// longer is.
//
// To find them takes one look at every fact of the user, but only when a fact is withdrawn or comes back.
func (d *draft) deriveStates() {
	turned := map[string]struct{}{}
	for id, s := range d.settled {
		if goneBy(d.wasWithdrawn, s.before.Registers) != goneBy(d.withdrawn, s.after.Registers) {
			turned[id] = struct{}{}
		}
	}
	if len(turned) > 0 {
		for n := range d.view.RetiredBy(turned) {
			f := d.view.FactAt(n)
			if _, settled := d.settled[f.ID]; !settled {
				d.settle(settledFact{before: f, after: f, known: true})
			}
		}
	}
	for _, s := range d.settled {
		s.after.State = d.stateOf(&s.after)
		if s.before.State == graphstore.StateSuperseded && s.after.State == graphstore.StateActive &&
			s.before.Registers.State == s.after.Registers.State {
			d.report.Revived++
		}
	}
}

// stateOf returns the state of a fact.
//
// A delete outlasts every lifecycle change but an add, which alone settles Base after it: a supersession, shadow or
// restore with a later stamp is remembered in the State register, in case an add between them arrives late, and shows
// only then. A supersession does not outlive the fact that it was for, if that is withdrawn.
func (d *draft) stateOf(f *graphstore.Fact) graphstore.State {
	r := f.Registers
	switch {
	case r.State.IsZero() && r.Base.IsZero() && len(r.Fields) == 0:
		return graphstore.StateUnseen
	case r.Base.Rank == graphstore.RankDeleted || goneBy(d.withdrawn, r):
		return graphstore.StateDeleted
	case r.State.Rank == graphstore.RankShadowed:
		return graphstore.StateShadowed
	case r.State.Rank != graphstore.RankSuperseded: // add, restored, or nothing but updates
		return graphstore.StateActive
	case f.SupersededBy != "" && goneBy(d.withdrawn, d.factNow(f.SupersededBy).Registers):
		return graphstore.StateActive
	default:
		return graphstore.StateSuperseded
	}
}

// fieldsWithEdges are the fields of a fact that are edges.
var fieldsWithEdges = []graphstore.Field{graphstore.FieldTags, graphstore.FieldEntities, graphstore.FieldRelations, graphstore.FieldNeighbors}

// allFields are the fields of a fact.
var allFields = append([]graphstore.Field{graphstore.FieldAgent, graphstore.FieldSource, graphstore.FieldEpisode, graphstore.FieldBatch,
	graphstore.FieldMemoryAt, graphstore.FieldValidFrom, graphstore.FieldValidTo, graphstore.FieldRecordedAt, graphstore.FieldTriples}, fieldsWithEdges...)

// clearField takes the value of a field out of a fact. Its edges, if it has any, are for the caller.
func clearField(f *graphstore.Fact, field graphstore.Field) {
	switch field {
	case graphstore.FieldAgent:
		f.AgentID = ""
	case graphstore.FieldSource:
		f.SourceID = ""
	case graphstore.FieldEpisode:
		f.EpisodeID = ""
	case graphstore.FieldBatch:
		f.BatchID, f.BatchSeq = "", 0
	case graphstore.FieldMemoryAt:
		f.MemoryAt = 0
	case graphstore.FieldValidFrom:
		f.ValidFrom = 0
	case graphstore.FieldValidTo:
		f.ValidTo = 0
	case graphstore.FieldRecordedAt:
		f.RecordedAt = 0
	}
}

// clearFields takes the values of the fields out of a fact whose stamp is one of those, and returns what it then
// asserts by them: nothing.
func clearFields(f *graphstore.Fact, before graphstore.Registers, these func(graphstore.Stamp) bool) map[graphstore.Field][]graphstore.Edge {
	asserted := map[graphstore.Field][]graphstore.Edge{}
	for _, field := range allFields {
		if !these(before.Of(field)) {
			continue
		}
		clearField(f, field)
		if hasEdges(field) {
			asserted[field] = nil
		}
	}
	return asserted
}

func hasEdges(field graphstore.Field) bool { return slices.Contains(fieldsWithEdges, field) }
