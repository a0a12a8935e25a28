package reader

import (
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// candidates translates the matches. A superseded fact is valid up to what retired it, which the graph knows even where
// the payload does not say so.
func candidates(found recalled, view *graphstore.Snapshot) []rerank.Candidate {
	pool := make([]rerank.Candidate, len(found.matches))
	for i := range found.matches {
		m := &found.matches[i]
		c := &pool[i]
		*c = rerank.Candidate{
			Space:     m.Space,
			ID:        m.ID,
			Cosine:    m.Score,
			State:     m.Payload.State,
			AgentID:   m.Payload.AgentID,
			EpisodeID: m.Payload.EpisodeID,
			MemoryAt:  graphstore.InstantOf(m.Payload.MemoryAt),
			ValidFrom: graphstore.InstantOf(m.Payload.ValidFrom),
			ValidTo:   graphstore.InstantOf(m.Payload.ValidTo),
		}
		if found.channels != nil {
			c.Cosine = found.channels[i].cosine()
		}
		if found.relevance != nil {
			c.Relevance = &found.relevance[i]
		}
		if view != nil && c.State == graphstore.StateSuperseded.String() {
			c.ValidTo = earlier(c.ValidTo, retiredAt(view, m.ID))
		}
	}
	return pool
}

// retiredAt returns the end of a superseded fact's validity as the graph knows it, absent if it knows none.
func retiredAt(view *graphstore.Snapshot, id string) graphstore.Instant {
	n, ok := view.Node(id)
	if !ok {
		return 0
	}
	_, to := view.Validity(n)
	return to
}

// earlier returns the earlier of two ends, of which an absent one is never.
func earlier(a, b graphstore.Instant) graphstore.Instant {
	if !a.Present() || (b.Present() && b < a) {
		return b
	}
	return a
}
