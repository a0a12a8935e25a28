package reader

import (
	"context"
	"time"
)

// seqPoll is how often a search that waits for an event looks whether it has been applied.
const seqPoll = time.Millisecond

// awaitSeq waits until the events up to Query.MinSeq are in the graph, at most two thirds of what is left of the stage's
// time: the snapshot is still to be taken then. It notes how far the graph was, before the snapshot is taken.
func (w *run) awaitSeq(ctx context.Context) {
	if w.r.cfg.AppliedSeq == nil {
		return
	}
	until := time.Now()
	if end, ok := ctx.Deadline(); ok {
		until = until.Add(time.Until(end) * 2 / 3)
	}
	for {
		w.applied = w.r.cfg.AppliedSeq()
		w.reached = w.applied >= w.q.MinSeq
		if w.reached || time.Now().After(until) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(seqPoll):
		}
	}
}
