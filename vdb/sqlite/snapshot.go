package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// snapshot runs fn in a read transaction: all its statements see the file in one state.
func (s *Store) snapshot(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return wrap(ctx, "begin", err)
	}
	return errors.Join(fn(tx), rollback(tx))
}

// in returns the statement as part of the transaction, or as it is without one.
func in(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt) *sql.Stmt {
	if tx == nil {
		return stmt
	}
	return tx.StmtContext(ctx, stmt)
}
