package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Count implements [vdb.Store].
func (s *Store) Count(ctx context.Context, space graphstore.Space) (int64, error) {
	if space.IsZero() {
		return 0, fmt.Errorf("count: %w", graphstore.ErrNoSpace)
	}
	leave, err := s.enter(ctx, "count")
	if err != nil {
		return 0, err
	}
	defer leave()
	user, err := s.readUser(ctx, nil, space)
	return int64(user.points), wrap(ctx, "count", err)
}

// Erase implements [vdb.Store]. Deleting a row leaves its bytes in the file in four places, each of which it cleans:
//
//  1. Free pages and gaps in pages: secure_delete overwrites them with zeros.
//  2. The word index: a row that is deleted there is only marked, its words stay in their segments until these are merged.
//     "optimize" merges all of them and leaves out what is marked.
//  3. What was deleted or replaced before, without secure_delete: VACUUM writes the file anew.
//  4. The write-ahead log: a checkpoint copies it into the file and truncates it.
//
// 2 and 3 take time with the file, about a second for 100 MB. Writers wait meanwhile; readers do not, but one that
// reads on for longer than the busy timeout keeps 4 from being done: [vdb.ErrUnavailable].
func (s *Store) Erase(ctx context.Context, space graphstore.Space) (points int64, err error) {
	if space.IsZero() {
		return 0, fmt.Errorf("erase: %w", graphstore.ErrNoSpace)
	}
	leave, err := s.enter(ctx, "erase")
	if err != nil {
		return 0, err
	}
	defer leave()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return 0, wrap(ctx, "erase", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	e := erasure{ctx: ctx, conn: conn}
	defer func() { err = errors.Join(err, e.pragma(context.WithoutCancel(ctx), "secure_delete = OFF")) }()
	if err := e.pragma(ctx, "secure_delete = ON"); err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	defer s.cache.drop(space)
	if points, err = e.rows(space); err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	return points, wrap(ctx, "erase: what was deleted stays in free pages", e.pages())
}

// erasure is one Erase, on the writing connection.
type erasure struct {
	ctx  context.Context
	conn *sql.Conn
}

func (e erasure) pragma(ctx context.Context, text string) error {
	_, err := e.conn.ExecContext(ctx, "PRAGMA "+text)
	return wrap(ctx, text, err)
}

// rows deletes everything of the user in one transaction.
func (e erasure) rows(space graphstore.Space) (points int64, err error) {
	tx, err := e.conn.BeginTx(e.ctx, nil)
	if err != nil {
		return 0, wrap(e.ctx, "begin", err)
	}
	defer func() { err = finish(e.ctx, tx, err) }()
	var userNo int64
	err = tx.QueryRowContext(e.ctx, "SELECT user_no FROM users WHERE user_id = ?", space.UserID()).Scan(&userNo)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, wrap(e.ctx, "read user", err)
	}
	first, last := rowRange(userNo)
	// The number of the user must not be used again: matrices in memory and words in the index go by it.
	_, err = tx.ExecContext(e.ctx, "INSERT INTO meta (key, value) SELECT ?, max(user_no) + 1 FROM users WHERE true "+
		"ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)", metaNextUser)
	if err != nil {
		return 0, wrap(e.ctx, "note number of user", err)
	}
	for _, text := range []string{
		"DELETE FROM words WHERE rowid IN (SELECT row FROM facts WHERE row BETWEEN ? AND ?)",
		"DELETE FROM vecs WHERE row BETWEEN ? AND ?",
		"DELETE FROM facts WHERE row BETWEEN ? AND ?", // the last: its rows are counted
	} {
		result, err := tx.ExecContext(e.ctx, text, first, last)
		if err != nil {
			return 0, wrap(e.ctx, "delete points", err)
		}
		if points, err = result.RowsAffected(); err != nil {
			return 0, wrap(e.ctx, "delete points", err)
		}
	}
	_, err = tx.ExecContext(e.ctx, "DELETE FROM users WHERE user_no = ?", userNo)
	return points, wrap(e.ctx, "delete user", err)
}

// pages removes what deleted rows leave behind, also those of an Erase that did not come so far.
func (e erasure) pages() error {
	for _, text := range []string{"INSERT INTO words (words) VALUES ('optimize')", "VACUUM"} {
		if _, err := e.conn.ExecContext(e.ctx, text); err != nil {
			return err
		}
	}
	return e.checkpoint()
}

// checkpointPause is how long readers get to end before a checkpoint is tried again.
const checkpointPause = 20 * time.Millisecond

// checkpoint brings the write-ahead log into the file and empties it. Readers that began before keep it from that.
func (e erasure) checkpoint() error {
	for deadline := time.Now().Add(checkpointPatience); ; {
		var busy, logged, copied int
		if err := e.conn.QueryRowContext(e.ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &copied); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: readers keep the write-ahead log from being emptied", vdb.ErrUnavailable)
		}
		select {
		case <-time.After(checkpointPause):
		case <-e.ctx.Done():
			return e.ctx.Err()
		}
	}
}

// checkpointPatience bounds the wait for readers; each attempt already waits for the busy timeout.
const checkpointPatience = 10 * time.Second
