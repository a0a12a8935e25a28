package backfill

import (
	"math"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// Payload fields beside those that vdb names, in [vdb.Payload.Extra].
const (
	FieldUpdatedAt    = "updated_at"
	FieldRecordedAt   = "recorded_at"
	FieldBatchSeq     = "batch_seq"
	FieldSupersededBy = "superseded_by"
	FieldEntities     = "entities"
	FieldRelations    = "relations"
)

// fact is a point on its way into the graph.
type fact struct {
	point  vdb.Point
	stored projector.StoredFact
}

// convert makes a stored fact of a point. What the payload does not hold is left out, not stated to be empty: a store cannot
// tell the one from the other.
func (r *Account) convert(p vdb.Point) fact {
	pay := &p.Payload
	updated := extraTime(pay, FieldUpdatedAt)
	version := pay.Version
	if version == 0 && updated.Present() {
		version = max(updated.Micros(), 0)
	}
	s := projector.StoredFact{
		FactWrite: projector.FactWrite{
			ID: p.ID, Version: projector.Some(version),
			AgentID: someText(pay.AgentID), SourceID: someText(pay.SourceID), EpisodeID: someText(pay.EpisodeID),
			MemoryAt: someTime(graphstore.InstantOf(pay.MemoryAt)), ValidFrom: someTime(graphstore.InstantOf(pay.ValidFrom)),
			ValidTo: someTime(graphstore.InstantOf(pay.ValidTo)), RecordedAt: someTime(firstTime(extraTime(pay, FieldRecordedAt), graphstore.InstantOf(pay.CreatedAt))),
		},
		BatchID: someText(pay.BatchID), BatchSeq: batchSeq(pay.Extra[FieldBatchSeq]),
		UpdatedAt: firstTime(updated, graphstore.InstantOf(pay.CreatedAt)),
	}
	s.State, s.SupersededBy = stateOf(pay)
	if len(pay.Tags) > 0 {
		s.Tags = projector.Some(pay.Tags)
	}
	s.Entities = readList(r, p.ID, FieldEntities, pay.Extra, readEntity)
	s.Relations = readList(r, p.ID, FieldRelations, pay.Extra, readRelation)
	return fact{point: p, stored: s}
}

// said counts what a fact's point holds.
func (r *Account) said(s *projector.StoredFact) {
	for _, c := range []struct {
		n  *int64
		is bool
	}{
		{&r.WithVersion, s.Version.Value > 0}, {&r.WithTime, s.MemoryAt.Set}, {&r.WithBatch, s.BatchID.Set}, {&r.WithTags, s.Tags.Set},
		{&r.WithEntities, s.Entities.Set}, {&r.WithRelations, s.Relations.Set},
	} {
		if c.is {
			*c.n++
		}
	}
}

// stateOf reads the state; one that is unknown counts as active, as in every search.
func stateOf(pay *vdb.Payload) (state graphstore.State, by string) {
	state, err := graphstore.ParseState(pay.State)
	if err != nil {
		return graphstore.StateActive, ""
	}
	if state == graphstore.StateSuperseded {
		by, _ = pay.Extra[FieldSupersededBy].(string)
	}
	return state, by
}

func someText(s string) projector.Optional[string] {
	if s == "" {
		return projector.Optional[string]{}
	}
	return projector.Some(s)
}

func someTime(at graphstore.Instant) projector.Optional[graphstore.Instant] {
	if !at.Present() {
		return projector.Optional[graphstore.Instant]{}
	}
	return projector.Some(at)
}

// firstTime returns the first time that is there.
func firstTime(times ...graphstore.Instant) graphstore.Instant {
	for _, at := range times {
		if at.Present() {
			return at
		}
	}
	return 0
}

// batchSeq reads a place in a batch, 0 for none.
func batchSeq(v any) int32 {
	n, ok := number(v)
	if !ok || n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v)
	default:
		return 0, false
	}
}

// Numbers of a time are seconds below the first bound, milliseconds below the second, else microseconds: each bound is in
// the year 5138, or in 1973 by the next finer unit.
const (
	secondsBelow = 1e11
	millisBelow  = 1e14
)

// extraTime reads a time of the payload that vdb has no name for: RFC 3339 or a number since 1970.
func extraTime(pay *vdb.Payload, field string) graphstore.Instant {
	v := pay.Extra[field]
	if text, ok := v.(string); ok {
		var at graphstore.Instant
		if at.UnmarshalText([]byte(text)) != nil {
			return 0
		}
		return at
	}
	n, ok := number(v)
	switch size := math.Abs(n); {
	case !ok || size >= 1e18:
		return 0
	case size < secondsBelow:
		return graphstore.InstantOf(time.UnixMicro(int64(n * 1e6)).UTC())
	case size < millisBelow:
		return graphstore.InstantOf(time.UnixMicro(int64(n * 1e3)).UTC())
	default:
		return graphstore.InstantOf(time.UnixMicro(int64(n)).UTC())
	}
}
