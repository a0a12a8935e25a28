package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// graphChildName is the hidden command that runs the graph's engine: its crashes cannot be recovered from, so it has a
// process of its own.
const graphChildName = "graph-child"

// orphanWait is how long a child whose parent is gone finishes its transaction; the next service waits a little longer.
const orphanWait = 30 * time.Second

// storeBackoff is the longest wait before a dead child is started again; after more deaths in a row it rests.
const storeBackoff = 2 * time.Second

type graphChildCmd struct{}

// Run serves the graph's store to the process that started this one.
func (graphChildCmd) Run(e *env) error {
	open := func(path string) (graphstore.Store, error) {
		store, err := kuzu.Open(path, e.kuzuConfig())
		if err != nil {
			return nil, err // not the store: a nil *kuzu.Store is no nil Store
		}
		return store, nil
	}
	return child.Serve(open, child.ServeConfig{Errors: graphErrors(), OrphanWait: orphanWait, Build: buildGraph(e.kuzuConfig()), Logger: e.log})
}

// buildGraph writes a whole graph into a new file.
func buildGraph(cfg kuzu.Config) func(ctx context.Context, path, id string, mark graphstore.Mark, all func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	return func(ctx context.Context, path, id string, mark graphstore.Mark, all func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
		return kuzu.Build(ctx, path, kuzu.BuildConfig{Config: cfg, ID: id, Mark: mark}, all)
	}
}

func (e *env) kuzuConfig() kuzu.Config { return kuzu.Config{Logger: e.log} }

// graphErrors are the errors of the engine that must be told apart on both sides.
func graphErrors() child.Errors {
	return child.Errors{
		InUse: kuzu.ErrInUse, Foreign: kuzu.ErrForeign, NewerSchema: kuzu.ErrNewerSchema,
		Machine: []error{kuzu.ErrDisk}, Others: []error{kuzu.ErrTimeout, kuzu.ErrPoolFull},
	}
}

// graphCommand is the command line of a child of this binary.
func (e *env) graphCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, graphChildName, "--log-level", e.cfg.LogLevel, "--log-format", e.cfg.LogFormat}, nil
}

// childConfig says how to run the child that has the graph's file.
func (e *env) childConfig(hooks child.Hooks) (child.Config, error) {
	command, err := e.graphCommand()
	if err != nil {
		return child.Config{}, err
	}
	return child.Config{
		Command: command, Path: graphPath(e.cfg), SocketDir: socketDir(e.cfg.DataDir),
		Errors: graphErrors(), Stderr: e.stderr, Logger: e.log, Hooks: hooks,
		Env: heapSettings(), HoldEmpty: true, WaitForOwner: 2 * orphanWait, MemoryLimit: e.cfg.Graph.StoreMemoryBytes,
		BackoffMax: storeBackoff, BreakerCrashes: e.cfg.Graph.StoreCrashes, BreakerPause: e.cfg.Graph.StorePause,
	}, nil
}

// heapSettings keep the heap of the store's process from being given back to the system and faulted in again all the time, as
// glibc does by default while Kuzu replays a log or commits: without them a replay of 9 MB took 600,000 page faults and three
// times the processor time, with them 50,000 and no more memory at the peak. Other C libraries ignore them.
func heapSettings() []string {
	var settings []string
	for _, s := range []struct{ name, value string }{
		{"MALLOC_TRIM_THRESHOLD_", "67108864"},
		{"MALLOC_TOP_PAD_", "16777216"},
		{"MALLOC_MMAP_THRESHOLD_", "4194304"},
		{"MALLOC_ARENA_MAX", "2"},
	} {
		if _, set := os.LookupEnv(s.name); !set { // the operator's own count
			settings = append(settings, s.name+"="+s.value)
		}
	}
	return settings
}

// sweepSockets removes the sockets that killed services left behind. The caller has the data directory: none of them is in
// use but by a store's process that ends because its parent is gone.
func sweepSockets(dataDir string) error {
	if err := os.RemoveAll(filepath.Join(dataDir, "run")); err != nil {
		return fmt.Errorf("remove sockets of earlier runs: %w", err)
	}
	return nil
}

// socketDir is where the sockets of children are: in the data directory, where the name of a socket leaves room for its
// path, else where temporary files are.
func socketDir(dataDir string) string {
	dir := filepath.Join(dataDir, "run")
	if len(dir) > child.MaxSocketDirBytes || os.MkdirAll(dir, 0o700) != nil {
		return os.TempDir()
	}
	return dir
}
