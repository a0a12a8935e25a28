package kuzu

import (
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// stampColumns are the columns of a stamp of a record that has one.
func stampColumns() []column {
	return []column{{"version", integer}, {"rank", integer}, {"event", ref}, {"event_at", integer}, {"source", ref}}
}

// stampValues returns the values of stampColumns.
func stampValues(s graphstore.Stamp, number func(string) int64) []any {
	return []any{s.Version, int64(s.Rank), number(s.EventID), int64(s.At), number(s.Source)}
}

// stamp takes what stampValues returned.
func (r *rowReader) stamp() graphstore.Stamp {
	s := r.place()
	r.origin(&s)
	return s
}

// place takes version, rank and event.
func (r *rowReader) place() graphstore.Stamp {
	s := graphstore.Stamp{Version: next[int64](r)}
	rank := next[int64](r)
	if r.err == nil && (rank < 0 || rank > math.MaxUint8) {
		r.err = fmt.Errorf("rank %d: out of range", rank)
	}
	s.Rank, s.EventID = graphstore.Rank(rank), r.text()
	return s
}

// origin takes where the write of a stamp came from.
func (r *rowReader) origin(s *graphstore.Stamp) { s.At, s.Source = r.instant(), r.text() }

// bit returns how a yes or no is stored.
func bit(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// bit takes a yes or no.
func (r *rowReader) bit() bool {
	n := next[int64](r)
	if r.err == nil && n != 0 && n != 1 {
		r.err = fmt.Errorf("bit %d: want 0 or 1", n)
	}
	return n == 1
}
