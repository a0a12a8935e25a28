package backfill

import "github.com/kithgraph/kith/vdb"

// costs is what it means that no point has a field.
var costs = map[string]string{
	vdb.FieldUserID:    "nothing can be projected: every fact belongs to a user",
	vdb.FieldContent:   "answers have no text, and words find nothing",
	vdb.FieldAgentID:   "--agent selects nothing",
	vdb.FieldState:     "every point counts as active",
	vdb.FieldVersion:   "version 0: points complete what events wrote and never override it",
	vdb.FieldEpisodeID: "no episodes: facts of one conversation are not favoured together",
	vdb.FieldBatchID:   "no co_occurs edges",
	vdb.FieldSourceID:  "a retracted source takes nothing with it",
	vdb.FieldTags:      "no topics",
	vdb.FieldMemoryAt:  "no place in time: no temporal_next edges, and no range of times finds a fact",
	vdb.FieldCreatedAt: "--since takes every point, and it is not known when a fact was recorded",
	vdb.FieldValidFrom: "facts have no beginning",
	vdb.FieldValidTo:   "facts have no end",
	FieldUpdatedAt:     "no version where a point has none, and --since goes by created_at",
	FieldRecordedAt:    "recorded when created",
	FieldBatchSeq:      "facts of a batch have no order",
	FieldSupersededBy:  "a superseded fact does not say by which",
	FieldEntities:      "no entities and no mentions edges",
	FieldRelations:     "no causes, elaborates, contrasts, same_series and related edges",
}

// missingCost is what it means that no sampled point has the field, given what else they have.
func missingCost(field string, counts map[string]int) string {
	switch {
	case field == vdb.FieldVersion && counts[FieldUpdatedAt] > 0:
		return "versions are those of updated_at, in microseconds"
	case field == FieldUpdatedAt && counts[vdb.FieldVersion] > 0:
		return "--since goes by created_at"
	case field == vdb.FieldMemoryAt && counts[vdb.FieldCreatedAt] > 0:
		return costs[field] + "; memory_at at the path of created_at takes the time of storing for it"
	case field == FieldRecordedAt && counts[vdb.FieldCreatedAt] == 0:
		return "it is not known when a fact was recorded"
	default:
		return costs[field]
	}
}
