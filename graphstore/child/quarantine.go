package child

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// The files of a graph, by what is added to its path: the graph, the log, the pages of a checkpoint. They make sense only
// together. The lock file beside them stays.
var graphSuffixes = []string{"", ".wal", ".shadow"}

const (
	lockSuffix       = ".lock"
	quarantineSuffix = ".quarantine"
	unfinished       = ".unfinished" // a folder whose files are not all there yet
)

// quarantineIfDue moves the graph aside if the openings of it failed often enough, and tells the owner. An empty graph
// that cannot be opened either is not moved: that mends nothing.
func (v *supervisor) quarantineIfDue(failure *startError) (moved bool, err error) {
	if failure.kind != damaged {
		return false, nil
	}
	v.failures++
	if v.cfg.Quarantine.Off || v.barren || v.failures < v.cfg.Quarantine.After {
		return false, nil
	}
	g, err := findGraph(v.cfg)
	if err != nil {
		return false, fmt.Errorf("quarantine: %w", err)
	}
	if !g.any() {
		return false, nil // it is not the graph that cannot be opened
	}
	q, err := g.quarantine(time.Now())
	if err != nil {
		return false, fmt.Errorf("quarantine: %w", err)
	}
	v.failures, v.barren = 0, true
	q.Reason = failure.Error()
	v.quarantined(q)
	return true, nil
}

// resumeQuarantine ends what a process that died did not: files of one graph must not stand in two places, and the owner
// must hear of it.
func (v *supervisor) resumeQuarantine() error {
	g, err := findGraph(v.cfg)
	if err != nil {
		return err
	}
	q, err := g.resume()
	if err != nil {
		return fmt.Errorf("end an interrupted quarantine: %w", err)
	}
	if q != nil {
		q.Reason = "interrupted quarantine"
		v.quarantined(*q)
	}
	return nil
}

func (v *supervisor) quarantined(q Quarantine) {
	v.mu.Lock()
	v.mu.health.Quarantines++
	v.mu.Unlock()
	v.log.Error("graph moved aside: an empty one takes its place and must be rebuilt", "dir", q.Dir, "files", q.Files, "reason", q.Reason)
	v.cfg.Hooks.Quarantined(q)
}

// graphFiles are the files of one graph and the place for those that cannot be opened.
type graphFiles struct{ path, dir string }

// findGraph follows symbolic links: the file is to be moved, not a link to it.
func findGraph(cfg Config) (graphFiles, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return graphFiles{}, fmt.Errorf("path of graph: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return graphFiles{}, fmt.Errorf("path of graph: %w", err)
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return graphFiles{path, cmp.Or(cfg.Quarantine.Dir, path+quarantineSuffix)}, nil
}

// any reports whether there is anything to move.
func (g graphFiles) any() bool {
	return slices.ContainsFunc(graphSuffixes, func(suffix string) bool { return exists(g.path + suffix) })
}

// quarantine moves the files into a folder named for the time. The folder has its final name only when all are in it.
func (g graphFiles) quarantine(at time.Time) (Quarantine, error) {
	folder := filepath.Join(g.dir, at.UTC().Format("20060102T150405.000000Z"))
	if err := os.MkdirAll(folder+unfinished, 0o700); err != nil {
		return Quarantine{}, err
	}
	return g.finish(folder, at)
}

// resume ends an unfinished quarantine. It returns nil if there is none.
func (g graphFiles) resume() (*Quarantine, error) {
	entries, err := os.ReadDir(g.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), unfinished); is {
			q, err := g.finish(filepath.Join(g.dir, name), time.Now())
			return &q, err
		}
	}
	return nil, nil //nolint:nilnil // documented
}

// finish moves what is left of the files into the unfinished folder and names it. The graph itself goes first: a log
// without its graph is refused by whoever opens it, a graph without its log would be taken for a whole one. It does so
// under the lock of the graph: what another process owns stays.
func (g graphFiles) finish(folder string, at time.Time) (Quarantine, error) {
	lock := flock.New(g.path+lockSuffix, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return Quarantine{}, fmt.Errorf("lock file: %w", err)
	}
	if !got {
		return Quarantine{}, fmt.Errorf("%w: %s is locked", ErrInUse, g.path)
	}
	defer func() { _ = lock.Unlock() }() // ends with the process at the latest
	if err := g.strange(); err != nil {
		return Quarantine{}, err
	}
	suffixes := graphSuffixes
	if exists(filepath.Join(folder+unfinished, filepath.Base(g.path))) && exists(g.path) {
		suffixes = nil // the graph is there already: what stands in its place is a new one
	}
	for _, suffix := range suffixes {
		to := filepath.Join(folder+unfinished, filepath.Base(g.path)+suffix)
		if err := os.Rename(g.path+suffix, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Quarantine{}, err
		}
	}
	if err := os.Rename(folder+unfinished, folder); err != nil {
		return Quarantine{}, err
	}
	if err := errors.Join(syncDir(folder), syncDir(g.dir), syncDir(filepath.Dir(g.path))); err != nil {
		return Quarantine{}, err
	}
	q := Quarantine{Dir: folder, At: at}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		q.Files = append(q.Files, e.Name())
	}
	return q, err
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
