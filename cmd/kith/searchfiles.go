package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/kithgraph/kith/internal/canary"
)

// searchFilesName is the hidden command that searches the data directory. It is a process of its own because one that has
// a SQLite file open must not open and close that file by other means: closing drops SQLite's locks.
const searchFilesName = "search-files"

type searchFilesCmd struct{}

// fileSearch is what the command reads from its standard input. The texts are personal data: they stand on no command line.
type fileSearch struct {
	Dir      string          `json:"dir"`
	Canaries []canary.Canary `json:"canaries"`
}

// Run searches, and writes the report as JSON.
func (searchFilesCmd) Run(e *env) error {
	var what fileSearch
	if err := json.NewDecoder(os.Stdin).Decode(&what); err != nil {
		return fmt.Errorf("read what to search for: %w", err)
	}
	report, err := canary.NewFinder(what.Canaries).Search(what.Dir, classOf)
	if err != nil {
		return err
	}
	return json.NewEncoder(e.stdout).Encode(report)
}

// searchFiles searches the data directory in a process of its own.
func (e *env) searchFiles(ctx context.Context, canaries []canary.Canary) (canary.Report, error) {
	var report canary.Report
	self, err := os.Executable()
	if err != nil {
		return report, fmt.Errorf("find this program: %w", err)
	}
	in, err := json.Marshal(fileSearch{Dir: e.cfg.DataDir, Canaries: canaries})
	if err != nil {
		return report, fmt.Errorf("search files: %w", err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, self, searchFilesName)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	if err := cmd.Run(); err != nil {
		return report, fmt.Errorf("search files: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return report, fmt.Errorf("search files: read the report: %w", err)
	}
	return report, nil
}
