package vdb

import "fmt"

// HybridQuery asks, in one call, for the points of one space nearest to a vector and for those that share words with a
// text. Space, Filter and Limit hold for each of the two lists by itself; WithVectors and NoPayload for the dense one only.
type HybridQuery struct {
	Query
	Text string // at most MaxTextBytes; one without words is no error
}

// HybridMatches is the answer to a [HybridQuery]: two lists that are not merged. A point that both found is in both.
type HybridMatches struct {
	Dense   []Match // as Search answers
	Keyword []Match // as Keyword answers: Score is the raw BM25 score
	// Cosines has one element for each of Keyword, in its order: the cosine of the point to the vector, exactly as Search
	// scores it. NaN where the store does not know it: a point without a vector, or one that was written in the moment of the
	// call.
	Cosines []float64
}

// Validate reports, wrapped in [ErrBadQuery], a rule that the query breaks. dim 0 skips the dimension.
func (q HybridQuery) Validate(dim int) error {
	if err := q.Query.Validate(dim); err != nil {
		return err
	}
	return firstBad(checkText(q.Text))
}

// KeywordQuery is the part of the query that Keyword answers by itself.
func (q HybridQuery) KeywordQuery() KeywordQuery {
	return KeywordQuery{Space: q.Space, Text: q.Text, Filter: q.Filter, Limit: q.Limit}
}

func checkText(text string) error {
	if len(text) > MaxTextBytes {
		return fmt.Errorf("text has %d bytes: want at most %d", len(text), MaxTextBytes)
	}
	return nil
}
