package projectortest

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// write is one thing that happened to one fact.
type write struct {
	stamp     graphstore.Stamp
	does      graphstore.Rank // what it does; a stored fact updates with another rank in its stamp
	withdrawn bool
	states    projector.FactWrite
	batched   bool // states a place
	point     bool // states that it is there
	batch     string
	seq       int32
	by        string
}

// fact is a fact after replay.
type fact struct {
	graphstore.Fact
	tags      []string
	entities  []projector.EntityRef
	relations []projector.RelationRef
	neighbors []projector.NeighborRef

	based         bool                      // an add or a delete settled everything
	baseWithdrawn bool                      // and it was a withdrawn add
	fieldGone     map[graphstore.Field]bool // settled after it: by a withdrawn update?
}

// byWithdrawal reports whether the fact is gone because what said it is withdrawn.
func (f *fact) byWithdrawal() bool {
	if f.based {
		return f.baseWithdrawn
	}
	for _, gone := range f.fieldGone {
		if !gone {
			return false
		}
	}
	return len(f.fieldGone) > 0
}

func (g *graph) replayFacts() {
	writes := map[string][]write{}
	for _, ev := range g.events {
		for id, w := range g.writesOf(ev) {
			writes[id] = append(writes[id], w)
		}
	}
	for _, f := range g.stored {
		writes[g.forms.factID(f.ID)] = append(writes[g.forms.factID(f.ID)], g.writesOfStored(f)...)
	}
	for id, list := range writes {
		slices.SortFunc(list, func(a, b write) int {
			return cmp.Or(cmp.Compare(a.stamp.Version, b.stamp.Version), cmp.Compare(a.stamp.Rank, b.stamp.Rank), cmp.Compare(a.stamp.EventID, b.stamp.EventID))
		})
		f := &fact{Fact: graphstore.Fact{ID: id}, fieldGone: map[graphstore.Field]bool{}}
		for _, w := range list {
			f.apply(w)
		}
		if f.Registers.State.IsZero() && len(f.Registers.Fields) == 0 {
			continue // nothing but updates that state nothing
		}
		f.State = f.state()
		g.facts[id] = f
	}
}

// writesOf returns what an event does to facts, by canonical id.
func (g *graph) writesOf(ev projector.Event) map[string]write {
	stamp := func(version projector.Optional[int64], rank graphstore.Rank, source string) graphstore.Stamp {
		s := graphstore.Stamp{Version: version.Value, Rank: rank, EventID: ev.ID, At: ev.Time, Source: source}
		if !version.Set {
			s.Version = ev.Time.Micros()
		}
		return s
	}
	lifecycle := func(id string, version projector.Optional[int64], rank graphstore.Rank, by string) map[string]write {
		return map[string]write{g.forms.factID(id): {stamp: stamp(version, rank, ""), does: rank, by: by}}
	}
	switch data := ev.Data.(type) {
	case projector.FactsWritten:
		writes := map[string]write{}
		for i, f := range data.Facts {
			w := write{does: graphstore.RankUpdate, states: f, batched: data.BatchID != "", batch: data.BatchID, seq: int32(i)}
			if f.Op == projector.OpAdd {
				w.does, w.batched, w.batch = graphstore.RankAdd, true, cmp.Or(data.BatchID, ev.ID)
			}
			w.stamp = stamp(f.Version, w.does, f.SourceID.Value)
			w.withdrawn = g.withdrawn(f.SourceID.Value, ev.Time)
			writes[g.forms.factID(f.ID)] = w
		}
		return writes
	case projector.FactSuperseded:
		by := ""
		if data.By != "" {
			by = g.forms.factID(data.By)
		}
		return lifecycle(data.FactID, data.Version, graphstore.RankSuperseded, by)
	case projector.FactShadowed:
		return lifecycle(data.FactID, data.Version, graphstore.RankShadowed, "")
	case projector.FactRestored:
		return lifecycle(data.FactID, data.Version, graphstore.RankRestored, "")
	case projector.FactDeleted:
		return lifecycle(data.FactID, data.Version, graphstore.RankDeleted, "")
	default:
		return nil
	}
}

// writesOfStored returns what a stored fact does: an update before every event of its version, perhaps one before all events, and
// perhaps a step of its life.
func (g *graph) writesOfStored(f projector.StoredFact) []write {
	update := write{does: graphstore.RankUpdate, states: f.FactWrite, batched: f.BatchID.Set, batch: f.BatchID.Value, seq: f.BatchSeq.Value,
		withdrawn: g.withdrawn(f.SourceID.Value, f.UpdatedAt),
		stamp:     graphstore.Stamp{Version: f.Version.Value, EventID: "backfill", At: f.UpdatedAt, Source: f.SourceID.Value}}
	var all []write
	unplaced := write{does: graphstore.RankUpdate, batch: update.batch, withdrawn: update.withdrawn, stamp: update.stamp}
	if update.batched && !f.BatchSeq.Set { // before all that has a place
		update.batched, unplaced.batched = false, true
		unplaced.stamp.Version = math.MinInt64 + f.Version.Value
	}
	said := f.FactWrite // but for what it is not asked for, and what is no field
	said.ID, said.Op, said.Version = "", "", projector.Optional[int64]{}
	said.Content, said.Neighbors = projector.Optional[string]{}, projector.Optional[[]projector.NeighborRef]{}
	update.point = reflect.DeepEqual(said, projector.FactWrite{}) && !update.batched && f.State != graphstore.StateDeleted
	if unplaced.batched {
		all = append(all, unplaced)
	}
	step := write{stamp: graphstore.Stamp{Version: f.Version.Value, EventID: "backfill", At: f.UpdatedAt}}
	if f.Version.Value == 0 { // unknown: before every event
		step.stamp.Version = -1
	}
	switch f.State {
	case graphstore.StateSuperseded:
		step.does = graphstore.RankSuperseded
		if f.SupersededBy != "" {
			step.by = g.forms.factID(f.SupersededBy)
		}
	case graphstore.StateShadowed:
		step.does = graphstore.RankShadowed
	case graphstore.StateDeleted:
		step.does = graphstore.RankDeleted
	default:
		return append(all, update)
	}
	step.stamp.Rank = step.does
	return append(all, update, step)
}

