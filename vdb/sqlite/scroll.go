package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Scroll implements [vdb.Store]. The order is that in which users and, within a user, points were first stored.
func (s *Store) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	leave, err := s.enter(ctx, "scroll")
	if err != nil {
		return vdb.Page{}, err
	}
	defer leave()
	if err := q.Validate(); err != nil {
		return vdb.Page{}, err
	}
	after, err := parseCursor(q.After)
	if err != nil {
		return vdb.Page{}, err
	}
	last := int64(math.MaxInt64)
	if !q.AllSpaces {
		first, end, ok, err := s.spaceRows(ctx, q.Space)
		if err != nil || !ok {
			return vdb.Page{}, err
		}
		if q.After == "" {
			after = first - 1
		} else if after < first || after > end {
			return vdb.Page{}, badCursor(q.After)
		}
		last = end
	}
	page, err := s.page(ctx, q, after, last)
	return page, wrap(ctx, "scroll", err)
}

// spaceRows returns the range of rows of a user; false when the user does not exist.
func (s *Store) spaceRows(ctx context.Context, space graphstore.Space) (first, last int64, ok bool, err error) {
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		user, err := s.readUser(ctx, tx, space)
		first, last = rowRange(user.no)
		ok = user.no != 0
		return err
	})
	return first, last, ok, wrap(ctx, "scroll", err)
}

// page reads one point more than asked for, to know whether another page follows.
func (s *Store) page(ctx context.Context, q vdb.ScrollQuery, after, last int64) (vdb.Page, error) {
	stmt := s.reads.scroll
	if q.WithVectors {
		stmt = s.reads.scrollWithVectors
	}
	rows, err := stmt.QueryContext(ctx, after, last, q.Limit+1)
	if err != nil {
		return vdb.Page{}, err
	}
	var page vdb.Page
	var end int64
	err = pointReader{withVectors: q.WithVectors}.each(rows, func(p foundPoint, row int64) {
		if len(page.Points) == q.Limit {
			page.Next = formatCursor(end)
			return
		}
		if q.WithVectors {
			p.point.Vector = restore(p.unit, p.norm)
		}
		page.Points, end = append(page.Points, p.point), row
	})
	if err != nil {
		return vdb.Page{}, err
	}
	return page, nil
}

// A cursor is the row of the last point returned, as "r" and 16 hexadecimal digits.
func formatCursor(row int64) string { return fmt.Sprintf("r%016x", row) }

func parseCursor(cursor string) (row int64, err error) {
	if cursor == "" {
		return 0, nil
	}
	if len(cursor) == 17 && cursor[0] == 'r' {
		if row, err := strconv.ParseInt(cursor[1:], 16, 64); err == nil && row >= 1<<32 && formatCursor(row) == cursor {
			return row, nil
		}
	}
	return 0, badCursor(cursor)
}

func badCursor(cursor string) error {
	return fmt.Errorf("%w: cursor %s is not one of this scroll", vdb.ErrBadQuery, graphstore.Shorten(cursor))
}
