package projector

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// storedEventID stands for the event in the stamps of what a backfill read. No backfill is an event; rank none puts it
// before every event of its version.
const storedEventID = "backfill"

// unknownVersion is the version of a state that was read without one: before those of events, which are 0 or more. The
// rank of a state would else put it after an event of version 0.
const unknownVersion = -1

// unplacedVersion is added to the version of a batch that is stored without a place: these batches come before those of all
// events, and among themselves in their order.
const unplacedVersion = math.MinInt64

// StoredFact is a fact as the vector store has it, for graphs that are filled from there. It settles the fields that are
// Set and that nothing newer, and no event of the same version, has settled; its state counts like an event's of the same
// version. Version 0, which stands for an unknown one, completes what events never wrote and overrides nothing that they
// did.
//
// An update event that states nothing changes nothing. A stored fact that states nothing is there all the same: it settles
// [graphstore.FieldPoint], and so has a node and is taken back with the user like any other.
type StoredFact struct {
	// FactWrite holds the id and the fields; Op does not count. A version that is left out is 0.
	FactWrite
	BatchID Optional[string]
	// BatchSeq is the fact's place in that batch, from 0. A batch without one completes what events say of batches and overrides nothing
	// of it, whatever the version: the event knows the place.
	BatchSeq Optional[int32]
	// State settles the lifecycle if it is superseded, shadowed or deleted; active and unseen settle nothing, since they are
	// also what a store shows that knows no states.
	State        graphstore.State
	SupersededBy string             // the fact that retired it; may be empty
	UpdatedAt    graphstore.Instant // when the store wrote it; absent: unknown, and older than any forgetting
}

// PlanStored returns the changes that stored facts make to the graph in view, under the rules of [Projector.Plan]: any
// order, repeated, between events. Each fact may be there once. The error is a *[FieldError] for a fact that breaks the
// contract of write events.
func (p *Projector) PlanStored(view *graphstore.Snapshot, facts []StoredFact) (Planned, error) {
	if view == nil {
		return Planned{}, errors.New("plan stored facts: no snapshot")
	}
	seen := make(map[string]int, len(facts))
	for i := range facts {
		if err := facts[i].Validate(); err != nil {
			return Planned{}, underItem("facts", i, err)
		}
		if err := claim(seen, facts[i].ID, i); err != nil {
			return Planned{}, underItem("facts", i, err)
		}
	}
	d := newDraft(p, view)
	for i := range facts {
		d.stored(&facts[i])
	}
	changes, err := d.changes()
	if err != nil {
		return Planned{}, fmt.Errorf("plan stored facts: %w", err)
	}
	return Planned{Changes: changes, Report: d.report}, nil
}

// Validate returns the first rule of write events that the fact breaks, as a *[FieldError] with a path relative to the fact.
func (s *StoredFact) Validate() error {
	if err := graphstore.CheckID(s.ID); err != nil {
		return badField("id", "%s", err)
	}
	if s.Version.Value < 0 {
		return badField("version", "%d: want 0 or more", s.Version.Value)
	}
	if err := checkOptionalID("batch_id", s.BatchID.Value); err != nil {
		return err
	}
	if err := checkOptionalID("superseded_by", s.SupersededBy); err != nil {
		return err
	}
	if s.SupersededBy != "" && graphstore.CanonicalFactID(s.SupersededBy) == graphstore.CanonicalFactID(s.ID) {
		return badField("superseded_by", "%s is the fact itself: want another fact", graphstore.Shorten(s.SupersededBy))
	}
	if err := checkInstant(s.UpdatedAt); err != nil {
		return under("updated_at", err)
	}
	if err := s.validateScalars(); err != nil {
		return err
	}
	return s.validateLists()
}

// stored settles one fact like an update, at a stamp before every event of its version, and its state at one of an event.
func (d *draft) stored(s *StoredFact) {
	if t, forgotten := d.view.Tombstone(""); forgotten && t.Covers(s.UpdatedAt) {
		d.report.Forgotten++
		return
	}
	before, known := d.fact(graphstore.CanonicalFactID(s.ID))
	stamp := graphstore.Stamp{Version: s.Version.Value, EventID: storedEventID, At: s.UpdatedAt, Source: s.SourceID.Value}
	w := newSettling(before, stamp)
	d.storedFields(w, s)
	d.storedState(w, s)
	if w.fact.Registers.Equal(before.Registers) {
		d.report.Stale++
		return
	}
	d.report.Updated++
	d.settle(settledFact{before, w.fact, known, w.asserted})
}

