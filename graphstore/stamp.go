package graphstore

import (
	"cmp"
	"slices"
)

// Rank orders operations that carry equal versions.
type Rank uint8

// The ranks, weakest first.
const (
	RankNone Rank = iota
	RankUpdate
	RankAdd
	RankSuperseded
	RankShadowed
	RankRestored
	RankDeleted
)

// Stamp is the position of one write in the total order of all writes to a record: version, then rank of the operation,
// then event id. The zero Stamp is before every write. The order does not depend on arrival, which is why replays,
// repeats and reorderings end in the same graph.
//
// At and Source say where the write came from and are no part of the order: a source that is retracted, or a user that is
// forgotten, takes back what its writes up to a time settled.
type Stamp struct {
	Version int64
	Rank    Rank
	EventID string
	At      Instant // time of the event; absent: unknown, which counts as older than any
	Source  string  // the source id that the write stated; empty: none
}

// Compare returns -1, 0 or +1 as s is before, equal to or after t.
func (s Stamp) Compare(t Stamp) int {
	if s.Version < 0 || t.Version < 0 { // below the zero Stamp by number, and yet a write
		if none := compareBool(!s.IsZero(), !t.IsZero()); none != 0 {
			return none
		}
	}
	return cmp.Or(cmp.Compare(s.Version, t.Version), cmp.Compare(s.Rank, t.Rank), cmp.Compare(s.EventID, t.EventID))
}

// After reports whether s is strictly after t.
func (s Stamp) After(t Stamp) bool { return s.Compare(t) > 0 }

// IsZero reports whether no write has happened.
func (s Stamp) IsZero() bool { return s == Stamp{} }

// Field names one independently versioned part of a fact, as it is spelled in a write event.
type Field string

// The fields. Each has its own register: an update that leaves a field out keeps what an older write said of it, and
// that must hold when the older write arrives last.
const (
	FieldAgent      Field = "agent_id"
	FieldSource     Field = "source_id"
	FieldEpisode    Field = "episode_id"
	FieldBatch      Field = "batch_id"
	FieldMemoryAt   Field = "memory_at"
	FieldValidFrom  Field = "valid_from"
	FieldValidTo    Field = "valid_to"
	FieldRecordedAt Field = "recorded_at"
	FieldTags       Field = "tags"
	FieldEntities   Field = "entities"
	FieldRelations  Field = "relations"
	FieldNeighbors  Field = "neighbors"
	FieldTriples    Field = "triples"

	// FieldPoint is no part of a write event and has no value: a point of the vector store that says nothing of the others
	// settles it, which says that the fact is there.
	FieldPoint Field = "point"
)

// FieldStamp is the stamp of a field that differs from the fact's base.
type FieldStamp struct {
	Field Field
	Stamp Stamp
}

// Registers are the version registers of one fact.
//
// Base is the latest write that settled every field: an add (fields it leaves out are cleared) or a delete (all
// cleared). Fields lists, sorted by name, the fields that an update settled after Base. State is the latest operation
// that settled the lifecycle state: add, superseded, shadowed, restored or deleted; an update never does.
type Registers struct {
	State  Stamp
	Base   Stamp
	Fields []FieldStamp
}

// Of returns the stamp of the write that settled f.
func (r Registers) Of(f Field) Stamp {
	for _, fs := range r.Fields {
		if fs.Field == f {
			return fs.Stamp
		}
	}
	return r.Base
}

// With returns the registers after a write stamped s settled f. The receiver is unchanged.
func (r Registers) With(f Field, s Stamp) Registers {
	fields := slices.Clone(r.Fields)
	i, found := slices.BinarySearchFunc(fields, f, func(fs FieldStamp, f Field) int { return cmp.Compare(fs.Field, f) })
	if found {
		fields[i].Stamp = s
	} else {
		fields = slices.Insert(fields, i, FieldStamp{f, s})
	}
	r.Fields = fields
	return r
}

// Rebased returns the registers after a write stamped s settled every field it is newer than: exceptions at or before
// s fall away. The receiver is unchanged.
func (r Registers) Rebased(s Stamp) Registers {
	r.Base = s
	var later []FieldStamp
	for _, fs := range r.Fields {
		if fs.Stamp.After(s) {
			later = append(later, fs)
		}
	}
	r.Fields = later
	return r
}

// Latest returns the greatest stamp of all registers.
func (r Registers) Latest() Stamp {
	latest := r.Base
	if r.State.After(latest) {
		latest = r.State
	}
	for _, fs := range r.Fields {
		if fs.Stamp.After(latest) {
			latest = fs.Stamp
		}
	}
	return latest
}

// Equal reports whether r and o hold the same stamps.
func (r Registers) Equal(o Registers) bool {
	return r.State == o.State && r.Base == o.Base && slices.Equal(r.Fields, o.Fields)
}
