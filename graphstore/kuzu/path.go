package kuzu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files beside the graph file that Kuzu makes: its log, and the pages of a checkpoint that has not ended.
const (
	walSuffix    = ".wal"
	shadowSuffix = ".shadow"
)

// The first bytes of a Kuzu file, and the version of the format that this library reads, which follows them in 8 bytes.
var magic = []byte("KUZU")

const storageVersion = 39

// prepareDir makes the directory that holds the file and returns the file's absolute path. It must be done before Kuzu
// sees the path: Kuzu ends the process over a directory that it may not search and a name that is too long.
func prepareDir(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("path %q is empty", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return "", fmt.Errorf("make directory of graph file: %w", err)
	}
	if abs, err = resolve(abs); err != nil {
		return "", fmt.Errorf("path of graph file: %w", err)
	}
	if _, err := os.Lstat(abs + shadowSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("path of graph file: %w", err)
	}
	return abs, nil
}

// resolve returns the path without symbolic links: two names of one file would be two locks.
func resolve(abs string) (string, error) {
	if real, err := filepath.EvalSymlinks(abs); !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}

// checkFile refuses what is not ours to open. It reads the file, so it runs only before Kuzu has it.
func checkFile(path string) error {
	info, err := os.Lstat(path) // links to something were resolved
	if errors.Is(err, fs.ErrNotExist) {
		return checkNoStray(path)
	}
	if err != nil {
		return fmt.Errorf("graph file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is a %s, not a file", ErrForeign, path, describe(info.Mode()))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("graph file: %w", err)
	}
	defer f.Close()
	return checkMagic(path, f, info.Size())
}

func describe(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link to nothing"
	}
	return "special file (" + m.String() + ")"
}

func checkMagic(path string, r io.Reader, size int64) error {
	if size == 0 {
		return nil // a start that was interrupted between making the file and writing to it
	}
	head := make([]byte, len(magic)+8)
	if _, err := io.ReadFull(r, head); err != nil || !bytes.HasPrefix(head, magic) {
		return fmt.Errorf("%w: %s does not start like a Kuzu file", ErrForeign, path)
	}
	// After the four letters Kuzu writes its version of the format.
	if v := binary.LittleEndian.Uint64(head[len(magic):]); v != storageVersion {
		return fmt.Errorf("%w: %s has format %d of Kuzu: want %d", ErrForeign, path, v, storageVersion)
	}
	return nil
}

// checkNoStray refuses a log or shadow without its file: Kuzu crashes over the log of another database
// (kuzudb/kuzu#5777).
func checkNoStray(path string) error {
	for _, suffix := range []string{walSuffix, shadowSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return fmt.Errorf("%w: %s is there without %s: move it away", ErrForeign, path+suffix, path)
		}
	}
	return nil
}

// fileSize returns a file's size, 0 if there is none. It does not open the file.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// freeBytes returns what an ordinary user may still write to the disk of a directory.
func freeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}
