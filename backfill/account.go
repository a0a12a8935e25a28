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
	ID      string  `json:"id"`
	Request Request `json:"request"`
	Done    bool    `json:"done"`
	Phase   string  `json:"phase"` // what is being done

	// StreamSeq is the last event of the stream before the scan: what a later one says is not in the points for certain, and is
	// projected by the feed. 0: there is no stream, or it is empty.
	StreamSeq uint64    `json:"stream_seq"`
	GraphID   string    `json:"graph_id"`
	Started   time.Time `json:"started"`
	TookMS    int64     `json:"took_ms"`   // of all parts, without what was between them
	Resumed   int       `json:"resumed"`   // how often it was taken up again
	Restarted int       `json:"restarted"` // how often it began again, because the graph was another one

	Total      int64 `json:"total"` // points that the store says there are in the range
	Scanned    int64 `json:"scanned"`
	Skipped    int64 `json:"skipped"`    // no facts: without a user, an id out of rule, a vector that cannot be read
	Filtered   int64 `json:"filtered"`   // of another agent, or written before since
	Undated    int64 `json:"undated"`    // taken although since is given: the store does not say when they were written
	Duplicates int64 `json:"duplicates"` // second points of one fact
	BadFacts   int64 `json:"bad_facts"`  // whose ids break the rules of events
	Forgotten  int64 `json:"forgotten"`  // of users that were forgotten later
	Changed    int64 `json:"changed"`    // facts of which something was settled
	Unchanged  int64 `json:"unchanged"`  // facts of which events, or an earlier run, had settled everything

	// Problems names the first twenty of each kind of problem: points that are skipped, stored twice, bad, without a usable vector,
	// with values and items that cannot be read.
	Problems []string `json:"problems"`

	BadVectors int64 `json:"bad_vectors"` // facts without a vector to search by: they have no neighbours of their own
	BadItems   int64 `json:"bad_items"`   // entities, relations and tags of payloads that cannot be read or break a rule of events
	BadValues  int64 `json:"bad_values"`  // that are not what their field wants, as a list for a time, or break a rule, and count as absent
	Searches   int64 `json:"searches"`
	Cleared    int64 `json:"cleared"` // records that were removed first

	WithVersion   int64 `json:"with_version"`
	WithTime      int64 `json:"with_time"`
	WithBatch     int64 `json:"with_batch"`
	WithTags      int64 `json:"with_tags"`
	WithEntities  int64 `json:"with_entities"`
	WithRelations int64 `json:"with_relations"`

	Written map[string]int64 `json:"written"` // records put, by kind; of a dry run those that would be
	Removed map[string]int64 `json:"removed"`
	Commits int64            `json:"commits"`
	Bulk    bool             `json:"bulk"` // the graph was written anew; else it was changed page by page
	Pages   int64            `json:"pages"`

	PeakPageBytes int64    `json:"peak_page_bytes"` // estimate of the largest page in hand
	Missing       []string `json:"missing"`         // what the points do not say
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
		{r.WithTags, "topics: no point has tags"},
		{r.WithEntities, "entities: no point has entities in its payload"},
		{r.WithRelations, "causes, elaborates, contrasts, same_series and related edges: no point has relations in its payload"},
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
