package kuzu

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The names that a build uses until it has ended. They follow from the path of the graph file, so that whoever owns its
// lock may remove what a process that died left behind.
const (
	buildingSuffix = ".building"
	stagingSuffix  = ".staging"
	spillSuffix    = ".tmp" // Kuzu's, for what a copy cannot hold in its pool
)

// buildFiles are the files of one build. Its methods need the lock of the graph file.
type buildFiles struct {
	path     string // of the finished file
	building string // of the file until then
	staging  string // directory of the staging files
}

func newBuildFiles(path, tempDir string) (buildFiles, error) {
	f := buildFiles{path: path, building: path + buildingSuffix, staging: path + buildingSuffix + stagingSuffix}
	if tempDir != "" {
		abs, err := filepath.Abs(tempDir)
		if err != nil {
			return f, fmt.Errorf("directory for staging files: %w", err)
		}
		f.staging = filepath.Join(abs, fmt.Sprintf("kith-build-%x", sha256.Sum256([]byte(path))))
	}
	// Kuzu ends the process over a name that is too long.
	if _, err := os.Lstat(f.building + shadowSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("path of graph file: %w", err)
	}
	return f, nil
}

// prepare refuses a path where something is, removes what is left of an earlier build and makes the staging directory.
func (f buildFiles) prepare() error {
	if _, err := os.Lstat(f.path); err == nil {
		return fmt.Errorf("%s: %w: a build makes a new file", f.path, fs.ErrExist)
	}
	if err := checkNoStray(f.path); err != nil {
		return err
	}
	if err := f.clear(); err != nil {
		return err
	}
	if err := os.Mkdir(f.staging, 0o700); err != nil {
		return fmt.Errorf("make directory for staging files: %w", err)
	}
	return nil
}

// clear removes everything but the finished file.
func (f buildFiles) clear() error {
	errs := []error{os.RemoveAll(f.staging)}
	for _, suffix := range []string{"", walSuffix, shadowSuffix, spillSuffix} {
		if err := os.Remove(f.building + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove files of a build: %w", err)
	}
	return nil
}

// publish gives the file, which is closed, its name. It is on the disk then, or not there at all.
func (f buildFiles) publish() error {
	for _, suffix := range []string{walSuffix, shadowSuffix} {
		if size := fileSize(f.building + suffix); size > 0 {
			return fmt.Errorf("%s has %d bytes after the checkpoint", f.building+suffix, size)
		}
	}
	if err := syncPath(f.building); err != nil {
		return err
	}
	if err := os.Rename(f.building, f.path); err != nil {
		return err
	}
	if err := syncPath(filepath.Dir(f.path)); err != nil {
		return errors.Join(err, os.Remove(f.path))
	}
	return nil
}

// syncPath waits until a file or a directory is on the disk.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
