package kuzu

import (
	"context"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// headState is the head in memory, so that asking for it touches nothing. It is unknown while the file is closed after an
// error: whether the last transaction committed is then known to the file only.
type headState struct {
	mu struct {
		sync.RWMutex
		row   headRow
		known bool
	}
}

func (h *headState) set(row headRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.row, h.mu.known = row, true
}

func (h *headState) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.known = false
}

func (h *headState) get() (row headRow, known bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.mu.row, h.mu.known
}

// Head implements [graphstore.MarkedStore]. It waits for nothing, neither for a write nor for a checkpoint.
func (s *Store) Head(ctx context.Context) (graphstore.Head, error) {
	if err := s.enter(ctx); err != nil {
		return graphstore.Head{}, err
	}
	defer s.leave()
	row, known := s.head.get()
	if !known {
		return graphstore.Head{}, errNotOpen
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
