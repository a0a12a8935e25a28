package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// SchemaVersion is the version of the layout this package reads and writes.
const SchemaVersion = 1

// applicationID marks the file in its header, where file(1) and SQLite's tools look: "kith" in ASCII.
const applicationID = 0x6b697468

// pageSize is set when a file is made: pages of 16 KiB hold ten vectors of 384 numbers and waste little.
const pageSize = 16384

const ddl = `
CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
	user_no     INTEGER PRIMARY KEY,
	user_id     TEXT NOT NULL UNIQUE,
	next_seq    INTEGER NOT NULL,
	points      INTEGER NOT NULL,
	rev         INTEGER NOT NULL, -- counts the writes
	deleted_rev INTEGER NOT NULL  -- rev of the last write that removed a point
) STRICT;

CREATE TABLE facts (
	row        INTEGER PRIMARY KEY, -- user_no << 32 | seq
	user_no    INTEGER NOT NULL,
	rev        INTEGER NOT NULL,    -- users.rev when the point was written
	id         TEXT NOT NULL,
	content    TEXT,                -- absent fields are NULL
	agent_id   TEXT,
	state      TEXT,
	version    INTEGER,
	episode_id TEXT,
	batch_id   TEXT,
	source_id  TEXT,
	tags       TEXT,                -- JSON array
	memory_at  INTEGER,             -- microseconds since 1970, UTC; as are the next
	created_at INTEGER,
	valid_from INTEGER,
	valid_to   INTEGER,
	extra      TEXT                 -- JSON object
) STRICT;
CREATE UNIQUE INDEX facts_by_id ON facts (user_no, id);
CREATE INDEX facts_by_rev ON facts (user_no, rev);

CREATE TABLE vecs (
	row  INTEGER PRIMARY KEY,
	norm REAL NOT NULL, -- length of the vector as it was given
	unit BLOB NOT NULL  -- the vector scaled to length 1, float32 little endian
) STRICT;

-- Tokens are made by the program; u holds one that names the user, t those of the content. The tokenizer splits at blanks
-- only, because tokens have no other ASCII characters than letters and digits.
CREATE VIRTUAL TABLE words USING fts5 (u, t, content='', contentless_delete=1, tokenize='ascii');
`

// The keys of the table meta.
const (
	metaSchema    = "schema_version"
	metaDimension = "dimension"
	metaNextUser  = "next_user_no" // lowest number for a new user; absent as long as none was erased
)

// checkOwner refuses a database that is not ours or too new, before anything of it is changed, and reports whether it is
// still empty.
func checkOwner(ctx context.Context, db *sql.DB) (empty bool, err error) {
	var app, objects int64
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
		return false, wrap(ctx, "read schema", err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return false, wrap(ctx, "read application id", err)
	}
	if app == 0 && objects == 0 {
		return true, nil
	}
	if app != applicationID {
		return false, fmt.Errorf("%w: application id %#x: want %#x", ErrForeignFile, app, int64(applicationID))
	}
	version, err := readMeta(ctx, db, metaSchema)
	if err != nil {
		return false, err
	}
	if version != SchemaVersion {
		return false, fmt.Errorf("schema version %d: this build knows %d: use the build that wrote the file", version, SchemaVersion)
	}
	return false, nil
}

// createSchema makes the tables, unless another process was faster. db begins transactions with the write lock.
func createSchema(ctx context.Context, db *sql.DB) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return wrap(ctx, "begin", err)
	}
	defer func() { err = finish(ctx, tx, err) }()
	var objects int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
		return wrap(ctx, "read schema", err)
	}
	if objects > 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, ddl); err != nil {
		return wrap(ctx, "create tables", err)
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA application_id = "+strconv.Itoa(applicationID)); err != nil {
		return wrap(ctx, "write application id", err)
	}
	return writeMeta(ctx, tx, metaSchema, SchemaVersion)
}

// finish commits when err is nil and rolls back otherwise.
func finish(ctx context.Context, tx *sql.Tx, err error) error {
	if err != nil {
		return errors.Join(err, rollback(tx))
	}
	return wrap(ctx, "commit", tx.Commit())
}

// rollback ends a transaction that may have been ended by its context.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// rowQuerier is what reads meta in and out of transactions.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readMeta returns a number of the table meta, 0 when it is not there.
func readMeta(ctx context.Context, q rowQuerier, key string) (int64, error) {
	var value int64
	err := q.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return value, wrap(ctx, "read "+key, err)
}

func writeMeta(ctx context.Context, tx *sql.Tx, key string, value int64) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES (?, ?)", key, value)
	return wrap(ctx, "write "+key, err)
}
