package kuzu

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A checkpoint of Kuzu does not survive the end of its process at every moment. It writes changed pages to the shadow file and
// new ones to the file itself, but takes a page of an index for a new one if its number is greater than that of the page
// with the last element. Once pages are used again, pages of an index lie in any order, and some are overwritten in place. If
// the process ends before the checkpoint is marked as done, the file has entries for rows that only the log has: its replay
// fails over a duplicated key, and the file cannot be opened any more. Pages that were split that way can also lose entries.
//
// So the file is copied before each checkpoint, and an open that finds a checkpoint which did not end puts the copy back
// and cuts the log to what it was. The copy is not synced: that would take seconds. It counts only as long as the machine
// has not started again; without it Kuzu recovers as it does by itself.
const (
	undoSuffix     = ".undo"      // the copy
	undoNoteSuffix = ".undo.json" // what it belongs to
)

// undoNote says when a copy may be put back.
type undoNote struct {
	Boot string `json:"boot"` // of the machine
	File uint64 `json:"file"` // the system's number of the file that was copied
	Log  int64  `json:"log"`  // bytes of the log that belong to the copy
}

// undo is the way back from a checkpoint. A nil one has none.
type undo struct{ path string }

// prepareUndo copies the file. Without space for the copy there is no way back, and no error.
func (s *Store) prepareUndo() (*undo, error) {
	note, err := newUndoNote(s.path)
	if err != nil || note.Log == 0 || note.Boot == "" { // there is nothing to checkpoint, or no telling how long a copy counts
		return nil, err
	}
	free, err := s.cfg.hooks.freeBytes(filepath.Dir(s.path))
	if err != nil {
		return nil, err
	}
	if need := s.checkpointSpace() + uint64(fileSize(s.path)); free < need {
		s.log.Warn("checkpoint without a way back: if the process ends before it does, the graph may have to be built again",
			"need_mib", need>>20, "free_mib", free>>20)
		return nil, nil //nolint:nilnil // documented
	}
	u := &undo{s.path}
	if err := errors.Join(u.remove(), u.save(s.engine.file, note)); err != nil {
		if errors.Is(err, syscall.ENOSPC) { // somebody else filled the disk meanwhile; the checkpoint has its own look at it
			return nil, u.remove()
		}
		return nil, fmt.Errorf("copy before a checkpoint: %w", errors.Join(err, u.remove()))
	}
	return u, nil
}

func newUndoNote(path string) (n undoNote, err error) {
	n.Log = fileSize(path + walSuffix)
	if n.File, err = inode(path); err != nil {
		return n, err
	}
	n.Boot, err = bootID()
	return n, err
}

// save writes the note, then the copy, which has its name only when it is whole.
func (u *undo) save(from *os.File, note undoNote) error {
	b, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if err := os.WriteFile(u.path+undoNoteSuffix, b, 0o600); err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := os.OpenFile(u.path+undoSuffix+partialSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from) // inside the kernel
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(u.path+undoSuffix+partialSuffix, u.path+undoSuffix)
}

// remove forgets the way back: the checkpoint is done, or there was none. The copy goes first.
func (u *undo) remove() error {
	if u == nil {
		return nil
	}
	var errs []error
	for _, suffix := range []string{undoSuffix, undoSuffix + partialSuffix, undoNoteSuffix} {
		if err := os.Remove(u.path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// undoCheckpoint takes a checkpoint back that did not end, and reports whether there was one. The file must be closed. It can
// be interrupted anywhere and called again.
func undoCheckpoint(path string) (undone bool, err error) {
	u := &undo{path}
	note, ok, err := u.find()
	if err != nil {
		return false, err
	}
	if !ok {
		return false, u.remove()
	}
	if err := os.Remove(path + shadowSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.Truncate(path+walSuffix, note.Log); err != nil {
		return false, err
	}
	if err := errors.Join(syncPath(path+walSuffix), syncPath(path+undoSuffix)); err != nil { // from here on it must survive the machine too
		return false, err
	}
	if err := os.Rename(path+undoSuffix, path); err != nil {
		return false, err
	}
	return true, errors.Join(u.remove(), syncPath(filepath.Dir(path)))
}

// find returns the note of a copy that is to be put back. A log that is shorter than it was then, or gone, says that the
// checkpoint came to its end: Kuzu removes it last.
func (u *undo) find() (n undoNote, ok bool, err error) {
	if _, err := os.Lstat(u.path + undoSuffix); err != nil {
		return n, false, ignore(err, fs.ErrNotExist)
	}
	b, err := os.ReadFile(u.path + undoNoteSuffix)
	if err != nil {
		return n, false, ignore(err, fs.ErrNotExist)
	}
	if json.Unmarshal(b, &n) != nil {
		return n, false, nil //nolint:nilerr // never written whole: the machine went down
	}
	now, err := newUndoNote(u.path)
	if err != nil {
		return n, false, ignore(err, fs.ErrNotExist)
	}
	return n, n.Boot == now.Boot && n.File == now.File && n.Log > 0 && n.Log <= now.Log, nil
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// bootID tells one start of the machine from another. It is empty where the system does not say.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), ignore(err, fs.ErrNotExist)
}

// inode returns the system's number of a file. It does not open it.
func inode(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: the system gives no number of the file", path)
	}
	return st.Ino, nil
}
