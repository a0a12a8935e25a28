package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// fileID tells a file from every other that exists at the same time. The zero fileID is that of no file.
type fileID struct{ device, inode uint64 }

// fileAt identifies the file at a path. A file that is not there, or that cannot be looked at, has the zero fileID.
func fileAt(path string) fileID {
	id, _ := identify(path)
	return id
}

func identify(path string) (fileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileID{}, err
	}
	st, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return fileID{}, errors.ErrUnsupported
	}
	return fileID{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // not 64 bits wide on every system
}

// strayed says why the file at the path is not the one that the child p opened; empty: it is, or nobody can tell.
func (v *supervisor) strayed(p *process) string {
	if p.file == (fileID{}) {
		return ""
	}
	switch now, err := identify(v.cfg.Path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("the graph file %s is gone", v.cfg.Path)
	case err == nil && now != p.file:
		return fmt.Sprintf("the graph file %s was replaced by another", v.cfg.Path)
	}
	return ""
}
