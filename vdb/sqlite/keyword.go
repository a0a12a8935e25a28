package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kithgraph/kith/vdb"
)

// Keyword implements [vdb.Store]: BM25 by SQLite's FTS5.
func (s *Store) Keyword(ctx context.Context, q vdb.KeywordQuery) ([]vdb.Match, error) {
	leave, err := s.enter(ctx, "keyword search")
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := q.Validate(); err != nil {
		return nil, err
	}
	f, err := newFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	words := queryWords(q.Text)
	dim, err := s.dimension(ctx)
	if err != nil || dim == 0 || len(words) == 0 {
		return nil, wrap(ctx, "keyword search", err)
	}
	var matches []vdb.Match
	err = s.snapshot(ctx, func(tx *sql.Tx) (err error) {
		matches, err = s.keyword(ctx, tx, dim, q, f, words)
		return err
	})
	return matches, wrap(ctx, "keyword search", err)
}

// keyword finds rows in the index and takes the rest, ids and filter, from the user's matrix.
func (s *Store) keyword(ctx context.Context, tx *sql.Tx, dim int, q vdb.KeywordQuery, f filter, words []string) ([]vdb.Match, error) {
	m, err := s.matrixIn(ctx, tx, q.Space, dim)
	if err != nil || m == nil {
		return nil, err
	}
	take, err := s.accepts(ctx, tx, m, f)
	if err != nil {
		return nil, err
	}
	hits, err := s.keywordHits(ctx, tx, m, q.Limit, take, words)
	if err != nil {
		return nil, err
	}
	fill, err := s.readPayloads(ctx, tx, m, hits)
	if err != nil {
		return nil, err
	}
	return fill.matches(q.Space, hits)
}

// keywordHits returns the best points of the matrix for the words, none for no words.
func (s *Store) keywordHits(ctx context.Context, tx *sql.Tx, m *matrix, limit int, take func(place) bool, words []string) ([]hit, error) {
	if len(words) == 0 {
		return nil, nil
	}
	hits, err := s.best(ctx, tx, m, limit, take, matchExpression(m.userNo, words))
	if err != nil {
		return nil, fmt.Errorf("read word index: %w", err)
	}
	return hits, nil
}

// best returns the first limit points by score, then id, that take accepts. The index gives rows by score only, so it is
// read on while scores equal the last one needed.
func (s *Store) best(ctx context.Context, tx *sql.Tx, m *matrix, limit int, take func(place) bool, expression string) ([]hit, error) {
	rows, err := query(ctx, tx, s.reads.words, expression)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err says what went wrong
	var hits []hit
	for rows.Next() {
		var row int64
		var score float64
		if err := rows.Scan(&row, &score); err != nil {
			return nil, err
		}
		if len(hits) >= limit && score < hits[limit-1].score {
			break
		}
		p, ok := m.find(row)
		if !ok {
			return nil, fmt.Errorf("%w: words of row %d without a point", ErrCorrupt, row)
		}
		if take == nil || take(p) {
			hits = append(hits, hit{p, max(0, score)})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(limit, len(hits))], nil
}

// queryWords returns the distinct words of a text, sorted: their order and number must not change the answer.
func queryWords(text string) []string {
	words := vdb.Tokenize(text)
	slices.Sort(words)
	return slices.Compact(words)
}

// matchExpression asks for the points of one user with any of the words. Words hold neither quotes nor other syntax of
// FTS5, see vdb.Tokenize; they are quoted all the same.
func matchExpression(userNo int64, words []string) string {
	var b strings.Builder
	b.WriteString("u : ")
	b.WriteString(userToken(userNo))
	b.WriteString(" AND t : (")
	for i, word := range words {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(word, `"`, `""`))
		b.WriteByte('"')
	}
	b.WriteByte(')')
	return b.String()
}

// userToken is the one token in the column u of a user's points.
func userToken(userNo int64) string { return "u" + strconv.FormatInt(userNo, 10) }

// compareMatches is the order of every answer: score descending, then id ascending.
func compareMatches(a, b vdb.Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}
