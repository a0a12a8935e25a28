package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
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
	})
	if err != nil {
		return nil, &usageError{fmt.Errorf("open Qdrant: %w", err)}
	}
	return store, nil
}

// openGraph opens the graph's file. A file that another process owns is an error; one that cannot be read is a store
// that says so at every call, because searches go on without a graph.
func (e *env) openGraph() (graphstore.Store, error) {
	store, err := kuzu.Open(graphPath(e.cfg), kuzu.Config{Logger: e.log})
	switch {
	case err == nil:
		return store, nil
	case errors.Is(err, kuzu.ErrInUse):
		return nil, err
	default:
		e.log.Error("graph cannot be opened; searches keep the vector order, events wait in their stream", "err", err)
		return brokenGraph{fmt.Errorf("open graph: %w", err)}, nil
	}
}

// brokenGraph stands for a graph that cannot be opened.
type brokenGraph struct{ err error }

var _ graphstore.Store = brokenGraph{}

func (b brokenGraph) Apply(context.Context, []graphstore.Change) error { return b.err }
func (b brokenGraph) Load(context.Context, graphstore.Space, func(graphstore.Change) error) error {
	return b.err
}
func (b brokenGraph) LoadAll(context.Context, func(graphstore.Change) error) error { return b.err }
func (b brokenGraph) Spaces(context.Context) ([]graphstore.Space, error)           { return nil, b.err }
func (b brokenGraph) Stats(context.Context) (graphstore.Stats, error) {
	return graphstore.Stats{}, b.err
}
func (b brokenGraph) Close() error { return nil }
