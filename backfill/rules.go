package backfill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// keepRules takes out of a fact what breaks a rule of write events, so that all else is projected.
func (in reading) keepRules(s *projector.StoredFact) {
	for {
		var rule *projector.FieldError
		if !errors.As(s.Validate(), &rule) {
			return
		}
		field, _, _ := strings.Cut(rule.Path, "[")
		if !in.takeOut(s, field, rule) {
			return // the id: the plan says so
		}
	}
}

// takeOut takes one field out of a fact, or of a list what breaks the rule, and reports whether it is one that can be.
func (in reading) takeOut(s *projector.StoredFact, field string, rule *projector.FieldError) bool {
	switch field {
	case vdb.FieldTags:
		s.Tags = keepItems(in, s.Tags, func(one *projector.FactWrite, tags projector.Optional[[]string]) { one.Tags = tags })
		return true
	case FieldEntities:
		s.Entities = keepItems(in, s.Entities, func(one *projector.FactWrite, refs projector.Optional[[]projector.EntityRef]) { one.Entities = refs })
		return true
	case FieldRelations:
		s.Relations = keepItems(in, s.Relations, func(one *projector.FactWrite, refs projector.Optional[[]projector.RelationRef]) { one.Relations = refs })
		return true
	}
	var none projector.Optional[string]
	var never projector.Optional[graphstore.Instant]
	switch field {
	case vdb.FieldAgentID:
		s.AgentID = none
	case vdb.FieldSourceID:
		s.SourceID = none
	case vdb.FieldEpisodeID:
		s.EpisodeID = none
	case vdb.FieldBatchID:
		s.BatchID, s.BatchSeq = none, projector.Optional[int32]{}
	case FieldSupersededBy:
		s.SupersededBy = ""
	case vdb.FieldMemoryAt:
		s.MemoryAt = never
	case vdb.FieldValidFrom:
		s.ValidFrom = never
	case vdb.FieldValidTo:
		s.ValidTo = never
	case FieldRecordedAt:
		s.RecordedAt = never
	case FieldUpdatedAt:
		s.UpdatedAt = 0
	default:
		return false
	}
	in.account.BadValues++
	in.say(in.account.BadValues, "%s: %s", rule.Path, rule.Problem)
	return true
}

// keepItems returns the items of a list that break no rule each by itself. put puts a list into a write that says nothing else.
func keepItems[T any](in reading, list projector.Optional[[]T], put func(*projector.FactWrite, projector.Optional[[]T])) projector.Optional[[]T] {
	var kept []T
	for i := range list.Value {
		one := projector.StoredFact{FactWrite: projector.FactWrite{ID: in.id}}
		put(&one.FactWrite, projector.Some(list.Value[i:i+1]))
		var rule *projector.FieldError
		if !errors.As(one.Validate(), &rule) {
			kept = append(kept, list.Value[i])
			continue
		}
		in.account.BadItems++
		in.say(in.account.BadItems, "%s: %s", strings.Replace(rule.Path, "[0]", fmt.Sprintf("[%d]", i), 1), rule.Problem)
	}
	if len(kept) == 0 {
		return projector.Optional[[]T]{}
	}
	return projector.Some(kept)
}
