package kuzu

import (
	"fmt"
	"sync/atomic"
	"time"

	gokuzu "github.com/kuzudb/go-kuzu"
)

// session is one connection with its prepared statements. It belongs to one goroutine at a time: Kuzu crashes when two
// share a statement.
type session struct {
	conn   *gokuzu.Connection
	stmts  map[string]*gokuzu.PreparedStatement
	leaked *atomic.Int64 // of the store
}

// openSession connects. A timeout of 0 is none.
func openSession(db *gokuzu.Database, timeout time.Duration, leaked *atomic.Int64) (*session, error) {
	conn, err := gokuzu.OpenConnection(db)
	if err != nil {
		return nil, statementError("connect", err)
	}
	// One thread per statement: as fast as several for what this package asks, and it leaves the other cores alone.
	conn.SetMaxNumThreads(1)
	conn.SetTimeout(uint64(timeout.Milliseconds()))
	return &session{conn: conn, stmts: make(map[string]*gokuzu.PreparedStatement), leaked: leaked}, nil
}

// close releases the statements, then the connection; a transaction that is still open is rolled back.
func (s *session) close() {
	s.closeStatements()
	s.conn.Close()
}

func (s *session) closeStatements() {
	for _, st := range s.stmts {
		st.Close()
	}
	clear(s.stmts)
}

// exec runs a statement that has no parameters and whose result nobody needs.
func (s *session) exec(query string) error {
	result, err := s.conn.Query(query)
	result.Close()
	if err != nil {
		return statementError(query, err)
	}
	return nil
}

// query runs a prepared statement and hands each row to each. The row is overwritten by the next. The text of the query
// never contains data.
func (s *session) query(query string, p params, each func(row []any) error) error {
	leaked, err := p.check()
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	st, err := s.prepare(query)
	if err != nil {
		return err
	}
	s.leaked.Add(leaked)
	result, err := s.conn.Execute(st, p)
	if err != nil {
		result.Close()
		return statementError(query, err)
	}
	defer result.Close() // an open result pins memory of the pool
	return eachRow(result, each)
}

// maxStatements bounds the prepared statements of a session: there is one per set of columns that changes together.
const maxStatements = 250

func (s *session) prepare(query string) (*gokuzu.PreparedStatement, error) {
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	if len(s.stmts) >= maxStatements {
		s.closeStatements()
	}
	st, err := s.conn.Prepare(query)
	if err != nil {
		st.Close()
		return nil, statementError("prepare "+query, err)
	}
	s.stmts[query] = st
	return st, nil
}

func eachRow(result *gokuzu.QueryResult, each func(row []any) error) error {
	row := make([]any, result.GetNumberOfColumns())
	for result.HasNext() {
		tuple, err := result.Next()
		if err != nil {
			return statementError("read row", err)
		}
		for i := range row {
			if row[i], err = tuple.GetValue(uint64(i)); err != nil {
				tuple.Close()
				return statementError("read row", err)
			}
		}
		tuple.Close()
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

// count runs a statement that ends in RETURN count(*) and returns the number.
func (s *session) count(query string, p params) (int64, error) {
	var n int64
	err := s.query(query, p, func(row []any) (err error) {
		n, err = cell[int64](row, 0)
		return err
	})
	return n, err
}

// cell returns a column of a row with its type checked. What this package asks for has one type and is never null, so another
// one is damage.
func cell[T int64 | float64 | string](row []any, i int) (T, error) {
	v, ok := row[i].(T)
	if !ok {
		return v, damaged("column %d is %T, want %T", i, row[i], v)
	}
	return v, nil
}
