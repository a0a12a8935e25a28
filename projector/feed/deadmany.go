package feed

import (
	"context"
	"errors"
	"fmt"
)

// maxDeadErrors bounds how many refusals a [DeadReport] spells out.
const maxDeadErrors = 20

// DeadReport is the account of work on many dead letters.
type DeadReport struct {
	Matched  int          // letters that the filter means
	Done     int          // dropped, or published again and dropped; 0 in a dry run
	Refused  int          // letters that cannot be replayed; they are where they were
	Errors   []DeadError  // the first of the refusals
	Replayed []DeadReplay // the first of what was published again
	Last     uint64       // the last event that was published again, as its sequence in the event stream
}

// DeadError is a dead letter that cannot be replayed.
type DeadError struct {
	Number uint64
	Err    error // wraps [ErrNotReplayable]
}

// ReplayMatching replays all dead letters that are meant and were there when it began, the oldest first; a dry run only finds
// them and tells which cannot be. An empty filter is an [ErrBadFilter]: to replay all there is, name a time. Bad facts of one
// event are published together. The end of the context and errors of the server end the work; the report says how far it was.
func (d *DeadLetters) ReplayMatching(ctx context.Context, filter DeadFilter, dryRun bool) (DeadReport, error) {
	w := deadWork{d: d, dryRun: dryRun, groups: map[uint64][]Letter{}}
	err := d.eachMatching(ctx, filter, func(l Letter) error {
		if l.FactIndex < 0 || l.Foreign != nil || l.Stream != EventStream {
			return w.replay(ctx, []Letter{l})
		}
		w.gather(l)
		return nil
	})
	for _, seq := range w.order {
		if err == nil {
			err = w.replayFacts(ctx, w.groups[seq])
		}
	}
	if err != nil {
		return w.report, fmt.Errorf("replay dead letters: %w", err)
	}
	return w.report, nil
}

// DropMatching drops all messages that are meant and were there when it began, foreign ones too; a dry run only counts them.
// Otherwise it is like ReplayMatching.
func (d *DeadLetters) DropMatching(ctx context.Context, filter DeadFilter, dryRun bool) (DeadReport, error) {
	var r DeadReport
	err := d.eachMatching(ctx, filter, func(l Letter) error {
		r.Matched++
		if dryRun {
			return nil
		}
		if err := d.remove(ctx, l.Number); err != nil {
			return err
		}
		r.Done++
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("drop dead letters: %w", err)
	}
	return r, nil
}

// eachMatching calls f with every letter that is meant, without its payload, the oldest first, up to the one that is the last now.
func (d *DeadLetters) eachMatching(ctx context.Context, filter DeadFilter, f func(Letter) error) error {
	if filter.Empty() {
		return fmt.Errorf("%w: filter is empty: want a user, a reason, a type or a time", ErrBadFilter)
	}
	if err := filter.Validate(); err != nil {
		return err
	}
	stream, err := d.stream(ctx)
	if err != nil {
		return err
	}
	l := deadLister{d: d, q: DeadQuery{Filter: filter}}
	var stop error
	err = l.each(ctx, 1, stream.CachedInfo().State.LastSeq, func(letter Letter) (more bool) {
		if filter.means(letter) {
			stop = f(letter)
		}
		return stop == nil
	})
	return errors.Join(stop, err)
}

// deadWork replays many letters.
type deadWork struct {
	d      *DeadLetters
	dryRun bool
	report DeadReport
	groups map[uint64][]Letter // bad facts by the sequence of their event
	order  []uint64
}

// gather keeps a bad fact until all of its event are known.
func (w *deadWork) gather(l Letter) {
	if _, known := w.groups[l.Sequence]; !known {
		w.order = append(w.order, l.Sequence)
	}
	l.Header, l.FirstError, l.LastError = nil, "", "" // read again
	w.groups[l.Sequence] = append(w.groups[l.Sequence], l)
}

// replayFacts replays the bad facts of one event together if the event is there, else one by one.
func (w *deadWork) replayFacts(ctx context.Context, letters []Letter) error {
	same := letters[:1:1]
	var others []Letter
	for _, l := range letters[1:] {
		if l.Received.Equal(same[0].Received) && l.Subject == same[0].Subject && l.UserID == same[0].UserID {
			same = append(same, l)
		} else { // of a stream that was made again since
			others = append(others, l)
		}
	}
	raw, err := w.d.original(ctx, same[0])
	switch {
	case err != nil:
		return err
	case raw != nil:
		err = w.replay(ctx, same)
	default:
		err = w.oneByOne(ctx, same)
	}
	if err != nil || len(others) == 0 {
		return err
	}
	return w.replayFacts(ctx, others)
}

// oneByOne replays bad facts of an event that is no longer there.
func (w *deadWork) oneByOne(ctx context.Context, letters []Letter) error {
	for _, l := range letters {
		if err := w.replay(ctx, []Letter{l}); err != nil {
			return err
		}
	}
	return nil
}

// replay replays letters of one event; a refusal is noted, an error ends the work.
func (w *deadWork) replay(ctx context.Context, letters []Letter) error {
	w.report.Matched += len(letters)
	first, err := w.d.get(ctx, letters[0].Number) // with its payload
	if errors.Is(err, ErrNoDeadLetter) {          // somebody was faster
		return nil
	}
	if err != nil {
		return err
	}
	letters[0] = first
	r := DeadReplay{}
	if w.dryRun {
		err = w.d.check(ctx, first, nil)
	} else {
		r, err = w.d.replay(ctx, letters, nil)
	}
	switch {
	case errors.Is(err, errGone): // since it was looked for
		w.report.Matched -= len(letters) // each counts itself
		return w.oneByOne(ctx, letters)
	case errors.Is(err, ErrNotReplayable):
		w.report.Refused += len(letters)
		if len(w.report.Errors) < maxDeadErrors {
			w.report.Errors = append(w.report.Errors, DeadError{first.Number, err})
		}
		return nil
	case err != nil:
		return fmt.Errorf("dead letter %d: %w", first.Number, err)
	case w.dryRun:
		return nil
	}
	w.report.Done += len(letters)
	w.report.Last = max(w.report.Last, r.Sequence)
	if len(w.report.Replayed) < maxDeadErrors {
		w.report.Replayed = append(w.report.Replayed, r)
	}
	return nil
}