// storedFields settles what the fact says, and that it is there if it says nothing.
func (d *draft) storedFields(w *settling, s *StoredFact) {
	batch := place{batch: s.BatchID.Value, seq: s.BatchSeq.Value, stated: s.BatchID.Set}
	if !s.unplaced() {
		d.settleWrite(w, &s.FactWrite, batch)
	} else {
		d.settleWrite(w, &s.FactWrite, place{})
		if d.withdrawn(w.stamp) {
			batch = place{stated: true}
		}
		stamp := w.stamp
		w.stamp = s.batchStamp(stamp)
		w.place(batch)
		w.stamp = stamp
	}
	w.takes(graphstore.FieldPoint, s.States(graphstore.FieldPoint))
}

// unplaced reports whether the fact is in a batch, and it is not known where in it.
func (s *StoredFact) unplaced() bool { return s.BatchID.Set && !s.BatchSeq.Set }

// batchStamp returns the stamp of what is said of the batch, for that of the rest.
func (s *StoredFact) batchStamp(rest graphstore.Stamp) graphstore.Stamp {
	if s.unplaced() {
		rest.Version += unplacedVersion
	}
	return rest
}

func (d *draft) storedState(w *settling, s *StoredFact) {
	stamp, settles := s.stateStamp(w.stamp)
	if !settles {
		return
	}
	if s.State == graphstore.StateDeleted {
		w.stamp, w.all = stamp, true
		d.settleWrite(w, &FactWrite{}, place{})
		return
	}
	if !stamp.After(w.fact.Registers.State) {
		return
	}
	w.fact.Registers.State = stamp
	w.fact.SupersededBy, w.fact.SupersededAt = "", 0
	if s.State == graphstore.StateSuperseded {
		w.fact.SupersededBy, w.fact.SupersededAt = graphstore.CanonicalFactID(s.SupersededBy), s.UpdatedAt
	}
}

// stateStamp returns the stamp of the state, for that of the fields, if the state settles anything.
func (s *StoredFact) stateStamp(fields graphstore.Stamp) (stamp graphstore.Stamp, settles bool) {
	fields.Source = ""
	if fields.Version == 0 {
		fields.Version = unknownVersion
	}
	switch s.State {
	case graphstore.StateDeleted:
		fields.Rank = graphstore.RankDeleted
	case graphstore.StateSuperseded:
		fields.Rank = graphstore.RankSuperseded
	case graphstore.StateShadowed:
		fields.Rank = graphstore.RankShadowed
	default:
		return graphstore.Stamp{}, false
	}
	return fields, true
}

// States reports whether the stored fact says anything of a field. It says that it is there if it says nothing else and is not
// deleted; neighbours do not count, since a store is not always asked for them, and the fact is the same without, nor does a batch
// without a place, whose stamp has not the version of the fact.
func (s *StoredFact) States(f graphstore.Field) bool {
	switch f {
	case graphstore.FieldAgent:
		return s.AgentID.Set
	case graphstore.FieldSource:
		return s.SourceID.Set
	case graphstore.FieldEpisode:
		return s.EpisodeID.Set
	case graphstore.FieldBatch:
		return s.BatchID.Set
	case graphstore.FieldMemoryAt:
		return s.MemoryAt.Set
	case graphstore.FieldValidFrom:
		return s.ValidFrom.Set
	case graphstore.FieldValidTo:
		return s.ValidTo.Set
	case graphstore.FieldRecordedAt:
		return s.RecordedAt.Set
	case graphstore.FieldTags:
		return s.Tags.Set
	case graphstore.FieldEntities:
		return s.Entities.Set
	case graphstore.FieldRelations:
		return s.Relations.Set
	case graphstore.FieldNeighbors:
		return s.Neighbors.Set
	case graphstore.FieldTriples:
		return s.Triples.Set
	case graphstore.FieldPoint:
		return s.State != graphstore.StateDeleted && !slices.ContainsFunc(allFields, func(f graphstore.Field) bool {
			return f != graphstore.FieldNeighbors && !(f == graphstore.FieldBatch && s.unplaced()) && s.States(f)
		})
	default:
		return false
	}
}
