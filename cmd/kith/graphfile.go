package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
)

// errNotStarted is why there is no store before the first attempt to start one.
var errNotStarted = errors.New("the graph's store has not been started yet")

// graphFile is the graph's store in its child process, started as soon as it can be: a file that cannot be opened must not
// keep searches from being answered, and must be taken up when whatever ailed it is mended. Until then its calls say why.
type graphFile struct {
	cfg child.Config

	starting sync.Mutex // held while the child starts

	mu struct {
		sync.Mutex
		store  *child.Store
		err    error // why there is none
		closed bool
	}
}

var _ graphstore.Store = (*graphFile)(nil)

// openGraph returns the graph's store; nothing is started yet. Only a service, which can fill a graph again, moves one aside
// that cannot be trusted.
func (e *env) openGraph(path string, hooks child.Hooks, service bool) (*graphFile, error) {
	cfg, err := e.childConfig(hooks)
	if err != nil {
		return nil, err
	}
	cfg.Path, cfg.Quarantine.Off = path, !service
	g := &graphFile{cfg: cfg}
	g.mu.err = errNotStarted
	return g, nil
}

// open starts the store's child if there is none, and accepts an empty graph in the place of a damaged one: it is for who
// loads the graph and plans anew. What keeps it from starting is what the store's calls return from then on.
func (g *graphFile) open(ctx context.Context) {
	if store, err := g.start(ctx); err == nil {
		store.AcceptEmpty()
	}
}

// start returns the store, starting its child if there is none.
func (g *graphFile) start(ctx context.Context) (*child.Store, error) {
	g.starting.Lock()
	defer g.starting.Unlock()
	if store, err := g.started(); err == nil || errors.Is(err, graphstore.ErrClosed) {
		return store, err
	}
	store, err := child.Start(ctx, g.cfg)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil:
		g.mu.err = err
		return nil, err
	case g.mu.closed:
		return nil, firstError(store.Close(), graphstore.ErrClosed)
	}
	g.mu.store, g.mu.err = store, nil
	return store, nil
}

// started returns the store, or why there is none.
func (g *graphFile) started() (*child.Store, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.closed {
		return nil, graphstore.ErrClosed
	}
	return g.mu.store, g.mu.err
}

// Apply implements [graphstore.Store].
func (g *graphFile) Apply(ctx context.Context, changes []graphstore.Change) error {
	return g.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked implements [graphstore.Store].
func (g *graphFile) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.ApplyMarked(ctx, changes, mark)
}

// Head implements [graphstore.Store].
func (g *graphFile) Head(ctx context.Context) (graphstore.Head, error) {
	store, err := g.started()
	if err != nil {
		return graphstore.Head{}, err
	}
	return store.Head(ctx)
}

// Load implements [graphstore.Store].
func (g *graphFile) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.Load(ctx, space, yield)
}

// LoadAll implements [graphstore.Store].
func (g *graphFile) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.LoadAll(ctx, yield)
}

// Spaces implements [graphstore.Store].
func (g *graphFile) Spaces(ctx context.Context) ([]graphstore.Space, error) {
	store, err := g.started()
	if err != nil {
		return nil, err
	}
	return store.Spaces(ctx)
}

// Stats implements [graphstore.Store].
func (g *graphFile) Stats(ctx context.Context) (graphstore.Stats, error) {
	store, err := g.started()
	if err != nil {
		return graphstore.Stats{}, err
	}
	return store.Stats(ctx)
}

// health returns the account of the child, or false if none was started.
func (g *graphFile) health() (child.Health, bool) {
	store, err := g.started()
	if err != nil || store == nil {
		return child.Health{}, false
	}
	return store.Health(), true
}

// Close implements [graphstore.Store].
func (g *graphFile) Close() error {
	g.mu.Lock()
	store := g.mu.store
	g.mu.closed, g.mu.store = true, nil
	g.mu.Unlock()
	if store == nil {
		return nil
	}
	return store.Close()
}

// lost reports whether the store has an empty graph in the place of the one it had.
func (g *graphFile) lost() bool {
	store, err := g.started()
	return err == nil && store.Emptied()
}

// records yields the records of a graph, nodes before their edges.
type records func(yield func(graphstore.Change) error) error

func recordsOf(seq iter.Seq[graphstore.Change]) records {
	return func(yield func(graphstore.Change) error) error {
		for c := range seq {
			if err := yield(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// built is a graph that was written anew, beside the present one.
type built struct {
	path  string
	head  graphstore.Head
	stats graphstore.Stats
}

// build writes a new file with these records, in a process of its own.
func (g *graphFile) build(ctx context.Context, id string, mark graphstore.Mark, all records) (built, error) {
	b := built{path: g.cfg.Path + ".rebuilt"}
	if err := os.RemoveAll(b.path); err != nil {
		return b, fmt.Errorf("remove an earlier attempt: %w", err)
	}
	var err error
	b.head, b.stats, err = child.Build(ctx, child.BuildConfig{
		Command: g.cfg.Command, Env: g.cfg.Env, SocketDir: g.cfg.SocketDir, Errors: g.cfg.Errors, Stderr: g.cfg.Stderr,
		Path: b.path, ID: id, Mark: mark,
	}, all)
	return b, err
}

// replace puts a graph that was built in the place of the present one.
func (g *graphFile) replace(ctx context.Context, b built) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.Replace(ctx, b.path)
}

// account returns what the store's process uses.
func (g *graphFile) account(ctx context.Context) (child.Account, error) {
	store, err := g.started()
	if err != nil {
		return child.Account{}, err
	}
	return store.Account(ctx)
}

// trust lets a store's process that has begun anew take commits if its head is right.
func (g *graphFile) trust(ctx context.Context, check func(context.Context, graphstore.Head) error) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.Trust(ctx, func(head graphstore.Head) error { return check(ctx, head) })
}

// verify has the store read everything and compare it with its head.
func (g *graphFile) verify(ctx context.Context) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.Verify(ctx)
}

// quarantine moves the graph aside.
func (g *graphFile) quarantine(ctx context.Context, reason string) error {
	store, err := g.started()
	if err != nil {
		return err
	}
	return store.Quarantine(ctx, reason)
}
