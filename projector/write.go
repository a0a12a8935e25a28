package projector

import "github.com/kithgraph/kith/graphstore"

func (w FactsWritten) plan(d *draft, ev Event) {
	batch := w.BatchID
	if batch == "" {
		batch = ev.ID
	}
	for i := range w.Facts {
		d.write(ev, &w.Facts[i], place{batch: batch, seq: w.place(i), stated: w.BatchID != ""})
	}
}

// place is where a fact stands in its batch.
type place struct {
	batch  string
	seq    int32
	stated bool // by the producer, not taken from the event's id
}

// write settles the parts of a fact that a write is the newest to state.
//
// One version per fact would not be enough for order-freedom. An update states some fields and leaves others; if a
// newer update arrives first, an older one must still settle the fields that the newer left out, and an update that
// overtakes a supersession must not keep it out. So every field has its own register, and the state has one that
// updates never touch. An add settles them all at its stamp, which is one register (Base) until a later update makes an
// exception.
//
// A write of a source that was retracted later than it takes its place in the order all the same, so that nothing older
// shows where it stood: an add then counts as a delete, an update states its fields as empty.
func (d *draft) write(ev Event, w *FactWrite, at place) {
	before, known := d.fact(graphstore.CanonicalFactID(w.ID))
	s := newSettling(before, graphstore.Stamp{Version: ev.version(w.Version), Rank: graphstore.RankUpdate, EventID: ev.ID,
		At: ev.Time, Source: w.SourceID.Value})
	if w.Op == OpAdd {
		s.stamp.Rank, s.all = graphstore.RankAdd, true
	}
	d.settleWrite(s, w, at)
	if s.fact.Registers.Equal(before.Registers) {
		d.report.Stale++
		return
	}
	if w.Op == OpUpdate {
		d.report.Updated++
	} else {
		d.report.Added++
	}
	d.settle(settledFact{before, s.fact, known, s.asserted})
}

// settleWrite settles the parts of the fact that the write is the newest to state.
func (d *draft) settleWrite(s *settling, w *FactWrite, at place) {
	if d.withdrawn(s.stamp) {
		d.report.Withdrawn++
		w, at = w.emptied(), place{stated: at.stated}
	}
	s.scalars(w, at)
	d.lists(s, w)
	s.settleState()
}

// settling is one write on its way into one fact.
type settling struct {
	stamp    graphstore.Stamp
	all      bool // an add: settles what it leaves out too
	fact     graphstore.Fact
	asserted map[graphstore.Field][]graphstore.Edge
}

func newSettling(before graphstore.Fact, stamp graphstore.Stamp) *settling {
	return &settling{stamp: stamp, fact: before, asserted: map[graphstore.Field][]graphstore.Edge{}}
}

// takes reports whether the write settles the field, and notes that it did.
func (s *settling) takes(f graphstore.Field, stated bool) bool {
	if !s.all && !stated || !s.stamp.After(s.fact.Registers.Of(f)) {
		return false
	}
	if !s.all {
		s.fact.Registers = s.fact.Registers.With(f, s.stamp)
	}
	return true
}

// settleState rebases the registers of an add or a delete.
func (s *settling) settleState() {
	r := &s.fact.Registers
	if s.all && s.stamp.After(r.Base) {
		*r = r.Rebased(s.stamp)
	}
	if s.all && s.stamp.After(r.State) {
		r.State = s.stamp
		s.fact.SupersededBy, s.fact.SupersededAt = "", 0
	}
}

// scalars settles the fields that are parts of the fact itself.
func (s *settling) scalars(w *FactWrite, at place) {
	f := &s.fact
	for _, id := range []struct {
		field graphstore.Field
		to    *string
		from  Optional[string]
	}{
		{graphstore.FieldAgent, &f.AgentID, w.AgentID},
		{graphstore.FieldSource, &f.SourceID, w.SourceID},
		{graphstore.FieldEpisode, &f.EpisodeID, w.EpisodeID},
	} {
		if s.takes(id.field, id.from.Set) {
			*id.to = id.from.Value
		}
	}
	for _, t := range []struct {
		field graphstore.Field
		to    *graphstore.Instant
		from  Optional[graphstore.Instant]
	}{
		{graphstore.FieldMemoryAt, &f.MemoryAt, w.MemoryAt},
		{graphstore.FieldValidFrom, &f.ValidFrom, w.ValidFrom},
		{graphstore.FieldValidTo, &f.ValidTo, w.ValidTo},
		{graphstore.FieldRecordedAt, &f.RecordedAt, w.RecordedAt},
	} {
		if s.takes(t.field, t.from.Set) {
			*t.to = t.from.Value
		}
	}
	s.place(at)
}

// place settles the batch and the place in it.
func (s *settling) place(at place) {
	if s.takes(graphstore.FieldBatch, at.stated) {
		s.fact.BatchID, s.fact.BatchSeq = at.batch, at.seq
	}
}

// lists settles the fields that are edges.
func (d *draft) lists(s *settling, w *FactWrite) {
	if s.takes(graphstore.FieldTags, w.Tags.Set) {
		s.asserted[graphstore.FieldTags] = d.tagEdges(s.fact.ID, w.Tags.Value)
	}
	if s.takes(graphstore.FieldEntities, w.Entities.Set) {
		s.asserted[graphstore.FieldEntities] = d.mentionEdges(s.fact.ID, w.Entities.Value)
	}
	if s.takes(graphstore.FieldRelations, w.Relations.Set) {
		s.asserted[graphstore.FieldRelations] = d.relationEdges(s.fact.ID, w.Relations.Value)
	}
	if s.takes(graphstore.FieldNeighbors, w.Neighbors.Set) {
		s.asserted[graphstore.FieldNeighbors] = d.neighborEdges(s.fact.ID, w.Neighbors.Value)
	}
	if s.takes(graphstore.FieldTriples, w.Triples.Set) {
		d.report.DeferredTriples += len(w.Triples.Value)
	}
}
