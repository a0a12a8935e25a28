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

// query runs a prepared statement as part of the transaction, or by itself when tx is nil.
func query(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt, args ...any) (*sql.Rows, error) {
	return in(ctx, tx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // see in
}

// queryRow is query for one row.
func queryRow(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt, args ...any) *sql.Row {
	return in(ctx, tx, stmt).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // see in
}

// in returns the statement bound to the transaction, whose end closes it; without one the statement itself, which the
// handle closes.
func in(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt) *sql.Stmt {
	if tx == nil {
		return stmt
	}
	return tx.StmtContext(ctx, stmt)
}
