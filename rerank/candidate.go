package rerank

import "github.com/kithgraph/kith/graphstore"

// Candidate is one fact as the vector store returned it. The store is the truth: its state and times decide whether the
// fact may be shown, whatever the graph says.
type Candidate struct {
	// Space is whose memory the fact is. A candidate of another space than the request's, or of none, is removed.
	Space graphstore.Space
	// ID is the canonical fact id ([graphstore.CanonicalFactID]); it must not be empty.
	ID string
	// Cosine is the raw cosine of query and fact, larger is nearer. A value that is not finite counts as base score 0,
	// and its item supports nobody. A fused rank score is not a cosine and must not be put here.
	Cosine float64
	// Relevance, if set, is the base score of the item in place of its calibrated cosine; it is clamped to [0, 1]. It is
	// for readers that fuse a second channel in score units, where the incoming order follows the fused score: without
	// it, the first boost would re-sort such a pool by cosine alone.
	Relevance *float64
	// Keyword is what a keyword search says of the fact, in [0, 1], clamped; 0 (also for a value that is not finite): nothing.
	// It counts for nominees only, by [ExpandSettings.KeywordBonus].
	Keyword float64

	State     string // "active" or empty, "superseded", "shadowed", "deleted"; any other is not eligible
	AgentID   string // the agent it belongs to; empty: none
	EpisodeID string // the conversation it belongs to; empty: none

	MemoryAt  graphstore.Instant // when it happened
	ValidFrom graphstore.Instant // inclusive; absent: since ever
	ValidTo   graphstore.Instant // exclusive; absent: for ever
}
