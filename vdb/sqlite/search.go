package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// Search implements [vdb.Store]. The answer is exact.
func (s *Store) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	leave, err := s.enter(ctx, "search")
	if err != nil {
		return nil, err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if err := q.Validate(dim); err != nil {
		return nil, err
	}
	f, err := newFilter(q.Filter)
	if err != nil || dim == 0 { // without a dimension there is no point
		return nil, err
	}
	matches, err := s.search(ctx, dim, q, f)
	return matches, wrap(ctx, "search", err)
}

// search first tries the matrix at hand. When the user was written to since, everything is done again in one
// transaction, which no writer can make stale.
func (s *Store) search(ctx context.Context, dim int, q vdb.Query, f filter) (matches []vdb.Match, err error) {
	if m := s.cache.get(q.Space); m != nil && !m.stale.Load() {
		matches, fresh, err := s.searchMatrix(ctx, nil, m, q, f)
		if err != nil || fresh {
			return matches, err
		}
	}
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		m, err := s.matrixIn(ctx, tx, q.Space, dim)
		if err != nil || m == nil {
			return err
		}
		matches, _, err = s.searchMatrix(ctx, tx, m, q, f)
		return err
	})
	return matches, err
}

// searchMatrix answers from one matrix and reports whether that was still the state of the user when the payloads were
// read. tx may be nil.
func (s *Store) searchMatrix(ctx context.Context, tx *sql.Tx, m *matrix, q vdb.Query, f filter) ([]vdb.Match, bool, error) {
	take, err := s.accepts(ctx, tx, m, f)
	if err != nil {
		return nil, false, err
	}
	hits := m.nearest(q.Vector, q.Limit, take)
	fill, err := s.readPayloads(ctx, tx, m, payloadHits(q, hits))
	if err != nil || fill.rev != m.rev {
		return nil, false, err
	}
	matches, err := fill.answer(q, hits, m.dim)
	return matches, err == nil, err
}

// accepts returns the filter as a function on the points of the matrix; nil accepts all.
func (s *Store) accepts(ctx context.Context, tx *sql.Tx, m *matrix, f filter) (func(place) bool, error) {
	if f.isEmpty() {
		return nil, nil
	}
	lists := make([][]int64, len(f.contents))
	for i, contents := range f.contents {
		var err error
		if lists[i], err = s.rowsWithContent(ctx, tx, m.userNo, contents); err != nil {
			return nil, err
		}
	}
	return func(p place) bool {
		if !f.passes(p.facetsOf(p.i), p.at()) {
			return false
		}
		for _, rows := range lists {
			if _, ok := slices.BinarySearch(rows, p.row()); !ok {
				return false
			}
		}
		return true
	}, nil
}

// rowsWithContent returns the user's rows whose content is one of the given, ascending.
func (s *Store) rowsWithContent(ctx context.Context, tx *sql.Tx, userNo int64, contents []string) ([]int64, error) {
	first, last := rowRange(userNo)
	rows, err := query(ctx, tx, s.reads.contents, first, last, textList(contents))
	if err != nil {
		return nil, fmt.Errorf("filter by content: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err says what went wrong
	var found []int64
	for rows.Next() {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return nil, fmt.Errorf("filter by content: %w", err)
		}
		found = append(found, row)
	}
	slices.Sort(found)
	return found, rows.Err()
}