// apply does the next write in order.
func (f *fact) apply(w write) {
	switch w.does {
	case graphstore.RankUpdate:
		f.update(w)
	case graphstore.RankAdd:
		f.clear(w)
		if f.baseWithdrawn = w.withdrawn; !w.withdrawn {
			f.set(w)
		}
	case graphstore.RankDeleted:
		f.clear(w)
	default:
		f.Registers.State = w.stamp
		f.SupersededBy, f.SupersededAt = "", 0
		if w.does == graphstore.RankSuperseded {
			f.SupersededBy, f.SupersededAt = w.by, w.stamp.At
		}
	}
}

// clear begins anew.
func (f *fact) clear(w write) {
	*f = fact{Fact: graphstore.Fact{ID: f.ID}, based: true, fieldGone: map[graphstore.Field]bool{}}
	f.Registers.Base, f.Registers.State = w.stamp, w.stamp
}

// update settles the fields that are stated, as nothing if it is withdrawn.
func (f *fact) update(w write) {
	stated := map[graphstore.Field]bool{
		graphstore.FieldAgent: w.states.AgentID.Set, graphstore.FieldSource: w.states.SourceID.Set, graphstore.FieldEpisode: w.states.EpisodeID.Set,
		graphstore.FieldBatch: w.batched, graphstore.FieldMemoryAt: w.states.MemoryAt.Set, graphstore.FieldValidFrom: w.states.ValidFrom.Set,
		graphstore.FieldValidTo: w.states.ValidTo.Set, graphstore.FieldRecordedAt: w.states.RecordedAt.Set, graphstore.FieldTags: w.states.Tags.Set,
		graphstore.FieldEntities: w.states.Entities.Set, graphstore.FieldRelations: w.states.Relations.Set,
		graphstore.FieldNeighbors: w.states.Neighbors.Set, graphstore.FieldTriples: w.states.Triples.Set,
		graphstore.FieldPoint: w.point,
	}
	for field, is := range stated {
		if !is {
			continue
		}
		f.fieldGone[field] = w.withdrawn
		f.Registers.Fields = slices.DeleteFunc(f.Registers.Fields, func(fs graphstore.FieldStamp) bool { return fs.Field == field })
		f.Registers.Fields = append(f.Registers.Fields, graphstore.FieldStamp{Field: field, Stamp: w.stamp})
	}
	slices.SortFunc(f.Registers.Fields, func(a, b graphstore.FieldStamp) int { return cmp.Compare(a.Field, b.Field) })
	if w.withdrawn {
		w.states = emptied(w.states)
	}
	f.set(w)
}

// emptied returns a write that states the same fields, each as "no value".
func emptied(w projector.FactWrite) projector.FactWrite {
	w.AgentID.Value, w.SourceID.Value, w.EpisodeID.Value = "", "", ""
	w.MemoryAt.Value, w.ValidFrom.Value, w.ValidTo.Value, w.RecordedAt.Value = 0, 0, 0, 0
	w.Tags.Value, w.Entities.Value, w.Relations.Value, w.Neighbors.Value, w.Triples.Value = nil, nil, nil, nil, nil
	return w
}

// set takes over what a write states.
func (f *fact) set(w write) {
	setIf(&f.AgentID, w.states.AgentID)
	setIf(&f.SourceID, w.states.SourceID)
	setIf(&f.EpisodeID, w.states.EpisodeID)
	setIf(&f.MemoryAt, w.states.MemoryAt)
	setIf(&f.ValidFrom, w.states.ValidFrom)
	setIf(&f.ValidTo, w.states.ValidTo)
	setIf(&f.RecordedAt, w.states.RecordedAt)
	setIf(&f.tags, w.states.Tags)
	setIf(&f.entities, w.states.Entities)
	setIf(&f.relations, w.states.Relations)
	setIf(&f.neighbors, w.states.Neighbors)
	switch {
	case !w.batched:
	case w.withdrawn:
		f.BatchID, f.BatchSeq = "", 0
	default:
		f.BatchID, f.BatchSeq = w.batch, w.seq
	}
}

func setIf[T any](to *T, from projector.Optional[T]) {
	if from.Set {
		*to = from.Value
	}
}

// state reads the registers of a fact that something was written about.
func (f *fact) state() graphstore.State {
	switch {
	case f.Registers.Base.Rank == graphstore.RankDeleted, f.byWithdrawal():
		return graphstore.StateDeleted
	case f.Registers.State.Rank == graphstore.RankSuperseded:
		return graphstore.StateSuperseded
	case f.Registers.State.Rank == graphstore.RankShadowed:
		return graphstore.StateShadowed
	default:
		return graphstore.StateActive
	}
}

// voidSupersessions brings back what was retired by a fact that is gone because it is withdrawn.
func (g *graph) voidSupersessions() {
	for _, f := range g.facts {
		if by := g.facts[f.SupersededBy]; f.State == graphstore.StateSuperseded && by != nil && by.State == graphstore.StateDeleted && by.byWithdrawal() {
			f.State = graphstore.StateActive
		}
	}
}
