package backfill

import "time"

// Of the turns in which pages are planned and committed: events wait while one lasts.
const (
	turnTarget     = 500 * time.Millisecond
	firstTurnFacts = 256
	minTurnFacts   = 32
)

// turnSize adapts the number of facts of a turn to how long turns take, as the feed adapts its batches.
type turnSize struct {
	most   int
	target time.Duration
}

func newTurnSize(target time.Duration) turnSize { return turnSize{firstTurnFacts, target} }

// took takes in a turn: a long one halves the next, a full one within half of the target doubles it.
func (s *turnSize) took(facts int, took time.Duration) {
	switch {
	case took > s.target:
		s.most = max(min(s.most, facts)/2, minTurnFacts)
	case took < s.target/2 && facts >= s.most:
		s.most = min(2*s.most, maxPagePoints)
	}
}
