package backfill

import (
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
// tell the one from the other. What is not what its field wants, or breaks a rule of write events, is left out too, counted
// and named: the point is there, whatever else it says.
func (r *Account) convert(p vdb.Point) fact {
	pay, in := &p.Payload, reading{r, p.ID}
	updated := in.time(pay, FieldUpdatedAt)
	s := projector.StoredFact{
		FactWrite: projector.FactWrite{
			ID: p.ID, Version: projector.Some(in.version(pay.Version, updated)),
			AgentID: someText(pay.AgentID), SourceID: someText(pay.SourceID), EpisodeID: someText(pay.EpisodeID),
			MemoryAt: someTime(graphstore.InstantOf(pay.MemoryAt)), ValidFrom: someTime(graphstore.InstantOf(pay.ValidFrom)),
			ValidTo: someTime(graphstore.InstantOf(pay.ValidTo)), RecordedAt: someTime(firstTime(in.time(pay, FieldRecordedAt), graphstore.InstantOf(pay.CreatedAt))),
		},
		BatchID: someText(pay.BatchID), BatchSeq: in.batchSeq(pay.Extra[FieldBatchSeq]),
		UpdatedAt: firstTime(updated, graphstore.InstantOf(pay.CreatedAt)),
	}
	s.State, s.SupersededBy = in.state(pay)
	if len(pay.Tags) > 0 {
		s.Tags = projector.Some(pay.Tags)
	}
	s.Entities = readList(in, FieldEntities, pay.Extra, readEntity)
	s.Relations = readList(in, FieldRelations, pay.Extra, readRelation)
	in.keepRules(&s)
	in.validity(&s)
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
