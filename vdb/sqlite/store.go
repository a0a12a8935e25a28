package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kithgraph/kith/vdb"
)

var _ vdb.Store = (*Store)(nil)

// Store is an open vector store file. Make one with [New].
type Store struct {
	path    string
	writer  *sql.DB // one connection, whose transactions begin with the write lock
	readers *sql.DB
	reads   reads
	writes  writes
	cache   *cache

	// helpers is a place for each core but one: a goroutine that helps another one's search holds one. See spread.
	helpers helpers

	// dim is the dimension once it is known, 0 before. It never changes again.
	dim atomic.Int64

	// life is held for reading by every call in flight, so that Close waits for them.
	life struct {
		sync.RWMutex
		closed bool
	}
}

// enter begins a call; the returned function ends it.
func (s *Store) enter(ctx context.Context, op string) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	s.life.RLock()
	if s.life.closed {
		s.life.RUnlock()
		return nil, fmt.Errorf("%s: %w", op, vdb.ErrClosed)
	}
	return s.life.RUnlock, nil
}

// Close implements [vdb.Store].
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.life.closed {
		return nil
	}
	s.life.closed = true
	s.cache.close()
	if err := errors.Join(s.readers.Close(), s.writer.Close()); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}

// Info implements [vdb.Store]; the collection is the path of the file.
func (s *Store) Info(ctx context.Context) (vdb.Info, error) {
	leave, err := s.enter(ctx, "info")
	if err != nil {
		return vdb.Info{}, err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return vdb.Info{}, err
	}
	info := vdb.Info{Driver: "sqlite", Collection: s.path, Dimension: dim, Keyword: true}
	err = s.reads.count.QueryRowContext(ctx).Scan(&info.Points)
	return info, wrap(ctx, "count points", err)
}

// dimension returns the dimension, 0 while no process has fixed it.
func (s *Store) dimension(ctx context.Context) (int, error) {
	if dim := s.dim.Load(); dim != 0 {
		return int(dim), nil
	}
	dim, err := readMeta(ctx, s.readers, metaDimension)
	if err != nil {
		return 0, err
	}
	s.dim.Store(dim)
	return int(dim), nil
}
