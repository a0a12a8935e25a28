package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The files of a graph, by what is added to its path: the graph, the log, the pages of a checkpoint, the way back from it. They
// make sense only together. The lock file beside them stays.
var graphSuffixes = []string{"", ".wal", ".shadow", ".undo", ".undo.json"}

// FileSuffixes returns what is added to the path of a graph by its files, the graph itself ("") first. They belong together.
func FileSuffixes() []string { return slices.Clone(graphSuffixes) }

const (
	lockSuffix       = ".lock"
	quarantineSuffix = ".quarantine"
	unfinished       = ".unfinished" // a folder whose files are not all there yet
)

// graphFiles are the files of one graph and the places for those that are moved aside.
type graphFiles struct {
	path, dir, replaced string
	wait                time.Duration // for another owner of them
}

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
	return graphFiles{path: path, dir: cmp.Or(cfg.Quarantine.Dir, path+quarantineSuffix),
		replaced: cmp.Or(cfg.Replaced.Dir, path+replacedSuffix), wait: cfg.WaitForOwner}, nil
}

// any reports whether there is anything to move.
func (g graphFiles) any() bool {
	return slices.ContainsFunc(graphSuffixes, func(suffix string) bool { return exists(g.path + suffix) })
}

// quarantine moves the files into a folder named for the time. The folder has its final name only when all are in it.
func (g graphFiles) quarantine(ctx context.Context, at time.Time) (Quarantine, error) {
	folder := filepath.Join(g.dir, dated(at))
	if err := os.MkdirAll(folder+unfinished, 0o700); err != nil {
		return Quarantine{}, err
	}
	return g.finish(ctx, folder, at)
}

// dated names a folder.
func dated(at time.Time) string { return at.UTC().Format("20060102T150405.000000Z") }

// resume ends an unfinished quarantine. It returns nil if there is none.
func (g graphFiles) resume(ctx context.Context) (*Quarantine, error) {
	entries, err := os.ReadDir(g.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), unfinished); is {
			q, err := g.finish(ctx, filepath.Join(g.dir, name), time.Now())
			return &q, err
		}
	}
	return nil, nil //nolint:nilnil // documented
}

// finish moves what is left of the files into the unfinished folder and names it. The graph itself goes first: a log
// without its graph is refused by whoever opens it, a graph without its log would be taken for a whole one. It does so
// under the lock of the graph: what another process owns stays.
func (g graphFiles) finish(ctx context.Context, folder string, at time.Time) (Quarantine, error) {
	unlock, err := g.own(ctx)
	if err != nil {
		return Quarantine{}, err
	}
	defer unlock()
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
