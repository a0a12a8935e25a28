package main

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

// lackable is what a payload may lack, and what the graph lacks with it.
var lackable = []struct {
	field graphstore.Field
	text  string
}{
	{graphstore.FieldRelations, "relations, and so no causes, elaborates, contrasts, same_series and related edges of their own"},
	{graphstore.FieldEntities, "entities, and so no mentions"},
	{graphstore.FieldTags, "tags, and so no topics"},
	{graphstore.FieldBatch, "batch, and so no co_occurs edges"},
	{graphstore.FieldMemoryAt, "memory_at, and so no place in time"},
}

// missing says what could be had from no source that was read.
func (r *rebuild) missing() []string {
	out := []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	const only = "what only events say: merges and decisions on entities, retractions of sources, forgotten users, schemas and their evidence: no vector store has them, and "
	switch s := r.out.Stream; {
	case r.none:
		say(only + "there is no stream")
	case s.Unread:
		say(only + "the stream was not read")
	case s.Dropped+s.Deleted > 0:
		say(only+"%d events are no longer in the stream", s.Dropped+s.Deleted)
	}
	if r.gather == nil {
		say("what only the vector store has: it was not read")
	}
	if facts := r.lacks[""]; facts > 0 {
		for _, of := range lackable {
			if n := r.lacks[of.field]; n > 0 {
				say("of the %d facts that only points bring %d have no %s", facts, n, of.text)
			}
		}
	}
	if r.gather != nil && r.req.NoNeighbors {
		say("semantic_neighbor edges of points: they were not asked for")
	}
	if r.out.Unseen > 0 {
		say("%d facts that others name: %s", r.out.Unseen, r.noWord())
	}
	return out
}

func (r *rebuild) noWord() string {
	switch r.req.From {
	case server.RebuildFromLog:
		return "no event is about them"
	case server.RebuildFromStore:
		return "no point is about them"
	default:
		return "no event and no point is about them"
	}
}
