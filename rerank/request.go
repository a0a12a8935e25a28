package rerank

import (
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// MaxPool is the largest pool one request may bring. Recall fetches 50 to 200; the bound keeps the work of a mistaken
// call finite.
const MaxPool = 10_000

// ErrBadRequest reports a request that cannot be ranked; the pool is as it was.
var ErrBadRequest = errors.New("bad rerank request")

// Request is one ranking job. Nothing in it is modified or kept.
type Request struct {
	// Space is whose memory is searched. Required.
	Space graphstore.Space
	// Pool holds the candidates in the order of the recall, at most [MaxPool].
	Pool []Candidate
	// Graph is the graph of Space; nil means there is none, and only episodes can support.
	Graph *graphstore.Snapshot

	// AgentID, if not empty, lets only facts of that agent take part.
	AgentID string
	// Speakers are entities never bridged over, besides the owners in the settings: the speakers of the conversation, who
	// occur in every fact of it. Each is a normalised entity name or an entity id.
	Speakers []string

	// Now is the time of the request. Required unless ValidAt is set.
	Now graphstore.Instant
	// ValidAt, if present, asks for what was valid then: superseded facts whose window holds that time take part too.
	ValidAt graphstore.Instant

	// Explain asks for [Ranked.Explanation].
	Explain bool
}

func (q *Request) validate() error {
	if err := q.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return nil
}

func (q *Request) check() error {
	switch {
	case q.Space.IsZero():
		return graphstore.ErrNoSpace
	case q.Graph != nil && q.Graph.Space() != q.Space:
		return fmt.Errorf("graph of space %s: want the request's space %s",
			graphstore.Shorten(q.Graph.Space().UserID()), graphstore.Shorten(q.Space.UserID()))
	case len(q.Pool) > MaxPool:
		return fmt.Errorf("pool: %d candidates: want at most %d", len(q.Pool), MaxPool)
	case !q.Now.Present() && !q.ValidAt.Present():
		return errors.New("now: absent: validity needs the time of the request, or valid_at")
	}
	for i := range q.Pool {
		if q.Pool[i].ID == "" {
			return fmt.Errorf("pool[%d]: id is empty", i)
		}
	}
	return nil
}
