package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of a listing.
const (
	DefaultDeadLimit = 100
	MaxDeadLimit     = 1000

	// maxDeadReads bounds how many messages one call reads, so that a filter which means few of many is answered in time.
	maxDeadReads = 10_000
	// deadWindow is how far a listing from the newest steps back at first.
	deadWindow = 64
)

// DeadQuery asks for dead letters.
type DeadQuery struct {
	Filter DeadFilter
	Oldest bool   // the oldest first, else the newest
	After  uint64 // only what comes after this number in that order; 0: from the beginning
	Limit  int    // most letters, 1 to [MaxDeadLimit]; defaults to [DefaultDeadLimit]
}

// DeadPage is a part of a listing.
type DeadPage struct {
	Letters []Letter
	// Next is what After must be for the part that follows; 0 at the end. A page may have fewer letters than the limit, or none,
	// and still not be the last.
	Next uint64
	// Stored is how many messages the stream holds in all.
	Stored uint64
}

// List returns one page, of letters without their payloads. Letters that are stored or dropped between two pages disturb neither. Errors: [ErrBadFilter], the
// server's, the context's; none comes with a part of a page.
func (d *DeadLetters) List(ctx context.Context, q DeadQuery) (DeadPage, error) {
	if q.Limit == 0 {
		q.Limit = DefaultDeadLimit
	}
	if q.Limit < 1 || q.Limit > MaxDeadLimit {
		return DeadPage{}, fmt.Errorf("%w: limit %d: want 1 to %d", ErrBadFilter, q.Limit, MaxDeadLimit)
	}
	if err := q.Filter.Validate(); err != nil {
		return DeadPage{}, err
	}
	stream, err := d.stream(ctx)
	if err != nil {
		return DeadPage{}, fmt.Errorf("list dead letters: %w", err)
	}
	state := stream.CachedInfo().State
	l := deadLister{d: d, q: q, reads: maxDeadReads, page: DeadPage{Letters: []Letter{}, Stored: state.Msgs}}
	switch {
	case q.Oldest && q.After >= state.LastSeq: // the highest number has none after it that could be counted
	case q.Oldest:
		err = l.forward(ctx, max(q.After+1, state.FirstSeq), state.LastSeq)
	default:
		last := state.LastSeq
		if q.After > 0 {
			last = min(last, q.After-1)
		}
		err = l.backward(ctx, state.FirstSeq, last)
	}
	if err != nil {
		return DeadPage{}, fmt.Errorf("list dead letters: %w", err)
	}
	return l.page, nil
}

// deadLister fills one page.
type deadLister struct {
	d     *DeadLetters
	q     DeadQuery
	reads int // how many are left
	page  DeadPage
}

// forward lists from first to last.
func (l *deadLister) forward(ctx context.Context, first, last uint64) error {
	return l.each(ctx, first, last, func(letter Letter) (more bool) {
		full := len(l.page.Letters) == l.q.Limit
		if full || l.reads == 0 {
			l.page.Next = letter.Number - 1
			return false
		}
		if past := !l.q.Filter.To.IsZero() && !letter.Stored.Before(l.q.Filter.To); past {
			return false
		}
		if l.q.Filter.means(letter) {
			l.page.Letters = append(l.page.Letters, letter)
		}
		return true
	})
}

// backward lists from last to first. The server only looks forward for a subject, so it goes back in windows, reads each
// forward, and turns it round. A window that holds little is followed by a wider one, so that a gap of any size is passed in a
// few steps; one that turns out to hold much is read again in parts.
func (l *deadLister) backward(ctx context.Context, first, last uint64) error {
	least := uint64(max(deadWindow, l.q.Limit))
	for width := least; last >= first && last > 0; {
		from := first
		if last-first >= width {
			from = last - width + 1
		}
		window, whole, err := l.window(ctx, from, last, int(2*least))
		switch {
		case err != nil:
			return err
		case !whole:
			width = max(width/8, least)
			continue
		}
		if l.take(window) {
			return nil
		}
		if last = from - 1; l.reads == 0 && last >= first {
			l.page.Next = from
			return nil
		}
		width *= 2
	}
	return nil
}

// window reads the letters between two numbers, at most so many; whole is false if there are more.
func (l *deadLister) window(ctx context.Context, from, last uint64, most int) (window []Letter, whole bool, err error) {
	whole = true
	err = l.each(ctx, from, last, func(letter Letter) (more bool) {
		if len(window) == most {
			whole = false
			return false
		}
		window = append(window, letter)
		return true
	})
	return window, whole, err
}

// take appends the letters of a window, the last first, and reports whether the page is done.
func (l *deadLister) take(window []Letter) (done bool) {
	for _, letter := range slices.Backward(window) {
		switch {
		case len(l.page.Letters) == l.q.Limit:
			l.page.Next = letter.Number + 1
			return true
		case letter.Stored.Before(l.q.Filter.From): // as are all before it
			return true
		case l.q.Filter.means(letter):
			l.page.Letters = append(l.page.Letters, letter)
		}
	}
	return false
}

// each reads the letters on the filter's subjects from first to last, until f has enough.
func (l *deadLister) each(ctx context.Context, first, last uint64, f func(Letter) (more bool)) error {
	for seq := first; seq <= last; {
		raw, err := l.d.message(ctx, DeadStream, seq, l.q.Filter.subjects())
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if raw.Sequence > last {
			return nil
		}
		letter := newLetter(raw)
		letter.Payload = nil
		if !f(letter) {
			return nil
		}
		seq = raw.Sequence + 1
		l.reads = max(l.reads-1, 0)
	}
	return nil
}
