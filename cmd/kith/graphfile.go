package main

import (
	"context"
	"errors"
	"sync"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// graphFile is the graph's store, opened as soon as it can be: a file that cannot be opened must not keep searches from
// being answered, and must be taken up when whatever ailed it is mended. LoadAll, which is what a graph that is not there
// yet is asked for, tries to open it.
type graphFile struct {
	path string
	cfg  kuzu.Config

	mu struct {
		sync.Mutex
		store  *kuzu.Store
		err    error // why there is none
		closed bool
	}
}

var _ graphstore.Store = (*graphFile)(nil)

// openGraph opens the graph's file. A file that another process owns is an error; any other trouble is reported by the
// store's calls until it is over.
func (e *env) openGraph() (*graphFile, error) {
	g := &graphFile{path: graphPath(e.cfg), cfg: kuzu.Config{Logger: e.log}}
	_, err := g.open()
	if errors.Is(err, kuzu.ErrInUse) {
		return nil, err
	}
	return g, nil
}

// open returns the store, opening it if there is none.
func (g *graphFile) open() (*kuzu.Store, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.mu.closed:
		return nil, graphstore.ErrClosed
	case g.mu.store != nil:
		return g.mu.store, nil
	}
	store, err := kuzu.Open(g.path, g.cfg)
	if err != nil {
		g.mu.err = err
		return nil, err
	}
	g.mu.store, g.mu.err = store, nil
	return store, nil
}

// opened returns the store, or why there is none.
func (g *graphFile) opened() (*kuzu.Store, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.store == nil && g.mu.err == nil {
		return nil, graphstore.ErrClosed
	}
	return g.mu.store, g.mu.err
}

// Apply implements [graphstore.Store].
func (g *graphFile) Apply(ctx context.Context, changes []graphstore.Change) error {
	store, err := g.opened()
	if err != nil {
		return err
	}
	return store.Apply(ctx, changes)
}

// Load implements [graphstore.Store].
func (g *graphFile) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	store, err := g.opened()
	if err != nil {
		return err
	}
	return store.Load(ctx, space, yield)
}

// LoadAll implements [graphstore.Store]; it opens the file if it is not open.
func (g *graphFile) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	store, err := g.open()
	if err != nil {
		return err
	}
	return store.LoadAll(ctx, yield)
}

// Spaces implements [graphstore.Store].
func (g *graphFile) Spaces(ctx context.Context) ([]graphstore.Space, error) {
	store, err := g.opened()
	if err != nil {
		return nil, err
	}
	return store.Spaces(ctx)
}

// Stats implements [graphstore.Store].
func (g *graphFile) Stats(ctx context.Context) (graphstore.Stats, error) {
	store, err := g.opened()
	if err != nil {
		return graphstore.Stats{}, err
	}
	return store.Stats(ctx)
}

// id returns the id of the graph, made together with the file.
func (g *graphFile) id() (string, error) {
	store, err := g.opened()
	if err != nil {
		return "", err
	}
	return store.ID(), nil
}

// leaked returns the bytes of memory the engine has lost since the file was opened.
func (g *graphFile) leaked() int64 {
	store, err := g.opened()
	if err != nil {
		return 0
	}
	return store.Leaked()
}

// Close implements [graphstore.Store].
func (g *graphFile) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.closed = true
	if g.mu.store == nil {
		return nil
	}
	store := g.mu.store
	g.mu.store, g.mu.err = nil, graphstore.ErrClosed
	return store.Close()
}
