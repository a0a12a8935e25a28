package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// Hybrid implements [vdb.Store]: both searches, and the cosines, from one state of the user.
func (s *Store) Hybrid(ctx context.Context, q vdb.HybridQuery) (vdb.HybridMatches, error) {
	leave, err := s.enter(ctx, "hybrid search")
	if err != nil {
		return vdb.HybridMatches{}, err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return vdb.HybridMatches{}, fmt.Errorf("hybrid search: %w", err)
	}
	if err := q.Validate(dim); err != nil {
		return vdb.HybridMatches{}, err
	}
	f, err := newFilter(q.Filter)
	if err != nil || dim == 0 { // without a dimension there is no point
		return vdb.HybridMatches{}, err
	}
	var matches vdb.HybridMatches
	err = s.snapshot(ctx, func(tx *sql.Tx) (err error) {
		matches, err = s.hybrid(ctx, tx, dim, q, f)
		return err
	})
	return matches, wrap(ctx, "hybrid search", err)
}

// hybrid answers from the user's matrix and the word index as of the transaction, and reads the payloads of both lists in
// one statement.
func (s *Store) hybrid(ctx context.Context, tx *sql.Tx, dim int, q vdb.HybridQuery, f filter) (vdb.HybridMatches, error) {
	var out vdb.HybridMatches
	m, err := s.matrixIn(ctx, tx, q.Space, dim)
	if err != nil || m == nil {
		return out, err
	}
	take, err := s.accepts(ctx, tx, m, f)
	if err != nil {
		return out, err
	}
	near := m.nearest(q.Vector, q.Limit, take)
	worded, err := s.keywordHits(ctx, tx, m, q.Limit, take, queryWords(q.Text))
	if err != nil {
		return out, err
	}
	fill, err := s.readPayloads(ctx, tx, m, slices.Concat(payloadHits(q.Query, near), worded))
	if err != nil {
		return out, err
	}
	if out.Dense, err = fill.answer(q.Query, near, dim); err != nil {
		return vdb.HybridMatches{}, err
	}
	if out.Keyword, err = fill.matches(q.Space, worded); err != nil {
		return vdb.HybridMatches{}, err
	}
	queryLength := length(q.Vector)
	out.Cosines = make([]float64, len(worded))
	for i, h := range worded {
		out.Cosines[i] = cosine(q.Vector, queryLength, h.unit(h.i, dim))
	}
	return out, nil
}
