package kuzu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

const (
	partialSuffix = ".partial" // of a backup that is not whole yet
	copyChunk     = 16 << 20   // bytes between two looks at the context
)

// Backup writes a copy of the graph to a new file at path and returns the head and what is in the copy: the state after some
// whole number of transactions, all that were committed when Backup was called among them. The copy is a graph file like any
// other, with the same id, and needs no other file beside it.
//
// It checkpoints and copies the closed file, so loads and writes wait meanwhile: for about a second and the time that
// copying takes. The directory must be there; a path where something is already is refused with [io/fs.ErrExist], a disk
// without room for the copy with [ErrDisk]. The file is there, synced, when Backup returns nil; after an error or a crash
// there is nothing at path, at most a part of it under the name with ".partial" behind, which the next Backup to that path
// replaces. A context that ends stops the copying.
func (s *Store) Backup(ctx context.Context, path string) (h graphstore.Head, st graphstore.Stats, err error) {
	if err := s.enter(ctx); err != nil {
		return h, st, err
	}
	defer s.leave()
	err = s.onWriter(ctx, func() (err error) {
		if err = s.ready(); err == nil {
			h, st, err = s.backup(ctx, path)
		}
		return err
	})
	if err != nil {
		return graphstore.Head{}, graphstore.Stats{}, fmt.Errorf("back up graph: %w", err)
	}
	return h, st, nil
}

func (s *Store) backup(ctx context.Context, path string) (h graphstore.Head, st graphstore.Stats, err error) {
	if path, err = s.backupPath(path); err != nil {
		return h, st, err
	}
	s.gate.Lock()
	err = s.copyLocked(ctx, path+partialSuffix)
	s.gate.Unlock()
	if err == nil {
		err = publish(path+partialSuffix, path)
	}
	if err != nil {
		if removed := os.Remove(path + partialSuffix); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return h, st, err
	}
	row, err := s.head.get()
	st = s.index.stats()
	st.Bytes = fileSize(path)
	return row.head, st, err
}

// backupPath returns the path without symbolic links. It refuses what exists, and the names that this store uses.
func (s *Store) backupPath(path string) (string, error) {
	if path == "" {
		return "", errors.New("path is empty")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	if _, err := os.Lstat(abs); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(err, fmt.Errorf("%s: %w: a backup makes a new file", abs, fs.ErrExist))
	}
	if abs, err = resolve(abs); err != nil {
		return "", err
	}
	for _, own := range []string{walSuffix, shadowSuffix, lockSuffix, spillSuffix, buildingSuffix, undoSuffix} {
		if strings.HasPrefix(abs, s.path+own) {
			return "", fmt.Errorf("%s: names like this one are of the graph file itself", abs)
		}
	}
	return abs, checkNoStray(abs)
}

// copyLocked checkpoints and copies the file while it is closed: only then may it be opened here, and only then is the file
// alone the whole graph.
func (s *Store) copyLocked(ctx context.Context, to string) error {
	if err := s.prepareCheckpoint(); err != nil {
		return err
	}
	err := s.merge()
	if err == nil {
		s.closeEngine()
		err = s.copyFile(ctx, to)
	}
	return errors.Join(err, s.reopenLocked(false))
}

func (s *Store) copyFile(ctx context.Context, to string) (err error) {
	if err := s.checkFiles(); err != nil {
		return err
	}
	for _, suffix := range []string{walSuffix, shadowSuffix} {
		if size := fileSize(s.path + suffix); size > 0 {
			return fmt.Errorf("%s has %d bytes after the checkpoint", s.path+suffix, size)
		}
	}
	size := fileSize(s.path)
	free, err := s.cfg.hooks.freeBytes(filepath.Dir(to))
	if err != nil {
		return err
	}
	if need := uint64(size) + checkpointMargin; free < need {
		return fmt.Errorf("%w: the copy needs %d MiB on the disk of %s, %d are free", ErrDisk, need>>20, to, free>>20)
	}
	in, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		if _, err = io.CopyN(out, in, copyChunk); err == nil && s.cfg.hooks.copied != nil {
			s.cfg.hooks.copied()
		}
	}
	if errors.Is(err, io.EOF) { // the whole file
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// publish gives a file that is whole and on the disk its name there.
func publish(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s: %w: it came into being meanwhile", to, fs.ErrExist))
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := syncPath(filepath.Dir(to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
