package kuzu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// spaceTable keeps the users. It is no nodeTable: its rows have no space.
var spaceTable = &table{"Space", []column{{"no", integer}, {"user_id", text}}}

// stage keeps the rows of every table in a file of its own until they are copied.
type stage struct {
	dir   string
	room  func(staged int64) error // asked before more is written, with what is there by then
	files []*stageFile             // in the order in which they are copied: nodes before edges
	of    map[*table]*stageFile
	bytes int64
}

type stageFile struct {
	table   *table
	name    string // of the table, and of its target's where one table has several
	options string // of the copy
	path    string
	file    *os.File
	rows    *parquetWriter
	count   string // counts what is in the table
	threads uint64 // to copy with
	pool    int64  // what the copy needs, times the size of the file
}

// newStage makes the files, in a directory that is there. After an error the caller closes it as well.
func newStage(dir string, room func(staged int64) error) (*stage, error) {
	s := &stage{dir: dir, room: room, of: make(map[*table]*stageFile)}
	tables := []*table{spaceTable, &textTable.table}
	for _, t := range nodeTables() {
		tables = append(tables, &t.table)
	}
	for _, t := range tables {
		count := fmt.Sprintf("MATCH (n:%s) RETURN count(*)", t.name)
		if err := s.open(&stageFile{table: t, name: t.name, count: count, threads: threadsForNodes, pool: poolPerNodes}); err != nil {
			return s, err
		}
	}
	for _, t := range relTables() {
		edges := &stageFile{table: &t.table, name: t.name, count: t.countEdges(), threads: threadsForEdges, pool: poolPerEdges}
		if t.shared {
			from, to := nodeTableOf(t.from).name, nodeTableOf(t.to).name
			edges.name += "-" + to
			edges.options = fmt.Sprintf(" (from='%s', to='%s')", from, to)
		}
		if err := s.open(edges, colSrc, colDst); err != nil { // a copy of edges wants the keys of both ends first
			return s, err
		}
	}
	return s, nil
}

func (s *stage) open(f *stageFile, first ...int) (err error) {
	f.path = filepath.Join(s.dir, f.name+".parquet")
	if f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return fmt.Errorf("staging file: %w", err)
	}
	s.files, s.of[f.table] = append(s.files, f), f
	f.rows, err = newParquetWriter(f.file, f.table.columns, first, func(bytes int64) error {
		s.bytes += bytes
		return s.room(s.bytes)
	})
	return err
}

// add writes a row of a table.
func (s *stage) add(t *table, row []any) error { return s.of[t].rows.add(row) }

// finish completes the files.
func (s *stage) finish() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.rows.close())
	}
	return errors.Join(append(errs, s.close())...)
}

// close gives the files up, complete or not.
func (s *stage) close() error {
	var errs []error
	for _, f := range s.files {
		if f.file != nil {
			errs = append(errs, f.file.Close())
			f.file = nil
		}
	}
	return errors.Join(errs...)
}
