package kuzu

import (
	"context"
	"fmt"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// headState is the head in memory, so that asking for it touches nothing. It is unknown while the file is closed after an
// error: whether the last transaction committed is then known to the file only.
type headState struct {
	mu struct {
		sync.RWMutex
		row     headRow // the last one that was known
		unknown error   // why it may not be the last one
	}
}

func (h *headState) set(row headRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.row, h.mu.unknown = row, nil
}

func (h *headState) forget(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.unknown = why
}

// get returns the last row that was known, and an error that says why there may be a newer one.
func (h *headState) get() (headRow, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.mu.row, h.mu.unknown
}

// readHead takes over the head of the file. One that is older than a transaction that committed is damage.
func (s *Store) readHead() error {
	row, err := readHead(s.engine.writer, s.id)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	last, err := s.head.get()
	if last.no > 0 && (row.no < last.no || err == nil && row != last) {
		return damaged("the file has transaction %d as its last one, but %d was committed", row.no, last.no)
	}
	s.head.set(row)
	return nil
}

// Head implements [graphstore.Store]. It waits for nothing, neither for a write nor for a checkpoint.
func (s *Store) Head(ctx context.Context) (graphstore.Head, error) {
	if err := s.enter(ctx); err != nil {
		return graphstore.Head{}, err
	}
	defer s.leave()
	row, err := s.head.get()
	if err != nil {
		return graphstore.Head{}, fmt.Errorf("%w: %w", errNotOpen, err)
	}
	return row.head, nil
}

// writeHead adds the row that a transaction leaves, and the name of its log if that is another one than before.
func (w writeSession) writeHead(before, row headRow) error {
	if row.log != before.log {
		if row.log != 0 {
			err := w.one("CREATE (l:Log {no: $no, name: $name}) RETURN count(*)", params{"no": row.log, "name": row.head.Mark.Log})
			if err != nil {
				return err
			}
		}
		if before.log != 0 {
			if err := w.one("MATCH (l:Log {no: $no}) DELETE l RETURN count(*)", params{"no": before.log}); err != nil {
				return err
			}
		}
	}
	return w.one(createHead(), row.params())
}

// renewHead leaves the last row of the table of heads only, in one transaction: the writer calls it before a checkpoint,
// when nobody reads. Statements prepared for the old table go with it.
func renewHead(s *session, row headRow) error {
	s.closeStatements()
	for _, statement := range []string{"BEGIN TRANSACTION", "DROP TABLE " + headTable.name, createHeadTable()} {
		if err := s.exec(statement); err != nil {
			return err
		}
	}
	if err := (writeSession{session: s}).one(createHead(), row.params()); err != nil {
		return err
	}
	return s.exec("COMMIT")
}
