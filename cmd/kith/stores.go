package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// Where the embedded stores lie in the data directory.
func graphPath(c config.Config) string  { return filepath.Join(c.DataDir, "graph", "kith.kuzu") }
func vectorPath(c config.Config) string { return filepath.Join(c.DataDir, "vectors.db") }
func natsDir(c config.Config) string    { return filepath.Join(c.DataDir, "nats") }

// backfillDir is where backfills keep how far they are, and facts for as long as they are at work.
func backfillDir(c config.Config) string { return filepath.Join(c.DataDir, "backfills") }

// openVectors opens Qdrant where a URL is set, else the embedded store. A Qdrant that is down is no error here: its
// first search says so, and it is used as soon as it is back.
func (e *env) openVectors() (vdb.Store, error) {
	if e.cfg.Qdrant.URL == "" {
		if err := os.MkdirAll(e.cfg.DataDir, 0o700); err != nil {
			return nil, fmt.Errorf("create data directory: %w", err)
		}
		store, err := sqlite.New(vectorPath(e.cfg), sqlite.Config{Logger: e.log})
		if err != nil {
			return nil, fmt.Errorf("open embedded vector store: %w", err)
		}
		return store, nil
	}
	m, err := e.mapping()
	if err != nil {
		return nil, err
	}
	store, err := e.openQdrant(m)
	if err != nil {
		return nil, err
	}
	return store, nil
}
