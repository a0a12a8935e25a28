package eventdoc

import (
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// eventType is what the documents say of one event type.
type eventType struct {
	data    projector.Data // an example
	meaning string
}

// contract returns every event type, in the order of [projector.Types].
func contract() []eventType {
	entity := projector.EntityName{Name: "Asha Rao", Type: "person"}
	version := projector.Some[int64](18)
	return []eventType{
		{exampleWrite(), "One write batch: facts that were persisted together. A bad fact does not take the others with it."},
		{projector.FactSuperseded{FactID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", By: "9b2f3c1e-0d7a-4c56-8f11-3f0e5a7d9c42", Version: version},
			"A fact is retired by a newer one. It stays with its edges, so that the past can be walked; its validity ends where that of the newer one begins, unless it ended earlier."},
		{projector.FactShadowed{FactID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Version: version}, "A fact is hidden from retrieval."},
		{projector.FactRestored{FactID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Version: version},
			"A hidden or retired fact is back. A deleted one comes back with an add only."},
		{projector.FactDeleted{FactID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Version: version},
			"A fact is gone with everything it asserted. A tombstone remembers the version."},
		{projector.SourceRetracted{SourceID: "msg-88"},
			"Everything that the source asserted in events not later than this one is withdrawn, whenever those events arrive; what its facts had retired is back. The event's time is required."},
		{projector.UserForgotten{},
			"Nothing of the user that is not later than this event stays, and none of it comes back; later events begin anew. A tombstone with user and time stays. The event's time is required."},
		{projector.EntityAliased{Entity: entity, Alias: "Ash", Version: version, Evidence: "she signs with it"},
			"A person or a producer decided that an entity goes by another name too: mentions of that name and type are this entity."},
		{projector.EntityMerged{Kept: entity, Merged: projector.EntityName{Name: "A. Rao", Type: "person"}, Version: version, Evidence: "same address"},
			"Somebody decided that two entities are one. The merged one redirects to the kept one and keeps its own edges; the decision is logged and can be taken back."},
		{projector.EntityUnmerged{Kept: entity, Merged: projector.EntityName{Name: "A. Rao", Type: "person"}, Version: version, Evidence: "father and daughter"},
			"Somebody decided that two entities are two, whatever merged them. They are never merged automatically again."},
		{projector.EntityRetyped{Entity: projector.EntityName{Name: "Razorpay"}, To: "organization", Version: version},
			"Somebody decided that an entity is of another type. Mentions of it under the old type are the entity of the new one."},
		{projector.SchemaUpserted{SchemaID: "moves-for-work", Level: graphstore.LevelSchema, Title: "Asha moves where the work is",
			Evidence: []string{"5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "9b2f3c1e-0d7a-4c56-8f11-3f0e5a7d9c42"}, Version: version},
			"A summary of facts at a higher level, stated whole, with the facts that it was derived from. What an earlier event of it said and this one does not is gone."},
		{projector.SchemaDeleted{SchemaID: "moves-for-work", Version: projector.Some[int64](19)}, "A schema is gone with its evidence. A tombstone remembers the version."},
	}
}

func exampleTime() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC) }

func exampleWrite() projector.FactsWritten {
	september := projector.Some(graphstore.InstantOf(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)))
	return projector.FactsWritten{BatchID: "turn-17", Facts: []projector.FactWrite{{
		ID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Op: projector.OpAdd, Version: projector.Some[int64](17),
		AgentID: projector.Some("a1"), SourceID: projector.Some("msg-88"), EpisodeID: projector.Some("ep-4"),
		Content:  projector.Some("Asha moved to Razorpay in September"),
		MemoryAt: september, ValidFrom: september, ValidTo: projector.Some(graphstore.Instant(0)),
		RecordedAt: projector.Some(graphstore.InstantOf(exampleTime())),
		Tags:       projector.Some([]string{"work"}),
		Entities: projector.Some([]projector.EntityRef{{Name: "Asha Rao", Type: "person", Aliases: []string{"Asha"},
			IDs: []graphstore.HardID{{Kind: "email", Value: "asha@example.com"}}}}),
		Relations: projector.Some([]projector.RelationRef{{To: "9b2f3c1e-0d7a-4c56-8f11-3f0e5a7d9c42", Type: "causes", Weight: projector.Some(0.9)}}),
		Neighbors: projector.Some([]projector.NeighborRef{{ID: "1f6d2a54-77b0-4a39-9d0e-6b8c5c1f2e33", Score: 0.83}}),
		Triples: projector.Some([]projector.TripleClaim{{Subject: projector.EntityRef{Name: "Asha Rao", Type: "person"}, Predicate: "works_at",
			Object: projector.EntityRef{Name: "Razorpay", Type: "organization"}, Confidence: projector.Some(0.9),
			Sentence: "Asha moved to Razorpay in September", ValidFrom: september}}),
	}, {
		ID: "9b2f3c1e-0d7a-4c56-8f11-3f0e5a7d9c42", Op: projector.OpUpdate, Version: projector.Some[int64](4), Tags: projector.Some([]string{}),
	}}}
}
