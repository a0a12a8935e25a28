package main

import (
	"errors"
	"fmt"
	"io/fs"
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

// dropCheckpoints removes how far interrupted backfills were, before another graph takes the place of the one that they wrote to: what
// they noted as written may not be in that one.
func dropCheckpoints(c config.Config) error {
	if err := os.RemoveAll(backfillDir(c)); err != nil {
		return fmt.Errorf("remove checkpoints of interrupted backfills: %w", err)
	}
	return nil
}

// someVectors is an error where the embedded vector store is to be read and is not there, since nothing has ever been stored: the data
// directory is more likely another one. With Qdrant the data directory is made: there may be nothing yet but a collection.
func (e *env) someVectors() error {
	if e.cfg.Qdrant.URL != "" {
		if err := os.MkdirAll(e.cfg.DataDir, 0o700); err != nil {
			return fmt.Errorf("create data directory: %w", err)
		}
		return nil
	}
	if _, ok, err := e.running(); err != nil || ok {
		return err
	}
	if _, err := os.Stat(vectorPath(e.cfg)); errors.Is(err, fs.ErrNotExist) {
		return &usageError{fmt.Errorf("no service runs on the data directory %s (KITH_DATA_DIR, --data-dir), QDRANT_URL is not set, and there is no vector store %s",
			e.cfg.DataDir, vectorPath(e.cfg))}
	}
	return nil
}

// namingSetting names the settings that an error of the vector store is about.
func namingSetting(err error) error {
	if !errors.Is(err, vdb.ErrNoCollection) {
		return err
	}
	return fmt.Errorf("%w: QDRANT_COLLECTION (--qdrant-collection) says which, QDRANT_CREATE_DIMENSION (--qdrant-create) has kith create it", err)
}

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
