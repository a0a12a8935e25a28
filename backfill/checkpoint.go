package backfill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// ErrNoCheckpoint reports that there is nothing to resume. Nothing was done.
var ErrNoCheckpoint = errors.New("no checkpoint of such a backfill")

// checkpoint is how far a run is: what the graph has for certain.
type checkpoint struct {
	Format  int    `json:"format"`
	Cursor  string `json:"cursor"` // of the next page; empty: the first
	Cleared bool   `json:"cleared"`
	// Of a run that writes the graph anew: the sizes of its files of facts, and whether they hold all.
	Parts   []int64 `json:"parts,omitempty"`
	Scanned bool    `json:"scanned,omitempty"`
	// Last are facts that were written last, page by page; a graph that lacks one has lost more. At most maxLast.
	Last   []lastFact `json:"last,omitempty"`
	Source string     `json:"source"` // Config.Source
	Report Account    `json:"report"`
}

type lastFact struct {
	User string `json:"user"`
	ID   string `json:"id"`
}

// wrote notes the last of the facts that a commit has written.
func (c *checkpoint) wrote(changes []graphstore.Change) {
	var last []lastFact
	for _, ch := range slices.Backward(changes) {
		if ch.Fact != nil && ch.Op == graphstore.Put && ch.Fact.State != graphstore.StateUnseen {
			if last = append(last, lastFact{ch.Space.UserID(), ch.Fact.ID}); len(last) == maxLast {
				break
			}
		}
	}
	if len(last) > 0 {
		c.Last = last
	}
}

const checkpointFormat = 1

// checkpoints keeps one checkpoint for each range.
type checkpoints struct{ dir, source string }

// path names the file of a range. Options that do not change the range are compared on reading, so that a run with others says what
// differs and does not begin anew.
func (c checkpoints) path(r Request) string {
	if r.UserID == "" {
		return filepath.Join(c.dir, "all.json")
	}
	sum := sha256.Sum256([]byte(r.UserID))
	return filepath.Join(c.dir, "user-"+hex.EncodeToString(sum[:8])+".json")
}

// read returns the checkpoint of a request that resumes.
func (c checkpoints) read(r Request) (checkpoint, error) {
	data, err := os.ReadFile(c.path(r))
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, fmt.Errorf("%w in %s: without resume it begins at the first point", ErrNoCheckpoint, c.dir)
	}
	if err != nil {
		return checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	var cp checkpoint
	if err := json.Unmarshal(data, &cp); err != nil {
		return checkpoint{}, fmt.Errorf("%w: %s cannot be read: %w: without resume it begins at the first point", ErrNoCheckpoint, c.path(r), err)
	}
	if err := cp.check(); err != nil {
		return checkpoint{}, fmt.Errorf("%w: %s: %w: without resume it begins at the first point", ErrNoCheckpoint, c.path(r), err)
	}
	if cp.Source != c.source {
		return checkpoint{}, fmt.Errorf("%w: that of %s is of %s, this is %s: give the same, or leave resume out", ErrNoCheckpoint, c.path(r), cp.Source, c.source)
	}
	if differs := r.differs(cp.Report.Request); differs != "" {
		return checkpoint{}, fmt.Errorf("%w: that of %s was begun with %s: give the same, or leave resume out", ErrNoCheckpoint, c.path(r), differs)
	}
	return cp, nil
}

// check returns in what a checkpoint is none that a run has written, and makes the lists that it may lack.
func (c *checkpoint) check() error {
	rep := &c.Report
	switch {
	case c.Format != checkpointFormat:
		return fmt.Errorf("format %d: want %d", c.Format, checkpointFormat)
	case rep.ID == "" || rep.GraphID == "":
		return fmt.Errorf("id %q of graph %q: want both", rep.ID, rep.GraphID)
	case len(c.Parts) > maxParts:
		return fmt.Errorf("%d parts: want at most %d", len(c.Parts), maxParts)
	case len(c.Last) > maxLast:
		return fmt.Errorf("%d facts that were written last: want at most %d", len(c.Last), maxLast)
	}
	var sum int64
	for _, size := range c.Parts {
		if size < 0 {
			return fmt.Errorf("part of %d bytes: want 0 or more", size)
		}
		sum += size
	}
	if c.Scanned && sum == 0 && rep.Scanned > rep.Skipped+rep.Filtered {
		return fmt.Errorf("%d points were read and no fact was kept", rep.Scanned)
	}
	if rep.Written == nil {
		rep.Written = map[string]int64{}
	}
	if rep.Removed == nil {
		rep.Removed = map[string]int64{}
	}
	if rep.Problems == nil {
		rep.Problems = []string{}
	}
	if rep.Missing == nil {
		rep.Missing = []string{}
	}
	return nil
}

// write replaces the checkpoint: after a crash there is the old one or the new one, whole.
func (c checkpoints) write(cp checkpoint) (err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("make directory of checkpoints: %w", err)
	}
	cp.Format, cp.Source = checkpointFormat, c.source
	data, err := json.MarshalIndent(cp, "", "  ")
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	path := c.path(cp.Report.Request)
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// remove removes the checkpoint of a run that is done.
func (c checkpoints) remove(r Request) error {
	if err := os.Remove(c.path(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return nil
}
