package kuzu

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// checkpointMargin is the space that a checkpoint leaves on the disk at least.
const checkpointMargin = 16 << 20

// Checkpoint merges the log into the file and gives the memory of updates back, at once. Nothing needs it: the store
// does it in time by itself. Loads wait while it runs, on a file of a million records up to about a second.
func (s *Store) Checkpoint(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	return s.onWriter(ctx, func() error {
		if err := s.ready(); err != nil {
			return err
		}
		s.gate.Lock()
		defer s.gate.Unlock()
		return s.checkpointLocked()
	})
}

// checkpointLocked checkpoints and replaces the engine. Space and memory are seen to first: a disk that runs full during a
// checkpoint ends the process, a pool that does may cost the file.
func (s *Store) checkpointLocked() error {
	if err := s.prepareCheckpoint(); err != nil {
		return err
	}
	start := time.Now()
	err := errors.Join(s.merge(), s.reopenLocked(false))
	if s.cfg.hooks.checkpoint != nil {
		s.cfg.hooks.checkpoint(time.Since(start))
	}
	return err
}

func (s *Store) prepareCheckpoint() error {
	if err := errors.Join(s.checkFiles(), s.checkSpace()); err != nil {
		return err
	}
	if need := fileNeed(s.path) + poolPerText*s.budget.texts + fileSize(s.path+walSuffix); need > s.engine.pool { // long texts
		return s.reopenLocked(false)
	}
	return nil
}

// merge takes the log into the file. The engine must be replaced after it.
func (s *Store) merge() error {
	if err := s.renewHead(); err != nil {
		return err
	}
	back, err := s.prepareUndo()
	if err != nil {
		return err
	}
	if s.cfg.hooks.merging != nil {
		s.cfg.hooks.merging()
	}
	if err := s.engine.writer.exec("CHECKPOINT"); err != nil {
		return err // the way back is taken when the engine is replaced
	}
	s.budget.reset()
	return back.remove()
}

// renewHead leaves one row of heads.
func (s *Store) renewHead() error {
	rows, err := s.engine.writer.count("MATCH (h:"+headTable.name+") RETURN count(*)", nil)
	if err != nil || rows <= 1 {
		return err
	}
	row, _ := s.head.get() // known: the file is open
	return renewHead(s.engine.writer, row)
}

// checkSpace wants room for a copy of every page, which is the most that a checkpoint can write before it frees
// anything, and for what the log adds.
func (s *Store) checkSpace() error {
	free, err := s.cfg.hooks.freeBytes(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	if need := s.checkpointSpace(); free < need {
		return fmt.Errorf("%w: checkpoint needs up to %d MiB on the disk, %d are free", ErrDisk, need>>20, free>>20)
	}
	return nil
}

func (s *Store) checkpointSpace() uint64 {
	return uint64(fileSize(s.path)) + 2*uint64(fileSize(s.path+walSuffix)) + checkpointMargin
}

// Space that a transaction is refused without: a disk that runs full in a commit is an error of Kuzu's, but the file must
// then be closed, and closing it on a full disk ends the process.
const (
	logMargin      = 8 << 20
	logRecordBytes = 4 << 10 // of the log, for one record with long texts
)

// checkLogSpace reports, before anything is touched, that the disk might not take the transaction.
func (s *Store) checkLogSpace(c cost) error {
	free, err := s.cfg.hooks.freeBytes(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	if need := uint64(c.records)*logRecordBytes + logMargin; free < need {
		return fmt.Errorf("%w: a transaction of %d records needs up to %d MiB on the disk, %d are free", ErrDisk, c.records, need>>20, free>>20)
	}
	return nil
}

// tidy checkpoints after a write if it is time, unless a load is running: the next write tries again.
func (s *Store) tidy() {
	if s.engine == nil || !s.budget.due(s.engine.writer, s.index.stored()) || !s.gate.TryLock() {
		return
	}
	defer s.gate.Unlock()
	if err := s.checkpointLocked(); err != nil {
		s.log.Warn("checkpoint is put off", "err", err)
	}
}

// makeRoom checkpoints before a transaction that might not fit the memory for updates any more, even if it must wait for
// loads to end.
func (s *Store) makeRoom(c cost) error {
	if !s.budget.exceeded(c) {
		return nil
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	if err := s.checkpointLocked(); err != nil {
		return fmt.Errorf("checkpoint before a write: %w", err)
	}
	return nil
}
