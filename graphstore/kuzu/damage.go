package kuzu

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/kithgraph/kith/graphstore"
)

// damaged returns an error that wraps [graphstore.ErrDamaged] and says what of the file cannot be what was committed.
func damaged(what string, args ...any) error {
	return fmt.Errorf("%w: %w", graphstore.ErrDamaged, fmt.Errorf(what, args...))
}

// identify returns which file is at path, by the system's number of it. It does not open it: that would drop Kuzu's lock.
func identify(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, damaged("%s was removed while it was open", path)
	}
	if err != nil {
		return nil, fmt.Errorf("graph file: %w", err)
	}
	return info, nil
}

// checkFiles reports that the file is not the one that was opened, or that its log is gone. What is written then is lost with
// the process, and Kuzu would make an empty file in place of one that it is to open again.
func (s *Store) checkFiles() error {
	now, err := identify(s.path)
	if err != nil {
		return err
	}
	if !os.SameFile(now, s.file) {
		return damaged("%s was replaced by another file while it was open", s.path)
	}
	if s.budget.records > 0 && fileSize(s.path+walSuffix) == 0 {
		return damaged("%s was removed or emptied while it was open", s.path+walSuffix)
	}
	return nil
}
