package reader

import (
	"time"

	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// Recall says which search found the candidates.
type Recall string

// The recalls.
const (
	RecallDense   Recall = "dense"
	RecallHybrid  Recall = "hybrid"
	RecallKeyword Recall = "keyword"
)

// Answer is the outcome of one search.
type Answer struct {
	Results []Result
	// Paths are the strongest connections between the results, best first.
	Paths []rerank.Path
	// Refused are the facts that the graph put forward and that were not added, if the query asked for them.
	Refused []rerank.Refusal

	Recall     Recall
	RecallNote string // why it is another recall than the query asked for; empty: it is not
	Rerank     Rerank

	// AppliedSeq is the stream sequence up to which all events were in the graph when its snapshot was taken, or when the search began if
	// none was; MinSeqApplied is whether Query.MinSeq was among them. Both are zero without [Config.AppliedSeq].
	AppliedSeq    uint64
	MinSeqApplied bool
}

// Result is one fact found.
type Result struct {
	ID string
	// Score is the store's: a cosine, a BM25 score after a keyword recall, the fused score of [Channels] after a hybrid one.
	Score float64
	// Base is the score the ranking started from: the calibrated cosine, or the fused score of a hybrid recall. Without a ranking it
	// equals Score.
	Base float64
	// GraphScore orders the results when the graph ranked them; otherwise it equals Score.
	GraphScore float64
	RankBefore int // place in the recall, from 1; may be greater than k; 0 for a fact that the graph added
	RankAfter  int // place in the answer, from 1; 0 for an attached fact
	Payload    vdb.Payload
	// Channels are the raw scores of a hybrid recall.
	Channels *Channels
	// Expansion is set for a fact that the graph added.
	Expansion *Expansion
	// Attached are facts that the graph added to this one, best first. They take no place.
	Attached []Result
	// Explanation is set if the query asked for it and the graph ranked.
	Explanation *rerank.Explanation
}

// Expansion says how the graph came to add a fact. Its graph score is the sum of Parts.
type Expansion struct {
	rerank.Nominee
	Parts  rerank.Parts
	Margin float64 // by how much it passed the gate of its seed
	// Quota is how many may be added over its Via, 0 without a bound; QuotaPlace its place among those that were, from 1.
	Quota, QuotaPlace int
}

// Status says what became of the graph stage.
type Status string

// The statuses.
const (
	StatusOK       Status = "ok"       // the graph ranked
	StatusDisabled Status = "disabled" // not asked for, or not applicable; Reason says why
	StatusDegraded Status = "degraded" // a stage failed; what the groups of stages before it made stands
)

// Rerank is the account of the graph stage.
type Rerank struct {
	Status Status
	Stage  string // of a degraded answer: where it failed
	Reason string // of a degraded or disabled one: why

	rerank.Diagnostics                          // of an answer that was ranked
	Expand             rerank.ExpandDiagnostics // of one with an expansion
	EpisodesOnly       bool                     // there was no graph: only facts of one episode supported each other
	PathsTruncated     bool                     // a result has so many links that paths over it were left out
	Removed            []rerank.Removed         // candidates the ranking refused, such as facts out of their validity
	Foreign            int                      // candidates of another user that the store returned: always a fault of the store

	RecallTook time.Duration
	GraphTook  time.Duration
	Stages     []StageTime // those that finished
}
