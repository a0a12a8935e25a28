package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const replacedSuffix = ".replaced"

// The states of a replacement: what is added to the name of its folder. In each it is known, by what is in the folder, where
// every file belongs, so that whoever finds it can go on. None: the replacement is over, and the folder has the old graph.
const (
	// unfinished: the new graph is in the folder under its own name until the old files are in there too, and then at the
	// path. Whoever finds it goes on; the next opening decides whether the new graph stays.
	//
	// clearing: the new graph did not open; what is at the path goes back into the folder.
	clearing = ".clearing"
	// returning: what is in the folder of the old graph goes back to the path.
	returning = ".returning"
	// removing: the new graph has opened, and the folder can go.
	removing = ".removing"
	// refusedGraph: over; the folder has the new graph.
	refusedGraph = ".refused"
)

// newName is added to the names of the new graph's files in the folder.
const newName = ".new"

// replacement puts one graph in the place of another. Its steps are renames, in this order:
//
//  1. from -> the folder, as the new graph. From here on the new graph is meant to take over: whoever goes on needs no more
//     than the folder.
//  2. the old graph, its log, its shadow -> the folder. The graph goes first: a log without its graph is refused by whoever
//     opens it, a graph without its log would be taken for a whole one.
//  3. the new graph -> the path. Now the folder has no new graph, which says that the one at the path is it.
//  4. a child opens it. If it can, the folder is renamed (kept or to be removed) before the child takes any call. If it
//     cannot, the way back: what is at the path -> the folder, then the old files -> the path, the graph last.
//
// Moving the old files over one by one is never seen by a store: the steps run under the graph's lock, and Start ends them
// before it opens anything.
type replacement struct {
	graphFiles
	folder string // without a state
	keep   bool
	step   func()
}

func newReplacement(g graphFiles, cfg Config, at time.Time) *replacement {
	return &replacement{graphFiles: g, folder: filepath.Join(g.replaced, dated(at)), keep: cfg.Replaced.Keep, step: cfg.step}
}

// old and new name files in the folder in one of its states.
func (r *replacement) old(state, suffix string) string {
	return filepath.Join(r.folder+state, filepath.Base(r.path)+suffix)
}

func (r *replacement) new(state, suffix string) string {
	return filepath.Join(r.folder+state, filepath.Base(r.path)+newName+suffix)
}

// begin takes the steps 1 to 3.
func (r *replacement) begin(ctx context.Context, from string) error {
	unlock, err := r.own(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	done, err := ownSuccessor(from)
	if err != nil {
		return err
	}
	defer done()
	if err := syncFile(from); err != nil {
		return err
	}
	r.step()
	if err := os.MkdirAll(r.folder+unfinished, 0o700); err != nil {
		return err
	}
	if err := r.move(from, r.new(unfinished, "")); err != nil {
		return err
	}
	if err := errors.Join(syncDir(filepath.Dir(r.replaced)), syncDir(r.replaced), syncDir(r.folder+unfinished),
		syncDir(filepath.Dir(from))); err != nil {
		return err
	}
	return r.advance()
}

// advance takes the steps 2 and 3, or what is left of them.
func (r *replacement) advance() error {
	for _, suffix := range graphSuffixes {
		if err := r.move(r.path+suffix, r.old(unfinished, suffix)); err != nil {
			return err
		}
	}
	if err := syncDir(r.folder + unfinished); err != nil {
		return err
	}
	if err := r.move(r.new(unfinished, ""), r.path); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(r.path)), syncDir(r.folder+unfinished))
}

// move renames a file, if there is one, and overwrites none.
func (r *replacement) move(from, to string) error {
	r.step()
	if !exists(from) {
		return nil
	}
	if exists(to) {
		return fmt.Errorf("%s and %s are both there: move one away", from, to)
	}
	return os.Rename(from, to)
}

// accept ends the replacement for good: the new graph has opened.
func (r *replacement) accept() error {
	state := removing
	if r.keep {
		state = ""
	}
	return r.turn(unfinished, state)
}

// turn brings the folder from one state to another.
func (r *replacement) turn(from, to string) error {
	r.step()
	if err := os.Rename(r.folder+from, r.folder+to); err != nil {
		return err
	}
	return syncDir(r.replaced)
}

// undo puts the old graph back after the steps 1 to 3.
func (r *replacement) undo(ctx context.Context) error {
	unlock, err := r.own(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.turn(unfinished, clearing); err != nil {
		return err
	}
	return r.clear()
}

// clear goes on from the state clearing.
func (r *replacement) clear() error {
	for _, suffix := range graphSuffixes {
		if err := r.move(r.path+suffix, r.new(clearing, suffix)); err != nil {
			return err
		}
	}
	if err := r.turn(clearing, returning); err != nil {
		return err
	}
	return r.giveBack()
}

// giveBack goes on from the state returning.
func (r *replacement) giveBack() error {
	for _, suffix := range slices.Backward(graphSuffixes) {
		if err := r.move(r.old(returning, suffix), r.path+suffix); err != nil {
			return err
		}
	}
	if err := syncDir(filepath.Dir(r.path)); err != nil {
		return err
	}
	return r.turn(returning, refusedGraph)
}

// withdraw takes back steps that could not all be taken.
func (r *replacement) withdraw(ctx context.Context, from string) error {
	if !exists(r.folder + unfinished) {
		return nil
	}
	unlock, err := r.own(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.turn(unfinished, returning); err != nil {
		return err
	}
	if err := r.giveBack(); err != nil {
		return err
	}
	return r.handBack(from)
}

// handBack returns the new graph to where it came from.
func (r *replacement) handBack(from string) error {
	for _, suffix := range graphSuffixes {
		if err := r.move(r.new(refusedGraph, suffix), from+suffix); err != nil {
			return fmt.Errorf("%w (the new graph is in %s)", err, r.folder+refusedGraph)
		}
	}
	r.step()
	return os.Remove(r.folder + refusedGraph)
}

// sweep removes what replacements that are over have left: graphs that are not to be kept, and empty folders.
func (v *supervisor) sweep() {
	g, err := findGraph(v.cfg)
	if err != nil {
		return // nothing can have been left there
	}
	entries, err := os.ReadDir(g.replaced)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.log.Warn("replaced graph is not removed", "err", err)
	}
	for _, e := range entries {
		folder := filepath.Join(g.replaced, e.Name())
		switch filepath.Ext(folder) {
		case removing:
			if err := os.RemoveAll(folder); err != nil {
				v.log.Warn("replaced graph is not removed", "err", err)
			}
		case refusedGraph:
			_ = os.Remove(folder) // only if it is empty
		}
	}
	if v.cfg.Replaced.Dir == "" {
		_ = os.Remove(g.replaced) // likewise
	}
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
