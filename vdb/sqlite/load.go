package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// userState is a row of the table users.
type userState struct {
	no         int64 // 0: the user does not exist
	rev        int64
	deletedRev int64
	points     int
}

// rowRange returns the first and the last row a user can have.
func rowRange(userNo int64) (first, last int64) { return userNo << 32, userNo<<32 | (1<<32 - 1) }

// readUser returns the state of a user in the transaction.
func (s *Store) readUser(ctx context.Context, tx *sql.Tx, space graphstore.Space) (u userState, err error) {
	err = queryRow(ctx, tx, s.reads.user, space.UserID()).Scan(&u.no, &u.rev, &u.deletedRev, &u.points)
	if errors.Is(err, sql.ErrNoRows) {
		return userState{}, nil
	}
	return u, wrap(ctx, "read user", err)
}

// matrixIn returns the user's matrix as of the transaction; nil when the user does not exist.
func (s *Store) matrixIn(ctx context.Context, tx *sql.Tx, space graphstore.Space, dim int) (*matrix, error) {
	user, err := s.readUser(ctx, tx, space)
	if err != nil || user.no == 0 {
		return nil, err
	}
	return s.cache.load(ctx, loadKey{space, user.no, user.rev}, func(base *matrix) (*matrix, error) {
		start := time.Now()
		l := loader{ctx: ctx, tx: tx, dim: dim, reads: &s.reads}
		m, err := l.load(user, base)
		if err != nil {
			return nil, err
		}
		s.cache.log.DebugContext(ctx, "vectors read", slog.String("user", space.UserID()), slog.Int("points", m.points()),
			slog.Bool("update", base != nil), slog.Int("bytes", m.bytes()), slog.Duration("took", time.Since(start)))
		return m, nil
	})
}

// loader reads points of one user into blocks.
type loader struct {
	ctx    context.Context
	tx     *sql.Tx
	reads  *reads
	dim    int
	blocks []*block
	expect int // points still to come, as far as known
}

// load reads the whole user, or only what was written after base when nothing was deleted since.
func (l *loader) load(user userState, base *matrix) (*matrix, error) {
	if base != nil && base.userNo == user.no && base.rev < user.rev && user.deletedRev <= base.rev {
		if err := l.read(l.reads.changedMeta, l.reads.changedVectors, user.no, base.rev); err != nil {
			return nil, err
		}
		if m, ok := base.updated(user.rev, l.places()); ok {
			return m, nil
		}
		l.blocks = nil
	}
	l.expect = user.points
	first, last := rowRange(user.no)
	if err := l.read(l.reads.meta, l.reads.vectors, first, last); err != nil {
		return nil, err
	}
	return &matrix{userNo: user.no, rev: user.rev, dim: l.dim, blocks: l.blocks}, nil
}

func (l *loader) places() []place {
	var places []place
	for _, b := range l.blocks {
		for i := range b.rows {
			places = append(places, place{b, i})
		}
	}
	return places
}

// read fills the blocks by two statements with the same arguments, both in the order of rows. One statement that joins
// the tables takes longer, because it seeks every vector.
func (l *loader) read(meta, vectors *sql.Stmt, args ...any) error {
	if err := l.readMeta(meta, args); err != nil {
		return fmt.Errorf("read points: %w", err)
	}
	if err := l.readVectors(vectors, args); err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return nil
}

func (l *loader) readMeta(stmt *sql.Stmt, args []any) error {
	rows, err := query(l.ctx, l.tx, stmt, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err says what went wrong
	var (
		row      int64
		id       string
		columns  payloadRow
		has      facets
		scanInto = append([]any{&row, &id}, columns.targets()[1:]...) // all but the content
	)
	for rows.Next() {
		if err := rows.Scan(scanInto...); err != nil {
			return err
		}
		p, err := columns.payload()
		if err != nil {
			return fmt.Errorf("point %s: %w", graphstore.Shorten(id), err)
		}
		has = has[:0]
		has.addPayload(p)
		l.last().addMeta(row, id, has, instantsOf(p))
	}
	return rows.Err()
}

// last returns the block to add a point to.
func (l *loader) last() *block {
	if n := len(l.blocks); n > 0 && l.blocks[n-1].len() < blockPoints {
		return l.blocks[n-1]
	}
	b := newBlock(min(max(l.expect, 1), blockPoints), l.dim)
	l.expect -= blockPoints
	l.blocks = append(l.blocks, b)
	return b
}

func (l *loader) readVectors(stmt *sql.Stmt, args []any) error {
	rows, err := query(l.ctx, l.tx, stmt, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err says what went wrong
	var (
		row  int64
		norm float64
		unit sql.RawBytes
	)
	for _, p := range l.places() {
		if !rows.Next() {
			if err := rows.Err(); err != nil {
				return err
			}
			return fmt.Errorf("%w: point %s has no vector", ErrCorrupt, graphstore.Shorten(p.id()))
		}
		if err := rows.Scan(&row, &norm, &unit); err != nil {
			return err
		}
		if row != p.row() || len(unit) != 4*l.dim {
			return fmt.Errorf("%w: vector of row %d with %d bytes: want row %d and %d bytes", ErrCorrupt, row, len(unit), p.row(), 4*l.dim)
		}
		p.addVector(norm, unit)
	}
	return rows.Err()
}
