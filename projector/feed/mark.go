package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// The graph says in each transaction how far it has taken in the stream (graphstore.Mark). The consumer cannot know that:
// a graph that was restored from a copy, or whose log was cut off at its end, lacks what the server has as acknowledged.
// The rules:
//
//  1. A mark never claims what its own transaction does not make true: it is the floor of what is settled, together with
//     the events of this very transaction. An event of which bad facts still have to become dead letters is not settled.
//  2. It may claim less at any time; that costs a replay, which changes nothing.
//  3. What moves the floor without a commit (repeats, dead letters) is recorded by the next commit, or alone after
//     Config.MarkInterval, or at a stop.

// logName names an incarnation of the event stream: sequences of one that was deleted and made again mean other events.
func logName(created time.Time) string {
	return EventStream + "@" + created.UTC().Format("2006-01-02T15:04:05.000000000Z")
}

// takeLog notes the stream that the feed takes events from. One that is not the graph's may lack much of what is in the
// graph, and nothing else would tell: a stream that was deleted is made again, empty and in good order.
func (f *Feed) takeLog(name string) {
	f.loop.placed, f.loop.log = true, name
	had := f.loop.mark.Log
	if had == "" || had == name || !f.health.leftLog(had) {
		return
	}
	f.log.Warn("the event stream is another one than the graph was made from, deleted and made again or restored: the graph holds what that one "+
		"had, and a rebuild from this one would lose it", "was", had, "is", name, "mark", f.loop.mark.Seq)
}

// leftLog notes the stream that the graph was made from before, and reports whether that is news.
func (h *health) leftLog(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.mu.earlierLog != name
	h.mu.earlierLog = name
	return news
}

// markAfter returns the mark of a transaction of these events: the floor as it will be when they are settled.
func (f *Feed) markAfter(planned []*delivery) graphstore.Mark {
	if f.cfg.GraphID == "" { // the consumer may be anybody's: what it has settled says nothing of this graph
		return graphstore.Mark{}
	}
	settled := make(map[uint64]struct{}, len(f.loop.done)+len(planned))
	for _, seq := range f.loop.done {
		settled[seq] = struct{}{}
	}
	for _, dv := range planned {
		if len(dv.rejected) == 0 {
			settled[dv.seq] = struct{}{}
		}
	}
	return graphstore.Mark{Log: f.loop.log, Seq: f.progress.positionAfter(settled)}
}

// marked notes the mark that the graph has.
func (f *Feed) marked(mark graphstore.Mark) {
	if mark == (graphstore.Mark{}) { // the graph has kept the one that it had
		return
	}
	f.loop.mark = mark
	f.marks.Store(mark.Seq)
}

// markLags reports whether the graph's mark claims less than is settled. That of an empty graph need not say so.
func (f *Feed) markLags() bool {
	if f.cfg.GraphID == "" || f.loop.log == "" {
		return false
	}
	want := f.markAfter(nil)
	return want != f.loop.mark && (want.Seq > 0 || f.loop.mark.Log != "")
}

// timeMark notes since when the mark lags.
func (f *Feed) timeMark(now time.Time) {
	switch {
	case !f.markLags():
		f.loop.lagging = time.Time{}
	case f.loop.lagging.IsZero():
		f.loop.lagging = now
	}
}

// untilMark returns how long the mark may go on lagging; at least a millisecond, and at most as long as a pull.
func (f *Feed) untilMark(now time.Time) time.Duration {
	if f.loop.lagging.IsZero() {
		return f.env.pullWait
	}
	return min(max(f.loop.lagging.Add(f.cfg.MarkInterval).Sub(now), time.Millisecond), f.env.pullWait)
}

// keepMark records the mark alone when it has lagged for MarkInterval.
func (f *Feed) keepMark(ctx context.Context, now time.Time) error {
	if f.loop.lagging.IsZero() || now.Sub(f.loop.lagging) < f.cfg.MarkInterval {
		return nil
	}
	return f.recordMark(ctx, f.markAfter(nil))
}

// leaveMark records the mark at a stop. That nothing is recorded loses nothing, so it is no error, and a store that is in
// trouble is not asked.
func (f *Feed) leaveMark(ctx context.Context) {
	if f.loop.failures > 0 || !f.markLags() {
		return
	}
	if err := f.recordMark(ctx, f.markAfter(nil)); err != nil {
		f.log.Warn("graph could not record how far it is: the next start projects some events again", "mark", f.loop.mark.Seq, "err", err)
	}
}

func (f *Feed) recordMark(ctx context.Context, mark graphstore.Mark) error {
	if err := guard(func() error { return f.graph.ApplyMarked(ctx, nil, mark) }); err != nil {
		return fmt.Errorf("record mark %d: %w", mark.Seq, err)
	}
	f.counters.markCommits.Add(1)
	f.marked(mark)
	f.loop.lagging = time.Time{}
	return nil
}
