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
	Report  Account `json:"report"`
}

const checkpointFormat = 1

// checkpoints keeps one checkpoint for each range.
type checkpoints struct{ dir string }

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
		return checkpoint{}, fmt.Errorf("read checkpoint %s: %w", c.path(r), err)
	}
	if cp.Format != checkpointFormat {
		return checkpoint{}, fmt.Errorf("checkpoint %s has format %d: want %d", c.path(r), cp.Format, checkpointFormat)
	}
	if was := cp.Report.Request; !r.sameRange(was) {
		return checkpoint{}, fmt.Errorf("%w: that of %s is of other options (agent %q, since %s, clear %v, no_neighbors %v): give the same, or leave resume out",
			ErrNoCheckpoint, c.path(r), was.AgentID, was.Since, was.Clear, was.NoNeighbors)
	}
	return cp, nil
}

// write replaces the checkpoint: after a crash there is the old one or the new one, whole.
func (c checkpoints) write(cp checkpoint) (err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("make directory of checkpoints: %w", err)
	}
	cp.Format = checkpointFormat
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
