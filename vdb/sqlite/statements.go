package sqlite

import (
	"context"
	"database/sql"
)

const payloadColumns = `f.content, f.agent_id, f.state, f.version, f.episode_id, f.batch_id, f.source_id, f.tags,
	f.memory_at, f.created_at, f.valid_from, f.valid_to, f.extra`

// reads are the prepared statements of the read pool. Lists of rows and of ids are bound as one JSON array.
type reads struct {
	count, user                 *sql.Stmt
	meta, vectors               *sql.Stmt // of all points of a range of rows
	changedMeta, changedVectors *sql.Stmt // of the points of a user written after a rev
	contents                    *sql.Stmt // rows of a range with one of some contents
	payloads                    *sql.Stmt // of rows, with the rev of the user
	words                       *sql.Stmt
	byID, byIDWithVectors       *sql.Stmt
	scroll, scrollWithVectors   *sql.Stmt
}

func (r *reads) prepare(ctx context.Context, db *sql.DB) error {
	const (
		metaColumns = `SELECT f.row, f.id, f.agent_id, f.state, f.version, f.episode_id, f.batch_id, f.source_id, f.tags,
			f.memory_at, f.created_at, f.valid_from, f.valid_to, f.extra FROM facts f `
		ids = ` WHERE f.user_no = (SELECT user_no FROM users WHERE user_id = ?) AND f.id IN (SELECT value FROM json_each(?))`
		// CROSS JOIN keeps SQLite from another order than that of the rows.
		page = ` FROM facts f CROSS JOIN users u ON u.user_no = f.user_no`
		next = ` WHERE f.row > ? AND f.row <= ? ORDER BY f.row LIMIT ?`
	)
	return prepareAll(ctx, db, map[**sql.Stmt]string{
		&r.count:       `SELECT coalesce(sum(points), 0) FROM users`,
		&r.user:        `SELECT user_no, rev, deleted_rev, points FROM users WHERE user_id = ?`,
		&r.meta:        metaColumns + `WHERE f.row BETWEEN ? AND ? ORDER BY f.row`,
		&r.vectors:     `SELECT row, norm, unit FROM vecs WHERE row BETWEEN ? AND ? ORDER BY row`,
		&r.changedMeta: metaColumns + `WHERE f.user_no = ? AND f.rev > ? ORDER BY f.row`,
		&r.changedVectors: `SELECT v.row, v.norm, v.unit FROM facts f CROSS JOIN vecs v ON v.row = f.row
			WHERE f.user_no = ? AND f.rev > ? ORDER BY f.row`,
		&r.contents: `SELECT row FROM facts WHERE row BETWEEN ? AND ? AND content IN (SELECT value FROM json_each(?))`,
		&r.payloads: `SELECT u.rev, f.row, f.id, ` + payloadColumns + ` FROM users u
			LEFT JOIN facts f ON f.row IN (SELECT value FROM json_each(?2)) WHERE u.user_no = ?1`,
		// bm25 is negative, smaller is better; the user's token counts nothing.
		&r.words: `SELECT rowid, -bm25(words, 0.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score DESC, rowid`,

		&r.byID:              `SELECT f.row, f.id, ` + payloadColumns + ` FROM facts f` + ids,
		&r.byIDWithVectors:   `SELECT v.norm, v.unit, f.row, f.id, ` + payloadColumns + ` FROM facts f JOIN vecs v ON v.row = f.row` + ids,
		&r.scroll:            `SELECT u.user_id, f.row, f.id, ` + payloadColumns + page + next,
		&r.scrollWithVectors: `SELECT v.norm, v.unit, u.user_id, f.row, f.id, ` + payloadColumns + page + ` CROSS JOIN vecs v ON v.row = f.row` + next,
	})
}

// writes are the prepared statements of the writing connection.
type writes struct {
	addUser, user, setUser       *sql.Stmt
	find                         *sql.Stmt
	addFact, setFact, deleteFact *sql.Stmt
	putVector, deleteVector      *sql.Stmt
	addWords, deleteWords        *sql.Stmt
}

func (w *writes) prepare(ctx context.Context, db *sql.DB) error {
	return prepareAll(ctx, db, map[**sql.Stmt]string{
		// Of a user that was erased nothing is left but that its number is not used again.
		&w.addUser: `INSERT INTO users (user_no, user_id, next_seq, points, rev, deleted_rev)
			SELECT max(coalesce((SELECT max(user_no) FROM users), 0) + 1, coalesce((SELECT value FROM meta WHERE key = '` + metaNextUser + `'), 1)),
			?, 0, 0, 0, 0 WHERE true ON CONFLICT DO NOTHING`,
		&w.user:    `SELECT user_no, next_seq, points, rev, deleted_rev FROM users WHERE user_id = ?`,
		&w.setUser: `UPDATE users SET next_seq = ?, points = ?, rev = ?, deleted_rev = ? WHERE user_no = ?`,
		&w.find:    `SELECT row FROM facts WHERE user_no = ? AND id = ?`,
		&w.addFact: `INSERT INTO facts (content, agent_id, state, version, episode_id, batch_id, source_id, tags,
			memory_at, created_at, valid_from, valid_to, extra, rev, row, user_no, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		&w.setFact: `UPDATE facts SET content = ?, agent_id = ?, state = ?, version = ?, episode_id = ?, batch_id = ?, source_id = ?, tags = ?,
			memory_at = ?, created_at = ?, valid_from = ?, valid_to = ?, extra = ?, rev = ? WHERE row = ?`,
		&w.deleteFact:   `DELETE FROM facts WHERE row = ?`,
		&w.putVector:    `INSERT INTO vecs (row, norm, unit) VALUES (?, ?, ?) ON CONFLICT (row) DO UPDATE SET norm = excluded.norm, unit = excluded.unit`,
		&w.deleteVector: `DELETE FROM vecs WHERE row = ?`,
		&w.addWords:     `INSERT INTO words (rowid, u, t) VALUES (?, ?, ?)`,
		&w.deleteWords:  `DELETE FROM words WHERE rowid = ?`,
	})
}

// prepareAll prepares each statement into its place.
func prepareAll(ctx context.Context, db *sql.DB, texts map[**sql.Stmt]string) error {
	for stmt, text := range texts {
		var err error
		if *stmt, err = db.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // closed with db, by Close
			return wrap(ctx, "prepare statement", err)
		}
	}
	return nil
}
