package feed

import (
	"context"
	"fmt"
	"time"
)

// An event can bring the graph down without any error of its own: it makes the store crash, say. Such an event looks like
// an outage, and would hold up all others for ever. The feed tells the two apart by trying events alone:
//
//   - A batch of which a message has come isolateAfter times is tried one event at a time. Two failures in a row are an
//     outage. An event that failed among others that did not is a suspect.
//   - A suspect is kept out of batches and tried alone after the batch that it came with. If it fails then, where others
//     have just been committed, that counts against it; PoisonAfter counts bury it. While nothing can be committed nothing
//     counts: an outage buries nobody.

// isolateAfter is the delivery of a message from which on its batch is taken apart when it fails.
const isolateAfter = 3

// suspect is what is known against a message that failed.
type suspect struct {
	first string    // the first error seen
	since time.Time // when it was
	alone bool      // try it alone
	count int       // failures alone while others were committed
}

func (s *suspect) isolated() bool { return s != nil && s.alone }

// suspectError keeps the first error of a message.
func (f *Feed) suspectError(d *delivery, cause error) *suspect {
	s, ok := f.loop.suspects[d.seq]
	if !ok {
		s = &suspect{first: cut(cause.Error()), since: time.Now()}
		f.loop.suspects[d.seq] = s
	}
	return s
}

// firstError returns the first error seen of a message and its time, or this one and now.
func (f *Feed) firstError(d *delivery, this string, now time.Time) (first string, at time.Time) {
	if s, ok := f.loop.suspects[d.seq]; ok {
		return s.first, s.since
	}
	return this, now
}

// halve finds, among events that the graph refuses together, those that it refuses: half of them at a time, so that one
// among a thousand costs some twenty commits.
func (f *Feed) halve(ctx, work context.Context, ds []*delivery) error {
	left, right := ds[:len(ds)/2], ds[len(ds)/2:]
	if err := f.project(ctx, work, left); err != nil {
		f.returnAll(work, right, err)
		return err
	}
	return f.project(ctx, work, right)
}

// isolate tries events one at a time. It returns an error if the graph seems to be out of order.
func (f *Feed) isolate(ctx, work context.Context, ds []*delivery) error {
	streak := 0
	for i, d := range ds {
		err := f.attempt(work, ds[i:i+1])
		switch {
		case err == nil:
			streak = 0
			continue
		case permanent(err):
			f.settle(work, d, buried(ReasonCommit, err))
			continue
		}
		f.suspectError(d, err).alone = true
		f.settle(work, d, f.returned(work, d, err))
		if streak++; streak == 2 || ctx.Err() != nil || i == len(ds)-1 {
			f.returnAll(work, ds[i+1:], err)
			return err
		}
		sleep(ctx, f.cfg.backoff(f.loop.failures+1)) // a store that crashed gets the time to come back
	}
	return nil
}

// tryAlone tries suspects one at a time. A failure counts against one only if something has been committed since the
// count committed, or since the failure before it: a suspect that brings the store down must not speak against the next.
func (f *Feed) tryAlone(ctx, work context.Context, ds []*delivery, committed uint64) error {
	for i, d := range ds {
		err := f.attempt(work, ds[i:i+1])
		switch {
		case err == nil:
			continue
		case permanent(err):
			f.settle(work, d, buried(ReasonCommit, err))
			continue
		}
		works := f.counters.commits.Load() > committed && work.Err() == nil
		committed = f.counters.commits.Load()
		s := f.suspectError(d, err)
		if works {
			s.count++
		}
		if s.count >= f.cfg.PoisonAfter {
			f.settle(work, d, buried(ReasonPoison, fmt.Errorf("failed alone %d times while others were committed: %w", s.count, err)))
			continue
		}
		f.settle(work, d, f.returned(work, d, err))
		if !works || ctx.Err() != nil {
			f.returnAll(work, ds[i+1:], err)
			return err
		}
		sleep(ctx, f.cfg.RetryMin)
	}
	return nil
}
