package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Replace puts the graph file at from, which must be closed and on the same disk, in the place of the present graph: calls
// wait, those in flight end, the files change places, and a new child opens the new graph. What becomes of the old one says
// Config.Replaced. It works while no child runs as well.
//
// If the new graph does not open, the old one takes its place again, the new one is at from as before, and the error says
// so. When calls are still in flight after Config.CloseTimeout nothing happens. The context bounds the wait for the
// beginning; then Replace lasts as long as CloseTimeout and OpenTimeout allow.
//
// When this process is killed in the middle, the next Start finds one of the two whole: the new one once it was moved out of
// from, if it opens, else the old one.
func (s *Store) Replace(ctx context.Context, from string) error {
	err := s.send(ctx, func(ctx context.Context, v *supervisor, p *process) (*process, error) { return v.swap(ctx, p, from) })
	if err != nil {
		return fmt.Errorf("replace graph by %s: %w", from, err)
	}
	s.awaitChild(ctx)
	return nil
}

// awaitChild waits until a child takes calls: the supervisor has one and is about to say so.
func (s *Store) awaitChild(ctx context.Context) {
	for {
		s.mu.Lock()
		taken, changed := s.mu.process != nil || s.mu.closed, s.mu.changed
		s.mu.Unlock()
		if taken {
			return
		}
		select {
		case <-changed:
		case <-s.supervised:
			return
		case <-ctx.Done():
			return
		}
	}
}

// swap is the errand of Replace.
func (v *supervisor) swap(ctx context.Context, p *process, from string) (next *process, err error) {
	g, err := findGraph(v.cfg)
	if err != nil {
		return p, err
	}
	if from, err = checkSuccessor(g, from); err != nil {
		return p, err
	}
	if p != nil {
		if err := v.retire(ctx, p); err != nil {
			return p, err
		}
		close(p.noted)
	}
	if err := v.settleAll(ctx); err != nil {
		return nil, err
	}
	r := newReplacement(g, v.cfg, time.Now())
	if err := r.begin(ctx, from); err != nil {
		return nil, errors.Join(err, r.withdraw(ctx, from))
	}
	v.swapping = true
	defer func() { v.swapping = false }()
	next, err = v.start(ctx)
	switch failed, is := errors.AsType[*startError](err); {
	case err == nil:
		v.hold(false)
		v.loadDeaths.Store(0)
	case is && failed.kind == undone:
		return nil, errors.Join(err, r.handBack(from))
	}
	return next, err
}

// settleAll ends what was interrupted before, so that nothing is in the way of a replacement.
func (v *supervisor) settleAll(ctx context.Context) error {
	trial, err := v.settle(ctx)
	if err == nil && trial != nil {
		err = errors.New("an earlier replacement is not decided yet: its graph has not been opened")
	}
	return err
}

// checkSuccessor returns the file that is to take the graph's place, without links, or why it cannot.
func checkSuccessor(g graphFiles, from string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if from, err = filepath.EvalSymlinks(from); err != nil {
		return "", err
	}
	info, err := os.Lstat(from)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file but %v", from, info.Mode())
	}
	if from == g.path {
		return "", errors.New("that is the graph itself")
	}
	for _, suffix := range graphSuffixes[1:] {
		if log, err := os.Stat(from + suffix); err == nil && log.Size() > 0 {
			return "", fmt.Errorf("%s is there: want a graph that was closed", from+suffix)
		}
	}
	return from, sameDisk(from, filepath.Dir(g.path))
}

func sameDisk(from, dir string) error {
	file, err := identify(from)
	if err != nil {
		return err
	}
	place, err := identify(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is made
	}
	if err == nil && file.device != place.device {
		err = fmt.Errorf("want a file on the disk of %s: %w", dir, syscall.EXDEV)
	}
	return err
}

// ownSuccessor makes sure that nobody has the file at from open that locks graphs. The lock file goes with what it locked.
func ownSuccessor(from string) (done func(), err error) {
	if !exists(from + lockSuffix) {
		return func() {}, nil
	}
	lock := flock.New(from+lockSuffix, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	if !got {
		return nil, fmt.Errorf("%w: %s is locked by process %s", ErrInUse, from, ownerOf(from))
	}
	return func() {
		if !exists(from) {
			_ = os.Remove(from + lockSuffix) // best effort: it is empty of meaning now
		}
		_ = lock.Unlock()
	}, nil
}
