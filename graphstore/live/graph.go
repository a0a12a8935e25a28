package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// ErrLoading is returned by [Graph.View] until [Graph.Load] has finished. The vector order stands until then.
var ErrLoading = errors.New("graph is loading")

// Config of a Graph.
type Config struct {
	// Logger receives one line per load, and at debug level one per reload of a user. Defaults to [slog.Default].
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Graph serves snapshots over a store. It is safe for concurrent use. It does not own the store: the caller closes it
// after the last Apply.
type Graph struct {
	store graphstore.Store
	log   *slog.Logger

	loaded chan struct{} // closed when Load has finished
	failed failure

	spaces spaces

	writer writer
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

// spaces is what readers see.
type spaces struct {
	sync.RWMutex
	bySpace map[graphstore.Space]*graphstore.Snapshot
}

// writer is what Apply, and only Apply, works with.
type writer struct {
	sync.Mutex
	suspect map[graphstore.Space]struct{} // the store may hold more than the snapshot
}

// New returns a graph over the store. It answers [ErrLoading] until Load has been run.
func New(store graphstore.Store, cfg Config) *Graph {
	cfg = cfg.withDefaults()
	return &Graph{
		store:  store,
		log:    cfg.Logger.With("component", "live"),
		loaded: make(chan struct{}),
		failed: failure{first: make(chan struct{})},
		spaces: spaces{bySpace: map[graphstore.Space]*graphstore.Snapshot{}},
		writer: writer{suspect: map[graphstore.Space]struct{}{}},
	}
}

// Load reads every space from the store and then lets View and Apply through. It is to be run once; after an error the
// graph stays closed to both, View reports the error, and Load may be run again.
func (g *Graph) Load(ctx context.Context) error {
	g.writer.Lock()
	defer g.writer.Unlock()
	start := time.Now()
	snapshots, err := g.loadAll(ctx)
	if err != nil {
		err = fmt.Errorf("load graph: %w", err)
		g.failed.set(err)
		return err
	}
	g.publish(snapshots)
	g.failed.err.Store(nil)
	close(g.loaded)
	g.log.Info("graph loaded", "spaces", len(snapshots), "took", time.Since(start))
	return nil
}

func (g *Graph) loadAll(ctx context.Context) (map[graphstore.Space]*graphstore.Snapshot, error) {
	builders := map[graphstore.Space]*graphstore.Builder{}
	err := g.store.LoadAll(ctx, func(c graphstore.Change) error {
		b, ok := builders[c.Space]
		if !ok {
			b = graphstore.NewBuilder(graphstore.NewSnapshot(c.Space))
			builders[c.Space] = b
		}
		return b.Add(c)
	})
	if err != nil {
		return nil, err
	}
	snapshots := make(map[graphstore.Space]*graphstore.Snapshot, len(builders))
	for space, b := range builders {
		snapshots[space] = b.Snapshot()
	}
	return snapshots, nil
}

func (g *Graph) publish(snapshots map[graphstore.Space]*graphstore.Snapshot) {
	g.spaces.Lock()
	defer g.spaces.Unlock()
	for space, s := range snapshots {
		g.spaces.bySpace[space] = s
	}
}

// Loaded returns a channel that is closed when the graph answers.
func (g *Graph) Loaded() <-chan struct{} { return g.loaded }

// Failed returns a channel that is closed when a Load has failed for the first time.
func (g *Graph) Failed() <-chan struct{} { return g.failed.first }

// View returns the newest published snapshot of the space, an empty one for a space the graph does not know. It never
// blocks on I/O. Errors: [ErrLoading], the error of a failed Load, [graphstore.ErrNoSpace].
func (g *Graph) View(space graphstore.Space) (*graphstore.Snapshot, error) {
	if space.IsZero() {
		return nil, graphstore.ErrNoSpace
	}
	select {
	case <-g.loaded:
		return g.view(space), nil
	default:
	}
	if err := g.failed.err.Load(); err != nil {
		return nil, *err
	}
	return nil, ErrLoading
}

func (g *Graph) view(space graphstore.Space) *graphstore.Snapshot {
	g.spaces.RLock()
	defer g.spaces.RUnlock()
	if s, ok := g.spaces.bySpace[space]; ok {
		return s
	}
	return graphstore.NewSnapshot(space)
}

// Snapshot returns the snapshot to plan changes against: View's, but never one that the store may be ahead of. It waits
// for Load and may read from the store.
func (g *Graph) Snapshot(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	if space.IsZero() {
		return nil, graphstore.ErrNoSpace
	}
	if err := g.waitLoaded(ctx); err != nil {
		return nil, err
	}
	g.writer.Lock()
	defer g.writer.Unlock()
	if err := g.trustLocked(ctx, space); err != nil {
		return nil, err
	}
	return g.view(space), nil
}

func (g *Graph) waitLoaded(ctx context.Context) error {
	select {
	case <-g.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for graph to load: %w", context.Cause(ctx))
	}
}

// trustLocked reads a suspect space from the store again.
func (g *Graph) trustLocked(ctx context.Context, space graphstore.Space) error {
	if _, suspect := g.writer.suspect[space]; !suspect {
		return nil
	}
	b := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	if err := g.store.Load(ctx, space, b.Add); err != nil {
		return fmt.Errorf("reload graph of %s: %w", graphstore.Shorten(space.UserID()), err)
	}
	g.publish(map[graphstore.Space]*graphstore.Snapshot{space: b.Snapshot()})
	delete(g.writer.suspect, space)
	g.log.Debug("graph of a user reloaded after a commit of unknown outcome", "user", space.UserID())
	return nil
}

// Apply commits the changes to the store and then publishes the new snapshots. Its contract and errors are those of
// [graphstore.Store.Apply]. It waits for Load.
func (g *Graph) Apply(ctx context.Context, changes []graphstore.Change) error {
	return g.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked is Apply under the contract of [graphstore.MarkedStore.ApplyMarked]. Of a store that keeps no head the mark is
// dropped.
func (g *Graph) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	if err := g.waitLoaded(ctx); err != nil {
		return err
	}
	g.writer.Lock()
	defer g.writer.Unlock()
	next, err := g.nextLocked(ctx, changes)
	if err != nil {
		return err
	}
	if err := g.commit(ctx, changes, mark); err != nil {
		if !errors.Is(err, graphstore.ErrBadChange) && !errors.Is(err, graphstore.ErrDangling) {
			for space := range next {
				g.writer.suspect[space] = struct{}{}
			}
		}
		return fmt.Errorf("commit graph changes: %w", err)
	}
	g.publish(next)
	return nil
}

func (g *Graph) commit(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if marked, ok := g.store.(graphstore.MarkedStore); ok {
		return marked.ApplyMarked(ctx, changes, mark)
	}
	return g.store.Apply(ctx, changes)
}

// nextLocked returns the snapshots after the changes, computed before the commit so that what cannot be published is
// not committed.
func (g *Graph) nextLocked(ctx context.Context, changes []graphstore.Change) (map[graphstore.Space]*graphstore.Snapshot, error) {
	bySpace := map[graphstore.Space][]graphstore.Change{}
	for _, c := range changes {
		bySpace[c.Space] = append(bySpace[c.Space], c)
	}
	next := make(map[graphstore.Space]*graphstore.Snapshot, len(bySpace))
	for space, own := range bySpace {
		if err := g.trustLocked(ctx, space); err != nil {
			return nil, err
		}
		s, err := g.view(space).With(own)
		if err != nil {
			return nil, err
		}
		next[space] = s
	}
	return next, nil
}

// Counts sums what all published snapshots hold.
type Counts struct {
	Spaces, Facts, Present, Entities, Topics, Edges int
}

// Counts returns the size of the live graph; zero before Load.
func (g *Graph) Counts() Counts {
	g.spaces.RLock()
	defer g.spaces.RUnlock()
	c := Counts{Spaces: len(g.spaces.bySpace)}
	for _, s := range g.spaces.bySpace {
		c.Facts += s.Facts()
		c.Present += s.Present()
		c.Entities += s.Entities()
		c.Topics += s.Topics()
		c.Edges += s.Edges()
	}
	return c
}

// Digest returns the digest of the whole live graph.
func (g *Graph) Digest() graphstore.Digest {
	g.spaces.RLock()
	snapshots := make([]*graphstore.Snapshot, 0, len(g.spaces.bySpace))
	for _, s := range g.spaces.bySpace {
		snapshots = append(snapshots, s)
	}
	g.spaces.RUnlock()
	var d graphstore.Digest
	for _, s := range snapshots {
		d.Merge(s.Digest())
	}
	return d
}
