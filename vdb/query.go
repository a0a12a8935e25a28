package vdb

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// MaxLimit is the largest number of matches or points one call may ask for.
const MaxLimit = 10_000

// MaxQueries is the most queries that one SearchMany may have, and MaxQueryMatches the most that their limits may add up to.
const (
	MaxQueries      = 1024
	MaxQueryMatches = 10 * MaxLimit
)

// MaxTextBytes is the longest text of a keyword search. A question has some hundred bytes; the work grows with the words.
const MaxTextBytes = 16 << 10

// Query asks for the points of one space nearest to a vector.
type Query struct {
	Space       graphstore.Space
	Vector      []float32 // of the collection's dimension, finite, not all zero
	Filter      Filter
	Limit       int  // 1 to MaxLimit
	WithVectors bool // also return the points' vectors
	// NoPayload leaves the payloads out: matches have their space, id and score, and the zero Payload. It is for who asks much
	// and needs no more than that.
	NoPayload bool
}

// KeywordQuery asks for the points of one space whose content matches words of a text (BM25; CJK text by bigrams).
type KeywordQuery struct {
	Space  graphstore.Space
	Text   string // at most MaxTextBytes
	Filter Filter
	Limit  int // 1 to MaxLimit
}

// Filter is a conjunction of conditions; the zero Filter lets every point of the space pass.
type Filter struct {
	Match []FieldMatch
	Range []TimeRange
	// ValidAt lets only points pass whose window [valid_from, valid_to) holds this time; an absent bound is open. The zero
	// time lets all pass.
	ValidAt time.Time
}

// FieldMatch holds for a point whose field equals one of the values; for a list (tags, or a list in Extra) whose list
// contains one. An absent field never matches, not even "". A time field has no text to match: use a range. Field is one of kith's names or a top-level key of Extra holding a string, an integer (compared by its decimal text) or a bool. For FieldState the value
// "active" also matches points without a state. A FieldMatch without values is an error: it never means "any".
type FieldMatch struct {
	Field string
	Any   []string
}

// TimeRange holds for a point whose time field lies in [From, To); an absent bound is open. A point without the field
// does not pass.
type TimeRange struct {
	Field    string // FieldMemoryAt, FieldCreatedAt, FieldValidFrom or FieldValidTo
	From, To time.Time
}

// ScrollQuery asks for one page of points in id order.
type ScrollQuery struct {
	// Space restricts the scroll to one user. The zero Space is refused unless AllSpaces is set.
	Space       graphstore.Space
	AllSpaces   bool   // an operator's scan over the whole collection
	After       string // cursor of the previous page; empty for the first
	Limit       int    // 1 to MaxLimit
	WithVectors bool   // of the searched vector; a point that has none is returned without
}

// Page is one page of a scroll.
type Page struct {
	Points []Point
	// Next is the opaque cursor of the next page, empty at the end. It stays good over restarts and writes: points that exist
	// throughout are returned exactly once.
	Next string
	// Skipped describes points that could not be read as facts (no user id, ids out of rule): at most Limit texts.
	Skipped []string
	// Ignored counts the values that are not what their field wants, like a list for a time, and count as absent. IgnoredTexts
	// describes the first MaxIgnoredTexts of them: point, field, value, rule.
	Ignored      int
	IgnoredTexts []string
}

// MaxIgnoredTexts is the most texts that a page describes ignored values with.
const MaxIgnoredTexts = 20

// Validate reports, wrapped in [ErrBadQuery], every rule that the query breaks. dim 0 skips the dimension.
func (q Query) Validate(dim int) error {
	return firstBad(
		checkSpace(q.Space),
		checkLimit(q.Limit),
		q.Filter.validate(),
		checkVector("vector", q.Vector, dim),
	)
}

// ValidateMany reports what makes queries no argument of [Store.SearchMany]: the first query that breaks a rule, by its index,
// or their number and limits. It is wrapped in [ErrBadQuery]. dim 0 skips the dimension.
func ValidateMany(queries []Query, dim int) error {
	if len(queries) > MaxQueries {
		return firstBad(fmt.Errorf("%d queries: want at most %d", len(queries), MaxQueries))
	}
	matches := 0
	for i, q := range queries {
		if err := q.Validate(dim); err != nil {
			return fmt.Errorf("queries[%d]: %w", i, err)
		}
		matches += q.Limit
	}
	if matches > MaxQueryMatches {
		return firstBad(fmt.Errorf("limits of %d queries add up to %d: want at most %d", len(queries), matches, MaxQueryMatches))
	}
	return nil
}

