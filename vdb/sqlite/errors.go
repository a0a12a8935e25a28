package sqlite

import (
	"context"
	"errors"
	"fmt"

	sqlite "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"github.com/kithgraph/kith/vdb"
)

// ErrForeignFile reports a file that is no kith vector store: another SQLite database, or no database at all. It is left
// as it was.
var ErrForeignFile = errors.New("file is not a kith vector store")

// ErrCorrupt is [vdb.ErrCorrupt].
var ErrCorrupt = vdb.ErrCorrupt

// wrap gives an error of the database the name of the operation and, where a caller branches on it, a kind. A cancelled
// or expired context wins, because the driver reports it as an interrupted statement.
func wrap(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return fmt.Errorf("%s: %w", op, ctxErr)
	}
	if kind := kindOf(err); kind != nil {
		return fmt.Errorf("%s: %w: %w", op, kind, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// kindOf maps SQLite's primary result codes, the low byte of the extended ones.
func kindOf(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return nil
	}
	switch e.Code() & 0xff {
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED, sqlitelib.SQLITE_FULL, sqlitelib.SQLITE_IOERR, sqlitelib.SQLITE_CANTOPEN:
		return vdb.ErrUnavailable
	case sqlitelib.SQLITE_CORRUPT:
		return ErrCorrupt
	case sqlitelib.SQLITE_NOTADB:
		return ErrForeignFile
	default:
		return nil
	}
}
