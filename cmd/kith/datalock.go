package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// dataLock keeps a data directory to one process. The system drops it when the process ends, however that happens.
type dataLock struct{ file *flock.Flock }

// lockData takes the data directory, making it if need be, or says at once which process has it.
func lockData(dir string) (*dataLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	name := filepath.Join(dir, "kith.lock")
	file := flock.New(name, flock.SetPermissions(0o600))
	got, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if !got {
		owner := "another process"
		if text, err := os.ReadFile(name); err == nil && len(text) > 0 {
			owner = "process " + strings.TrimSpace(string(text))
		}
		return nil, fmt.Errorf("data directory %s is in use by %s (lock file %s)", dir, owner, name)
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return &dataLock{file}, nil
}

// unlock gives the directory up; the lock file stays.
func (l *dataLock) unlock() error {
	if l == nil {
		return nil
	}
	return l.file.Unlock()
}