// Validate reports, wrapped in [ErrBadQuery], every rule that the query breaks.
func (q KeywordQuery) Validate() error {
	return firstBad(checkSpace(q.Space), checkLimit(q.Limit), q.Filter.validate(), checkText(q.Text))
}

// Validate reports, wrapped in [ErrBadQuery], every rule that the query breaks.
func (q ScrollQuery) Validate() error {
	var space error
	if !q.AllSpaces {
		space = checkSpace(q.Space)
	} else if !q.Space.IsZero() {
		space = fmt.Errorf("space %s: not together with all_spaces", graphstore.Shorten(q.Space.UserID()))
	}
	return firstBad(space, checkLimit(q.Limit))
}

// Validate reports, wrapped in [ErrBadPoint], what makes the point impossible to store in a collection of dimension dim
// (0 skips the dimension).
func (p Point) Validate(dim int) error {
	if p.Space.IsZero() {
		return fmt.Errorf("%w: %w", ErrBadPoint, graphstore.ErrNoSpace)
	}
	if err := graphstore.CheckID(p.ID); err != nil {
		return fmt.Errorf("%w: id %w", ErrBadPoint, err)
	}
	if canon := graphstore.CanonicalFactID(p.ID); canon != p.ID {
		return fmt.Errorf("%w: id %s: want the canonical form %q", ErrBadPoint, graphstore.Shorten(p.ID), canon)
	}
	if err := checkVector("vector", p.Vector, dim); err != nil {
		return fmt.Errorf("%w: point %s: %w", ErrBadPoint, graphstore.Shorten(p.ID), err)
	}
	for key := range p.Payload.Extra {
		if slices.Contains(Fields(), key) {
			return fmt.Errorf("%w: point %s: payload field %q is reserved", ErrBadPoint, graphstore.Shorten(p.ID), key)
		}
	}
	return nil
}

func firstBad(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBadQuery, err)
		}
	}
	return nil
}

func checkSpace(s graphstore.Space) error {
	if s.IsZero() {
		return graphstore.ErrNoSpace
	}
	return nil
}

func checkLimit(limit int) error {
	if limit < 1 || limit > MaxLimit {
		return fmt.Errorf("limit %d: want 1 to %d", limit, MaxLimit)
	}
	return nil
}

// checkVector reports a missing, wrongly sized, non-finite or all-zero vector.
func checkVector(field string, v []float32, dim int) error {
	if len(v) == 0 {
		return fmt.Errorf("%s is empty", field)
	}
	if dim != 0 && len(v) != dim {
		return &DimensionError{Got: len(v), Want: dim}
	}
	zero := true
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("%s[%d] = %v: want a finite number", field, i, x)
		}
		zero = zero && x == 0
	}
	if zero {
		return fmt.Errorf("%s is all zero: it has no direction", field)
	}
	return nil
}

func (f Filter) validate() error {
	for i, m := range f.Match {
		switch {
		case m.Field == "":
			return fmt.Errorf("filter.match[%d]: field is empty", i)
		case m.Field == FieldUserID:
			return fmt.Errorf("filter.match[%d]: field %q is reserved: the query names its user", i, m.Field)
		case len(m.Any) == 0:
			return fmt.Errorf("filter.match[%d] (%s): no values: leave the condition out to match all", i, graphstore.Shorten(m.Field))
		}
	}
	times := []string{FieldMemoryAt, FieldCreatedAt, FieldValidFrom, FieldValidTo}
	for i, r := range f.Range {
		if !slices.Contains(times, r.Field) {
			return fmt.Errorf("filter.range[%d]: field %s: want one of %v", i, graphstore.Shorten(r.Field), times)
		}
		if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
			return fmt.Errorf("filter.range[%d] (%s): from %s is not before to %s", i, r.Field, r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
		}
	}
	return nil
}
