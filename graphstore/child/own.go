package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// How often it is looked whether an owner has let go: soon first, a dying child mostly does at once.
const (
	ownerPollMin = 20 * time.Millisecond
	ownerPollMax = 500 * time.Millisecond
)

// untilFree tries again what another owner of the files may stand in the way of, for as long as wait says.
func untilFree(ctx context.Context, wait time.Duration, try func() error) error {
	until := time.Now().Add(wait)
	for poll := ownerPollMin; ; poll = min(2*poll, ownerPollMax) {
		err := try()
		left := time.Until(until)
		if !errors.Is(err, ErrInUse) || left <= 0 {
			return err
		}
		timer := time.NewTimer(min(poll, left))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// own takes the lock of the graph, so that its files may be moved: what another process owns stays. The directory and the
// lock file are made if they are gone.
func (g graphFiles) own(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(g.path), 0o700); err != nil {
		return nil, fmt.Errorf("directory of the graph: %w", err)
	}
	lock := flock.New(g.path+lockSuffix, flock.SetPermissions(0o600))
	release := func() { _ = lock.Unlock() } // ends with the process at the latest
	err = untilFree(ctx, g.wait, func() error {
		got, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("lock file: %w", err)
		}
		if !got {
			return fmt.Errorf("%w: %s is locked by process %s", ErrInUse, g.path, ownerOf(g.path))
		}
		if err := g.strange(); err != nil {
			release()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return release, nil
}

// ownerOf says who wrote the lock file of a graph, which stores that lock it do.
func ownerOf(path string) string {
	b, err := os.ReadFile(path + lockSuffix)
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" && len(pid) <= len("4194304") {
		return pid
	}
	return "unknown"
}

// strange returns an error if a process that does not know our lock file has the graph open: Kuzu itself locks its file
// for other processes. (To open and close a file drops the locks of the process that does it; this one has none on it.)
func (g graphFiles) strange() error {
	f, err := os.OpenFile(g.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	held := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &held); err != nil {
		return fmt.Errorf("lock of %s: %w", g.path, err)
	}
	if held.Type != syscall.F_UNLCK {
		return fmt.Errorf("%w: process %d has %s open", ErrInUse, held.Pid, g.path)
	}
	return nil
}
