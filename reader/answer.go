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
	RecallKeyword Recall = "keyword"
)

// Answer is the outcome of one search.
type Answer struct {
	Results []Result
	Recall  Recall
	Rerank  Rerank
}

// Result is one fact found.
type Result struct {
	ID string
	// Score is the store's: a cosine, or a BM25 score after a keyword recall.
	Score float64
	// Base is the score the ranking started from: the calibrated cosine. Without a ranking it equals Score.
	Base float64
	// GraphScore orders the results when the graph ranked them; otherwise it equals Score.
	GraphScore float64
	RankBefore int // place in the recall, from 1; may be greater than k
	RankAfter  int // place in the answer, from 1
	Payload    vdb.Payload
	// Explanation is set if the query asked for it and the graph ranked.
	Explanation *rerank.Explanation
}

// Status says what became of the graph stage.
type Status string

// The statuses.
const (
	StatusOK       Status = "ok"       // the graph ranked
	StatusDisabled Status = "disabled" // not asked for, or not applicable; Reason says why
	StatusDegraded Status = "degraded" // asked for and failed; the recall's order stands
)

// Rerank is the account of the graph stage.
type Rerank struct {
	Status Status
	Stage  string // of a degraded answer: where it failed
	Reason string // of a degraded or disabled one: why

	rerank.Diagnostics                  // of an answer that was ranked
	Removed            []rerank.Removed // candidates the ranking refused, such as facts out of their validity
	Foreign            int              // candidates of another user that the store returned: always a fault of the store

	RecallTook time.Duration
	GraphTook  time.Duration
}
