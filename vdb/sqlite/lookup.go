package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Get implements [vdb.Store].
func (s *Store) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	if space.IsZero() {
		return nil, fmt.Errorf("get: %w", graphstore.ErrNoSpace)
	}
	leave, err := s.enter(ctx, "get")
	if err != nil {
		return nil, err
	}
	defer leave()
	found, err := s.byID(ctx, space, ids, withVectors)
	if err != nil {
		return nil, wrap(ctx, "get", err)
	}
	points := make([]vdb.Point, 0, len(found))
	for _, id := range ids {
		if f, ok := found[id]; ok {
			if withVectors {
				f.point.Vector = restore(f.unit, f.norm)
			}
			points = append(points, f.point)
			delete(found, id) // a repeated id gives its point once
		}
	}
	return points, nil
}

// Score implements [vdb.Store].
func (s *Store) Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error) {
	leave, err := s.enter(ctx, "score")
	if err != nil {
		return nil, err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	q.Limit = 1 // the contract ignores it
	if err := q.Validate(dim); err != nil {
		return nil, err
	}
	f, err := newFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	if len(ids) > vdb.MaxLimit {
		return nil, fmt.Errorf("%w: %d ids: want at most %d", vdb.ErrBadQuery, len(ids), vdb.MaxLimit)
	}
	found, err := s.byID(ctx, q.Space, ids, true)
	if err != nil {
		return nil, wrap(ctx, "score", err)
	}
	return scoreFound(found, q, f), nil
}

func scoreFound(found map[string]foundPoint, q vdb.Query, f filter) []vdb.Match {
	matches := make([]vdb.Match, 0, len(found))
	queryLength := length(q.Vector)
	for _, p := range found {
		if !f.passesPayload(p.point.Payload) {
			continue
		}
		if q.WithVectors {
			p.point.Vector = restore(p.unit, p.norm)
		}
		if q.NoPayload {
			p.point.Payload = vdb.Payload{}
		}
		matches = append(matches, vdb.Match{Point: p.point, Score: cosine(q.Vector, queryLength, p.unit)})
	}
	slices.SortFunc(matches, compareMatches)
	return matches
}

// foundPoint is a point read by id, with its vector as stored where that was asked for.
type foundPoint struct {
	point vdb.Point
	norm  float64
	unit  []float32
}

// byID reads the points with these ids of one space in one statement.
func (s *Store) byID(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) (map[string]foundPoint, error) {
	found := make(map[string]foundPoint, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	reader := pointReader{withVectors: withVectors, space: space}
	stmt := s.reads.byID
	if withVectors {
		stmt = s.reads.byIDWithVectors
	}
	rows, err := stmt.QueryContext(ctx, space.UserID(), textList(ids))
	if err != nil {
		return nil, err
	}
	err = reader.each(rows, func(p foundPoint, _ int64) { found[p.point.ID] = p })
	return found, err
}

// pointReader reads whole points from the columns [norm, unit,] [user_id,] row, id, payloadColumns.
type pointReader struct {
	withVectors bool
	space       graphstore.Space // of all points; zero: the column user_id says it
}

// each calls fn with every point and its row, and closes the rows.
func (r pointReader) each(rows *sql.Rows, fn func(p foundPoint, row int64)) error {
	defer func() { _ = rows.Close() }() // Err says what went wrong
	var (
		p       foundPoint
		unit    sql.RawBytes
		user    string
		row     int64
		columns payloadRow
		into    []any
	)
	if r.withVectors {
		into = append(into, &p.norm, &unit)
	}
	if r.space.IsZero() {
		into = append(into, &user)
	}
	into = append(into, &row, &p.point.ID)
	into = append(into, columns.targets()...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		var err error
		if p.point.Payload, err = columns.payload(); err != nil {
			return fmt.Errorf("point %s: %w", graphstore.Shorten(p.point.ID), err)
		}
		if p.point.Space = r.space; r.space.IsZero() {
			if p.point.Space, err = graphstore.NewSpace(user); err != nil {
				return fmt.Errorf("%w: %w", ErrCorrupt, err)
			}
		}
		p.unit = decodeVector(nil, unit)
		fn(p, row)
	}
	return rows.Err()
}
