package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// resumeReplacement goes on with a replacement that was interrupted. It returns one that is up to its last step, which the
// opening of the graph decides, or nil.
func (g graphFiles) resumeReplacement(ctx context.Context, cfg Config) (*replacement, error) {
	entries, err := os.ReadDir(g.replaced)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, state := range []string{unfinished, clearing, returning} {
			name, is := strings.CutSuffix(e.Name(), state)
			if !is {
				continue
			}
			r := &replacement{graphFiles: g, folder: filepath.Join(g.replaced, name), keep: cfg.Replaced.Keep, step: cfg.step}
			return r.resume(ctx, state)
		}
	}
	return nil, nil //nolint:nilnil // documented
}

func (r *replacement) resume(ctx context.Context, state string) (trial *replacement, err error) {
	if state == unfinished && !exists(r.new(unfinished, "")) && exists(r.path) && !r.justBegun() {
		return r, nil // the new graph is in its place, and its child may be dying there
	}
	unlock, err := r.own(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch {
	case state == clearing:
		return nil, r.clear()
	case state == returning:
		return nil, r.giveBack()
	case exists(r.new(unfinished, "")):
		if err := r.advance(); err != nil {
			return nil, fmt.Errorf("put new graph in its place: %w", err)
		}
		return r, nil
	case r.justBegun():
		return nil, os.Remove(r.folder + unfinished)
	}
	// There is no new graph, neither here nor at the path.
	if err := r.turn(unfinished, returning); err != nil {
		return nil, err
	}
	return nil, r.giveBack()
}

// justBegun reports a folder without anything in it: nothing was moved yet. (Or there was no old graph and the new one is in
// its place: then there is nothing to go back to.)
func (r *replacement) justBegun() bool {
	entries, err := os.ReadDir(r.folder + unfinished)
	return err == nil && len(entries) == 0
}

// judge ends a replacement by the outcome of the opening, or leaves it to the next one if the outcome says nothing about the
// graph.
func (v *supervisor) judge(ctx context.Context, r *replacement, p *process, outcome error) (*process, error) {
	if outcome == nil {
		if outcome = r.accept(); outcome == nil {
			return p, nil
		}
		p.condemn("the replacement of its graph cannot be ended")
		p.release()
		outcome = &startError{phase: CrashedOpening, pid: p.pid, err: outcome}
	}
	failure, is := errors.AsType[*startError](outcome)
	if !is { // the context has ended
		return nil, outcome
	}
	says := failure.kind == damaged || errors.Is(failure, ErrForeign) || errors.Is(failure, ErrNewerSchema)
	if !says && !v.swapping {
		return nil, outcome
	}
	if err := r.undo(ctx); err != nil {
		return nil, &startError{phase: failure.phase, pid: failure.pid, err: fmt.Errorf("%w; and the graph before it cannot be put back: %w", failure, err)}
	}
	v.log.Error("new graph cannot be opened: the one before it is back in its place", "err", failure, "dir", r.folder+refusedGraph)
	return nil, &startError{phase: failure.phase, pid: failure.pid, kind: undone,
		err: fmt.Errorf("new graph cannot be opened, the old one is back in its place: %w", failure)}
}
