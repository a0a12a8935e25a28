package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	sqlite "modernc.org/sqlite"

	"github.com/kithgraph/kith/vdb"
)

// New opens the store in the file at path, which is made, readable by its owner only, when it does not exist; so is its
// folder. Beside the file SQLite keeps two more, with the endings -wal and -shm, while it is open.
//
// Errors: [ErrForeignFile] for a file of something else, which is not touched; *[vdb.DimensionError] when cfg asks for
// another dimension than the file has; a schema version this build does not know; what the file system says.
func New(path string, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	if path == "" {
		return nil, errors.New("open vector store: path is empty")
	}
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("open vector store: %w", err)
	}
	store, err := open(path, cfg)
	if err != nil {
		return nil, fmt.Errorf("open vector store %s: %w", path, err)
	}
	return store, nil
}

func open(path string, cfg Config) (_ *Store, err error) {
	path, err = makeFile(path)
	if err != nil {
		return nil, err
	}
	cache, err := newCache(cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, cache: cache, helpers: newHelpers()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abandon())
		}
	}()
	if s.writer, err = connect(path, cfg, 1, url.Values{"_txlock": {"immediate"}}); err != nil {
		return nil, err
	}
	ctx := context.Background() // opening is bounded by the busy timeout
	if err := s.prepareFile(ctx, cfg); err != nil {
		return nil, err
	}
	if s.readers, err = connect(path, cfg, cfg.Readers, url.Values{"_query_only": {"1"}}); err != nil {
		return nil, err
	}
	if err := s.writes.prepare(ctx, s.writer); err != nil {
		return nil, err
	}
	return s, s.reads.prepare(ctx, s.readers)
}

// abandon closes what a failed open has opened.
func (s *Store) abandon() error {
	s.cache.close()
	var errs []error
	for _, db := range []*sql.DB{s.writer, s.readers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// making serialises makeFile. Closing a file drops every lock that this process has on it, also those that SQLite holds
// through another handle (sqlite.org/howtocorrupt.html, section 2.2). So a file that exists must not be opened here, and
// none may come to exist between the look and the making.
var making sync.Mutex

// makeFile makes the folder and the file where they are missing, so that they are private from the first byte on; SQLite
// gives its two companions the same mode. It returns the absolute path.
func makeFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	making.Lock()
	defer making.Unlock()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return path, file.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return path, nil
}

// connect returns a pool of connections with the settings that all of them need. Nothing is opened yet.
func connect(path string, cfg Config, conns int, values url.Values) (*sql.DB, error) {
	values.Set("_busy_timeout", strconv.FormatInt(cfg.BusyTimeout.Milliseconds(), 10))
	values.Add("_pragma", "page_size("+strconv.Itoa(pageSize)+")") // only counts in an empty file, before WAL
	values.Add("_pragma", "synchronous(FULL)")
	values.Set("_defensive", "1")
	values.Set("_dqs", "0")
	values.Set("_error_rc", "1")
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: values.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// prepareFile makes the tables of an empty file, checks those of another, and settles the dimension.
func (s *Store) prepareFile(ctx context.Context, cfg Config) error {
	empty, err := checkOwner(ctx, s.writer)
	if err != nil {
		return err
	}
	var mode string
	if err := s.writer.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return wrap(ctx, "set journal mode", err)
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %q: want \"wal\": does the file system support shared memory?", mode)
	}
	if empty {
		if err := createSchema(ctx, s.writer); err != nil {
			return err
		}
	}
	return s.settleDimension(ctx, cfg.Dimension)
}

// settleDimension compares the file's dimension with the configured one, or records that.
func (s *Store) settleDimension(ctx context.Context, want int) (err error) {
	tx, err := s.writer.BeginTx(ctx, &sql.TxOptions{ReadOnly: want == 0})
	if err != nil {
		return wrap(ctx, "begin", err)
	}
	defer func() { err = finish(ctx, tx, err) }()
	have, err := readMeta(ctx, tx, metaDimension)
	if err != nil {
		return err
	}
	switch {
	case want == 0 || want == int(have):
		s.dim.Store(have)
	case have == 0:
		if err := writeMeta(ctx, tx, metaDimension, int64(want)); err != nil {
			return err
		}
		s.dim.Store(int64(want))
	default:
		return &vdb.DimensionError{Got: want, Want: int(have)}
	}
	return nil
}
