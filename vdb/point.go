package vdb

import (
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Point is one stored fact. ID is canonical ([graphstore.CanonicalFactID]); ids are unique inside a space only.
type Point struct {
	Space   graphstore.Space
	ID      string
	Vector  []float32 // of the collection's dimension; nil where a read did not ask for vectors
	Payload Payload
}

// Payload is what the store keeps beside the vector. Zero values mean "absent"; no time is ever made up.
type Payload struct {
	Content   string
	AgentID   string
	State     string // "active", "superseded", "shadowed", "deleted"; empty counts as active
	Version   int64
	EpisodeID string
	BatchID   string
	SourceID  string
	Tags      []string

	MemoryAt  time.Time // when it happened
	CreatedAt time.Time // when it was stored
	ValidFrom time.Time // inclusive
	ValidTo   time.Time // exclusive

	// Extra holds the remaining fields with JSON types (string, float64, int64, bool, nil, []any, map[string]any).
	// It cannot hold a field that kith names itself: [Point.Validate] refuses the reserved ones.
	Extra map[string]any
}

// The payload fields kith names: the keys of [Filter] conditions and of field mappings.
const (
	FieldUserID    = "user_id"
	FieldContent   = "content"
	FieldAgentID   = "agent_id"
	FieldState     = "state"
	FieldVersion   = "version"
	FieldEpisodeID = "episode_id"
	FieldBatchID   = "batch_id"
	FieldSourceID  = "source_id"
	FieldTags      = "tags"
	FieldMemoryAt  = "memory_at"
	FieldCreatedAt = "created_at"
	FieldValidFrom = "valid_from"
	FieldValidTo   = "valid_to"
)

// Fields returns the names of all payload fields kith knows, in a fixed order.
func Fields() []string {
	return []string{
		FieldUserID, FieldContent, FieldAgentID, FieldState, FieldVersion, FieldEpisodeID, FieldBatchID, FieldSourceID,
		FieldTags, FieldMemoryAt, FieldCreatedAt, FieldValidFrom, FieldValidTo,
	}
}

// StateActive is the state of a fact in force; an empty state counts as it.
const StateActive = "active"

// Match is one answer of a search.
type Match struct {
	Point
	// Score is the cosine of query and point in [-1, 1]; for a keyword search the BM25 score, >= 0 and unbounded.
	Score float64
}
