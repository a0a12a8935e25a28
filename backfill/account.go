package backfill

import (
	"maps"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// maxListed bounds the points of one kind of problem that are named one by one.
const maxListed = 20

// Account is that of a run, over all of its parts if it was interrupted and resumed.
type Account struct {
	ID      string  `json:"id" doc:"By which it is asked for."`
	Request Request `json:"request" doc:"What was asked for."`
	Done    bool    `json:"done" doc:"All points are in the graph; of a dry run: all were read and planned."`
	Phase   string  `json:"phase" doc:"What is being done, in words: waiting, asking the stores, scanning, ..., done or stopped."`

	// StreamSeq: what a later event says is not in the points for certain, and is projected by the feed.
	StreamSeq uint64    `json:"stream_seq" doc:"Last event of the stream before the scan; 0: there was none."`
	GraphID   string    `json:"graph_id" doc:"The graph that is changed."`
	Started   time.Time `json:"started" doc:"When its first part began."`
	TookMS    int64     `json:"took_ms" doc:"Milliseconds of all parts, without what was between them."`
	Resumed   int       `json:"resumed" doc:"How often it was taken up again."`
	Restarted int       `json:"restarted" doc:"How often it began again, because the graph was another one."`

	Total      int64 `json:"total" doc:"Points that the store says there are in the range."`
	Scanned    int64 `json:"scanned" doc:"Points that were read."`
	Skipped    int64 `json:"skipped" doc:"Points that are no facts: without a user, with an id out of rule, or unreadable."`
	Filtered   int64 `json:"filtered" doc:"Points of another agent, or written before since."`
	Undated    int64 `json:"undated" doc:"Points that were taken although since is given: the store does not say when they were written."`
	Duplicates int64 `json:"duplicates" doc:"Second points of one fact."`
	BadFacts   int64 `json:"bad_facts" doc:"Facts whose ids break the rules of events."`
	Forgotten  int64 `json:"forgotten" doc:"Facts of users that were forgotten later."`
	Changed    int64 `json:"changed" doc:"Facts of which something was settled."`
	Unchanged  int64 `json:"unchanged" doc:"Facts of which events, or an earlier run, had settled everything."`

	// Problems: points that are skipped, stored twice, bad, without a usable vector, with values and items that cannot be read.
	Problems []string `json:"problems" doc:"What was wrong with points: the first twenty of each kind."`

	BadVectors int64 `json:"bad_vectors" doc:"Facts without a vector to search by: they have no neighbours of their own."`
	BadItems   int64 `json:"bad_items" doc:"Entities, relations and tags of payloads that cannot be read or break a rule of events."`
	BadValues  int64 `json:"bad_values" doc:"Values that are not what their field wants, as a list for a time, or break a rule, and count as absent."`
	Searches   int64 `json:"searches" doc:"Searches for neighbours."`
	Cleared    int64 `json:"cleared" doc:"Records that were removed first."`

	WithVersion   int64 `json:"with_version" doc:"Facts whose points have a version."`
	WithTime      int64 `json:"with_time" doc:"Facts whose points have a memory_at."`
	WithBatch     int64 `json:"with_batch" doc:"Facts whose points have a batch_id."`
	WithTags      int64 `json:"with_tags" doc:"Facts whose points state tags."`
	WithEntities  int64 `json:"with_entities" doc:"Facts whose points state entities."`
	WithRelations int64 `json:"with_relations" doc:"Facts whose points state relations."`

	Written map[string]int64 `json:"written" doc:"Records put, by kind, edges by their type; of a dry run those that would be."`
	Removed map[string]int64 `json:"removed" doc:"Records removed, likewise."`
	Commits int64            `json:"commits" doc:"Transactions."`
	Bulk    bool             `json:"bulk" doc:"The graph was written anew; else it was changed page by page."`
	Pages   int64            `json:"pages" doc:"Pages of points."`

	PeakPageBytes int64    `json:"peak_page_bytes" doc:"Estimate of the largest page in hand."`
	Missing       []string `json:"missing" doc:"What the points do not say, so that the graph lacks it; of one that is done."`
}

// problem notes what was wrong with a point, if it is one of the first of its kind: the nth, counted from 1.
func (r *Account) problem(nth int64, text string) {
	if nth <= maxListed {
		r.Problems = append(r.Problems, text)
	}
}

// wrote counts changes by kind of record.
func (r *Account) wrote(changes []graphstore.Change) {
	for _, c := range changes {
		if c.Op == graphstore.Put {
			r.Written[kindOf(c)]++
		} else {
			r.Removed[kindOf(c)]++
		}
	}
}

func kindOf(c graphstore.Change) string {
	if c.Edge != nil {
		return c.Edge.Type.String()
	}
	return c.Key().Kind.String()
}

// clone returns a copy that shares nothing.
func (r *Account) clone() Account {
	out := *r
	out.Problems, out.Missing = slices.Clone(r.Problems), slices.Clone(r.Missing)
	out.Written, out.Removed = maps.Clone(r.Written), maps.Clone(r.Removed)
	return out
}

// missing says what the points did not hold, so that the graph lacks it.
func (r *Account) missing() []string {
	facts := r.Changed + r.Unchanged
	out := []string{"merges and decisions on entities, retractions of sources, schemas and their evidence: no vector store has them, only the event stream"}
	for _, m := range []struct {
		n    int64
		text string
	}{
		{r.WithVersion, "versions: no point has one, so they complete what events wrote and never override it"},
		{r.WithTime, "times: no point has a memory_at, so nothing is placed in time and no temporal_next edge was made"},
		{r.WithBatch, "co_occurs edges: no point has a batch_id"},
		{r.WithTags, "topics: no point states tags"},
		{r.WithEntities, "entities: no point states entities"},
		{r.WithRelations, "causes, elaborates, contrasts, same_series and related edges: no point states relations"},
	} {
		if m.n == 0 && facts > 0 {
			out = append(out, m.text)
		}
	}
	if r.Request.NoNeighbors {
		out = append(out, "semantic_neighbor edges: they were not asked for")
	}
	return out
}
