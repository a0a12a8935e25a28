package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// runFile is what a running service leaves in its data directory, so that other commands find it.
type runFile struct {
	PID      int       `json:"pid"`
	Instance string    `json:"instance"`       // what /livez must answer: another service may have taken the address since
	HTTP     string    `json:"http"`           // base URL of the API
	NATS     string    `json:"nats,omitempty"` // URL of the embedded server; empty with an external one
	Started  time.Time `json:"started"`
}

func runFilePath(dataDir string) string { return filepath.Join(dataDir, "service.json") }

// write stores the file so that no reader sees half of it.
func (r runFile) write(dataDir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	tmp := runFilePath(dataDir) + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	if err := os.Rename(tmp, runFilePath(dataDir)); err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	return nil
}

// readRunFile returns the file, or false when there is none. Whether its service still runs is for the caller to find
// out: a killed one leaves the file behind.
func readRunFile(dataDir string) (runFile, bool, error) {
	data, err := os.ReadFile(runFilePath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return runFile{}, false, nil
	}
	if err != nil {
		return runFile{}, false, fmt.Errorf("read service file: %w", err)
	}
	var r runFile
	if err := json.Unmarshal(data, &r); err != nil {
		return runFile{}, false, fmt.Errorf("read service file %s: %w: remove it if no service runs, or start the service again", runFilePath(dataDir), err)
	}
	return r, true, nil
}
