package kuzu

import (
	"errors"
	"fmt"

	"github.com/gofrs/flock"
)

// Open opens the graph file at path, or makes it together with its directory (readable by the owner only).
//
// The process that opens a file owns it until Close; [ErrInUse] says who does. [ErrForeign] and [ErrNewerSchema] report
// files to leave alone. Any other error may be the sign of a damaged file. A damaged file can also end the process, which
// Go cannot prevent: what must not die runs a store in a child process.
//
// After a crash Open replays the log and checkpoints.
func Open(path string, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	path, err := prepareDir(path)
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	owner, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	s, err := openOwned(path, cfg, owner)
	if err != nil {
		_ = owner.Unlock() // the error that counts is the first
		return nil, fmt.Errorf("open graph %s: %w", path, err)
	}
	return s, nil
}

func openOwned(path string, cfg Config, owner *flock.Flock) (*Store, error) {
	s := newStore(path, cfg, owner)
	undone, err := undoCheckpoint(path)
	if err != nil {
		return nil, fmt.Errorf("take back a checkpoint that did not end: %w", err)
	}
	if undone {
		s.log.Warn("the process ended in a checkpoint: it was taken back", "path", path)
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		s.closeEngine()
		return nil, err
	}
	go s.write()
	return s, nil
}

// start opens the engine, brings the schema up to date and loads the index.
func (s *Store) start() (err error) {
	recovering := fileSize(s.path+walSuffix) > 0
	if err := s.openFirst(recovering); err != nil {
		return err
	}
	if s.file, err = identify(s.path); err != nil {
		return err
	}
	var found int64
	if s.id, found, err = ensureSchema(s.engine.writer, s.cfg.pageSizes()); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if err := s.readHead(); err != nil {
		return err
	}
	if 0 < found && found < originVersion {
		s.log.Warn("graph of an earlier version: it does not know when and by which source its facts were written, so that a retraction of a source "+
			"withdraws none of these, and what that version did not project is missing: kith rebuild --from-log makes it again",
			"schema", found, "path", s.path)
	}
	if found != SchemaVersion || recovering {
		// What was replayed holds memory like any commit; from here on it counts as checkpointed.
		if err := s.checkpointLocked(); errors.Is(err, ErrDisk) && s.engine != nil {
			s.log.Warn("no checkpoint after start", "err", err)
		} else if err != nil {
			return fmt.Errorf("checkpoint after start: %w", err)
		}
	}
	if s.index, err = loadIndex(s.engine.writer, s.cfg.pageSizes()); err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	return nil
}

// recoveryPool is how much more memory the replay of a log may take than writing it did, which had checkpoints in between.
const recoveryPool = 4

// openFirst opens the engine. A log that does not fit the buffer pool gets a larger one, until the checkpoint that follows.
func (s *Store) openFirst(recovering bool) (err error) {
	if s.engine, err = openEngine(s.path, s.cfg, &s.leaked); err == nil || !recovering {
		return err
	}
	larger := s.cfg
	larger.BufferPoolBytes *= recoveryPool
	var again error
	if s.engine, again = openEngine(s.path, larger, &s.leaked); again != nil {
		return err
	}
	s.log.Warn("log was replayed in a larger buffer pool", "bytes", larger.BufferPoolBytes, "err", err)
	return nil
}
