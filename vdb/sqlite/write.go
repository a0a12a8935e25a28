package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// writing is one write transaction.
type writing struct {
	ctx   context.Context
	tx    *sql.Tx
	s     *writes
	users map[graphstore.Space]*writtenUser
}

// writtenUser is a row of the table users while the transaction changes it.
type writtenUser struct {
	no, nextSeq, points, rev, deletedRev int64
	changed                              bool
}

// write runs fn in a write transaction and commits what it did.
func (s *Store) write(ctx context.Context, fn func(w *writing) error) (err error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return wrap(ctx, "begin", err)
	}
	w := &writing{ctx: ctx, tx: tx, s: &s.writes, users: make(map[graphstore.Space]*writtenUser)}
	defer func() {
		if err = finish(ctx, tx, err); err != nil {
			return
		}
		for space, u := range w.users {
			if u.changed {
				s.cache.written(space, u.rev)
			}
		}
	}()
	if err := fn(w); err != nil {
		return wrap(ctx, "write", err)
	}
	return wrap(ctx, "write users", w.saveUsers())
}

func (w *writing) exec(stmt *sql.Stmt, args ...any) error {
	_, err := in(w.ctx, w.tx, stmt).ExecContext(w.ctx, args...) //nolint:sqlclosecheck // see in
	return err
}

// user returns the user of a space with the rev of this transaction; nil when it does not exist and add is false.
func (w *writing) user(space graphstore.Space, add bool) (*writtenUser, error) {
	if u := w.users[space]; u != nil {
		return u, nil
	}
	if add {
		if err := w.exec(w.s.addUser, space.UserID()); err != nil {
			return nil, err
		}
	}
	var u writtenUser
	err := queryRow(w.ctx, w.tx, w.s.user, space.UserID()).
		Scan(&u.no, &u.nextSeq, &u.points, &u.rev, &u.deletedRev)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if u.no >= 1<<31 {
		return nil, fmt.Errorf("user number %d: want less than 2^31", u.no)
	}
	u.rev++
	u.changed = add
	w.users[space] = &u
	return &u, nil
}

// nextRow returns the row of a new point. A row is never given out twice, so that a cursor of a scroll stays good.
func (u *writtenUser) nextRow() (int64, error) {
	if u.nextSeq >= 1<<32 {
		return 0, fmt.Errorf("user number %d has stored %d points over time: want less than 2^32", u.no, u.nextSeq)
	}
	row := u.no<<32 | u.nextSeq
	u.nextSeq++
	u.points++
	return row, nil
}

func (w *writing) saveUsers() error {
	for _, u := range w.users {
		if !u.changed {
			continue
		}
		if err := w.exec(w.s.setUser, u.nextSeq, u.points, u.rev, u.deletedRev, u.no); err != nil {
			return err
		}
	}
	return nil
}
