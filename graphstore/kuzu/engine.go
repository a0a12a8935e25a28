package kuzu

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	gokuzu "github.com/kuzudb/go-kuzu"
)

// engine is the open database with its connections. It is replaced as a whole after each checkpoint and each rollback,
// while nobody reads:
//   - an edge that was created and deleted between two checkpoints crashes the next scan of a database that stays open
//     (LadybugDB/ladybug#611);
//   - a rolled-back update leaves a dangling pointer in memory;
//   - statements that were closed free their memory only with their connection.
type engine struct {
	db      *gokuzu.Database
	file    *os.File // to copy it: a file that is opened and closed again while Kuzu has it loses Kuzu's lock
	writer  *session
	readers chan *session // a place per reader; nil until it is needed
	pool    int64         // bytes
	cfg     Config
	leaked  *atomic.Int64
}

// openEngine opens the file. The caller owns it and looked at it first: Kuzu gives no reason when it refuses, and ends the
// process over a path that it cannot search.
func openEngine(path string, cfg Config, leaked *atomic.Int64) (*engine, error) {
	system := gokuzu.DefaultSystemConfig()
	pool := poolFor(path, cfg)
	system.BufferPoolSize = uint64(pool)
	system.MaxDbSize = uint64(cfg.MaxDBBytes)
	db, err := gokuzu.OpenDatabase(path, system)
	if err != nil {
		return nil, fmt.Errorf("kuzu does not open the file and does not say why: locked by a program that does not know "+
			"our lock file, damaged, or no address space for MaxDBBytes %d: %w", cfg.MaxDBBytes, err)
	}
	e := &engine{db: db, readers: make(chan *session, cfg.Readers), pool: pool, cfg: cfg, leaked: leaked}
	for range cfg.Readers {
		e.readers <- nil
	}
	if e.file, err = os.Open(path); err != nil {
		e.close()
		return nil, err
	}
	if err := e.openWriter(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// A checkpoint reads whole columns of 131,072 rows and holds new texts several times over. When the pool is too small for
// that it fails in the middle, and afterwards the file may not open any more. The pool is therefore never smaller than what
// these factors of the sizes of file and log give, which no checkpoint was seen to exceed. Texts in short pieces bound
// what a large file can need.
//
// What a log needs is what its texts need. Without them little is left: 217,000 new records, a log of 78 MB, went into a file of
// 110 MB with a pool of 64 MiB, and used 160 MiB of one that had them.
const (
	poolPerFile    = 2
	poolPerText    = 12
	maxPoolForFile = 384 << 20
)

// checkpointNeed returns the pool that a checkpoint of the file may need. Nothing is known of its log, so it may be all texts.
func checkpointNeed(path string) int64 {
	return fileNeed(path) + poolPerText*fileSize(path+walSuffix)
}

func fileNeed(path string) int64 { return min(poolPerFile*fileSize(path), maxPoolForFile) }

// poolFor returns the size of the pool to open a file with: what is configured, or what its next checkpoint may need with
// the log that will be there by then.
func poolFor(path string, cfg Config) int64 {
	return max(cfg.BufferPoolBytes, checkpointNeed(path)+cfg.BufferPoolBytes/2)
}

func (e *engine) openWriter() (err error) {
	if e.writer, err = openSession(e.db, 0, e.leaked); err != nil {
		return err
	}
	for _, setting := range []string{
		"CALL auto_checkpoint=false",           // with one reader it freezes everything for seconds and fails a commit that happened
		"CALL force_checkpoint_on_close=false", // we look at the disk's space before a checkpoint, Kuzu does not
	} {
		if err := e.writer.exec(setting); err != nil {
			return err
		}
	}
	return nil
}

// close closes the connections, then the database. Nobody may be reading.
func (e *engine) close() {
	for range cap(e.readers) {
		if s := <-e.readers; s != nil {
			s.close()
		}
	}
	if e.writer != nil {
		e.writer.close()
	}
	e.db.Close()
	if e.file != nil {
		_ = e.file.Close() // it was only read
	}
}

// read lends a reading session to fn, within one transaction: fn sees one committed state. A session whose transaction
// Kuzu ended by itself is thrown away, because what state it is in is not always known.
func (e *engine) read(ctx context.Context, fn func(*session) error) (err error) {
	var s *session
	select {
	case s = <-e.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	sound := false
	defer func() { // also when fn panics
		if s != nil && !sound {
			s.close()
			s = nil
		}
		e.readers <- s
	}()
	if s == nil {
		if s, err = openSession(e.db, e.cfg.ReadTimeout, e.leaked); err != nil {
			return err
		}
	}
	if err := s.exec("BEGIN TRANSACTION READ ONLY"); err != nil {
		return err
	}
	err = fn(s)
	end := s.exec("COMMIT")
	sound = end == nil // also when fn had enough
	if err == nil {
		err = end
	}
	return err
}
