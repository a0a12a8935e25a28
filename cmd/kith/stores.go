package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// Where the embedded stores lie in the data directory.
func graphPath(c config.Config) string  { return filepath.Join(c.DataDir, "graph", "kith.kuzu") }
func vectorPath(c config.Config) string { return filepath.Join(c.DataDir, "vectors.db") }
func natsDir(c config.Config) string    { return filepath.Join(c.DataDir, "nats") }

// openVectors opens Qdrant where a URL is set, else the embedded store. A Qdrant that is down is no error here: its
// first search says so, and it is used as soon as it is back.
func (e *env) openVectors() (vdb.Store, error) {
	q := e.cfg.Qdrant
	if q.URL == "" {
		if err := os.MkdirAll(e.cfg.DataDir, 0o700); err != nil {
			return nil, fmt.Errorf("create data directory: %w", err)
		}
		store, err := sqlite.New(vectorPath(e.cfg), sqlite.Config{Logger: e.log})
		if err != nil {
			return nil, fmt.Errorf("open embedded vector store: %w", err)
		}
		return store, nil
	}
	store, err := qdrant.New(qdrant.Config{
		URL: q.URL, APIKey: q.APIKey, Collection: q.Collection, VectorName: q.VectorName, Fields: q.Fields,
		CreateCollection: q.CreateDim > 0, Dimension: q.CreateDim, Timeout: q.Timeout, Logger: e.log,
		Keyword: q.Keyword, SparseVector: q.Sparse, ServerTokenizer: q.Tokenizer, ServerLanguage: q.Language,
	})
	if err != nil {
		return nil, &usageError{fmt.Errorf("open Qdrant: %w", err)}
	}
	return store, nil
}
