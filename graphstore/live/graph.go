package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/kithgraph/kith/graphstore"
)

// ErrLoading is returned while a user's graph is on its way into memory: by everything until [Graph.Load] has finished, and
// by [Graph.View] for a user that is not resident. The vector order stands until then.
var ErrLoading = errors.New("graph is loading")

// ErrTooLarge is returned for a user whose graph alone exceeds [Config.MaxBytes]. There is never half a graph of a user.
var ErrTooLarge = errors.New("graph is too large for the memory there is")

// Graph serves snapshots over a store. It is safe for concurrent use. It does not own the store: the caller closes it
// after the last Apply and after [Graph.Close].
type Graph struct {
	store graphstore.Store
	log   *slog.Logger

	loaded chan struct{} // closed when Load has finished
	failed failure

	dir     directory
	reloads reloads
	writer  writer
}

// failure is what the last Load ended with, while none has succeeded.
type failure struct {
	err   atomic.Pointer[error]
	once  sync.Once
	first chan struct{} // closed by the first failure
}

func (f *failure) set(err error) {
	f.err.Store(&err)
	f.once.Do(func() { close(f.first) })
}

// New returns a graph over the store. It answers [ErrLoading] until Load has been run.
func New(store graphstore.Store, cfg Config) *Graph {
	cfg = cfg.withDefaults()
	g := &Graph{
		store:  store,
		log:    cfg.Logger.With("component", "live"),
		loaded: make(chan struct{}),
		failed: failure{first: make(chan struct{})},
		writer: newWriter(),
	}
	g.dir.init(cfg.MaxBytes)
	g.reloads.ctx, g.reloads.stop = context.WithCancel(context.Background())
	return g
}

// Close ends reloads in progress and waits for them. What is resident stays readable; what is not stays so.
func (g *Graph) Close() {
	g.dir.Lock() // a reload that begins now sees that it must not
	g.reloads.stop()
	g.dir.Unlock()
	g.reloads.running.Wait()
	g.abandonReloads()
}

// Loaded returns a channel that is closed when the graph answers.
func (g *Graph) Loaded() <-chan struct{} { return g.loaded }

// Failed returns a channel that is closed when a Load has failed for the first time.
func (g *Graph) Failed() <-chan struct{} { return g.failed.first }

func (g *Graph) isLoaded() bool {
	select {
	case <-g.loaded:
		return true
	default:
		return false
	}
}

func (g *Graph) waitLoaded(ctx context.Context) error {
	select {
	case <-g.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for graph to load: %w", context.Cause(ctx))
	}
}
