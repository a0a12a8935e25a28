package sqlite

import (
	"fmt"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// The payload's times in the order in which a point's instants are kept.
var timeFields = [...]string{vdb.FieldMemoryAt, vdb.FieldCreatedAt, vdb.FieldValidFrom, vdb.FieldValidTo}

type instants [len(timeFields)]graphstore.Instant

// The places of the window of validity among them.
const (
	validFromAt = 2
	validToAt   = 3
)

func instantsOf(p vdb.Payload) instants {
	return instants{graphstore.InstantOf(p.MemoryAt), graphstore.InstantOf(p.CreatedAt),
		graphstore.InstantOf(p.ValidFrom), graphstore.InstantOf(p.ValidTo)}
}

// filter is a vdb.Filter made ready. Its conditions on the content are not part of passes: a matrix does not hold the
// contents, so they are asked of the file.
type filter struct {
	anyOf    [][]facet          // a point needs one facet of each
	windows  []window           // and an instant in each
	contents [][]string         // and a content among each
	validAt  graphstore.Instant // and a window of validity that holds this time, if it is present
}

// window holds for a present instant in [from, to); an absent bound is open.
type window struct {
	field    int
	from, to graphstore.Instant
}

// newFilter compiles a valid filter. A time matched by its text is refused: no text is the one spelling of a time.
func newFilter(f vdb.Filter) (filter, error) {
	out := filter{validAt: graphstore.InstantOf(f.ValidAt)} // cut to the microsecond: stored times are whole, so no answer changes
	for i, m := range f.Match {
		switch {
		case slices.Contains(timeFields[:], m.Field):
			return filter{}, fmt.Errorf("%w: filter.match[%d]: field %q is a time: want a range", vdb.ErrBadQuery, i, m.Field)
		case m.Field == vdb.FieldContent:
			out.contents = append(out.contents, m.Any)
		default:
			var any facets
			for _, text := range m.Any {
				any.addText(m.Field, text)
			}
			out.anyOf = append(out.anyOf, any)
		}
	}
	for _, r := range f.Range {
		out.windows = append(out.windows, window{slices.Index(timeFields[:], r.Field), nextInstant(r.From), nextInstant(r.To)})
	}
	return out, nil
}

// nextInstant returns the first whole microsecond that is not before t: the bound that lets the same stored times, which
// are whole, pass as t itself, at either end of a window.
func nextInstant(t time.Time) graphstore.Instant {
	at := graphstore.InstantOf(t)
	if at.Present() && t.Nanosecond()%1000 != 0 {
		at = graphstore.InstantOfMicros(at.Micros() + 1)
	}
	return at
}

// isEmpty reports whether every point passes.
func (f filter) isEmpty() bool {
	return len(f.anyOf)+len(f.windows)+len(f.contents) == 0 && !f.validAt.Present()
}

// passes reports whether a point with these facets and instants meets every condition but those on the content.
func (f filter) passes(has []facet, at instants) bool {
	for _, any := range f.anyOf {
		if !intersects(any, has) {
			return false
		}
	}
	for _, w := range f.windows {
		t := at[w.field]
		if !t.Present() || (w.from.Present() && t < w.from) || (w.to.Present() && t >= w.to) {
			return false
		}
	}
	return !f.validAt.Present() || at.validAt(f.validAt)
}

// validAt reports whether the window of validity holds t; an absent bound is open.
func (at instants) validAt(t graphstore.Instant) bool {
	from, to := at[validFromAt], at[validToAt]
	return (!from.Present() || from <= t) && (!to.Present() || t < to)
}

// intersects compares all with all: both lists are short.
func intersects(a, b []facet) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}

// passesPayload decides on a payload in hand, content included.
func (f filter) passesPayload(p vdb.Payload) bool {
	for _, any := range f.contents {
		if p.Content == "" || !slices.Contains(any, p.Content) {
			return false
		}
	}
	var has facets
	has.addPayload(p)
	return f.passes(has, instantsOf(p))
}
