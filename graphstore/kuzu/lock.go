package kuzu

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lockSuffix names the lock file beside the graph file. Kuzu has a lock of its own that is not enough: a second open in
// the same process succeeds and loses rows, and any program that opens and closes the file in the owning process drops
// it.
const lockSuffix = ".lock"

// lock takes the ownership of the graph file, at once or not at all. The system drops it when the process ends, however
// that happens; the lock file stays.
func lock(path string) (*flock.Flock, error) {
	name := path + lockSuffix
	l := flock.New(name, flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w", name, err)
	}
	if !got {
		return nil, fmt.Errorf("%w: %s: %s owns it (lock file %s)", ErrInUse, path, ownerOf(name), name)
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		_ = l.Unlock()
		return nil, fmt.Errorf("lock file %s: %w", name, err)
	}
	return l, nil
}

// ownerOf says who wrote the lock file.
func ownerOf(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return "another process"
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return "another process"
	}
	if pid == os.Getpid() {
		return fmt.Sprintf("this process (%d)", pid)
	}
	return fmt.Sprintf("process %d", pid)
}
