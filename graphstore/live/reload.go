package live

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// reloads reads users from the store in the background. Its queue is guarded by the directory's lock.
type reloads struct {
	// ctx is that of all reloads: they belong to no call.
	ctx     context.Context
	stop    context.CancelFunc
	queue   []*entry
	workers int
	running sync.WaitGroup
}

// flight is one reload, asked for by any number of callers.
type flight struct {
	done chan struct{} // closed when it has ended
	// snap and err are the outcome; neither is set if the space is to be looked up again.
	snap *graphstore.Snapshot
	err  error
}

// reload returns what there is of a space by now, or the reload that will bring it.
func (g *Graph) reload(space graphstore.Space) (*graphstore.Snapshot, *flight, error) {
	d := &g.dir
	d.Lock()
	defer d.Unlock()
	e, known := d.entries[space]
	switch {
	case !known:
		return graphstore.NewSnapshot(space), nil, nil
	case e.snap != nil:
		d.touch(e)
		return e.snap, nil, nil
	case e.tooLarge:
		return nil, nil, ErrTooLarge
	case g.reloads.ctx.Err() != nil:
		return nil, nil, ErrLoading
	}
	if e.flight == nil {
		e.flight = &flight{done: make(chan struct{})}
		g.reloads.queue = append(g.reloads.queue, e)
		if g.reloads.workers < maxReloads {
			g.reloads.workers++
			g.reloads.running.Go(g.work)
		}
	}
	return nil, e.flight, nil
}

// work reads users until the queue is empty.
func (g *Graph) work() {
	d := &g.dir
	d.Lock()
	defer d.Unlock()
	for len(g.reloads.queue) > 0 && g.reloads.ctx.Err() == nil {
		e := g.reloads.queue[0]
		g.reloads.queue = g.reloads.queue[1:]
		version := e.version
		d.Unlock()
		s, bytes, err := g.read(g.reloads.ctx, e.space, d.max)
		var digest graphstore.Digest
		if err == nil {
			digest = s.Digest()
		}
		d.Lock()
		g.landLocked(e, version, s, digest, bytes, err)
	}
	g.reloads.workers--
}

// landLocked ends a reload that began at a version of its space. The writer may have published a newer snapshot since: what
// was read is then dropped, and read again unless the newer one is still there. So a snapshot that a reload publishes is
// never older than one that was published before.
func (g *Graph) landLocked(e *entry, version uint64, s *graphstore.Snapshot, digest graphstore.Digest, bytes int64, err error) {
	d, f := &g.dir, e.flight
	if err == nil {
		err = e.checkLocked(digest)
	}
	switch {
	case d.entries[e.space] != e || e.snap != nil || e.tooLarge:
		// Whoever waits finds by itself what there is now.
	case e.version != version:
		g.reloads.queue = append(g.reloads.queue, e)
		return
	case errors.Is(err, ErrTooLarge):
		d.sizeLocked(e, bytes)
		f.err = err
	case err != nil:
		f.err = err
	default:
		d.reloads++
		f.snap = s
		d.countLocked(e, countsOf(s))
		if e.open && digest == e.after { // the commit has happened, and is published in a moment
			e.digest = digest
		}
		d.keepLocked(e, s)
		g.log.Debug("graph of a user loaded", "user", e.space.UserID(), "facts", s.Facts(), "bytes", s.Bytes())
	}
	e.flight = nil
	close(f.done)
}

// read builds the snapshot of a space from the store. A limit above 0 ends it with ErrTooLarge and the bytes it came to.
func (g *Graph) read(ctx context.Context, space graphstore.Space, limit int64) (s *graphstore.Snapshot, bytes int64, err error) {
	b := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	err = g.store.Load(ctx, space, func(c graphstore.Change) error {
		if limit > 0 && b.Bytes() > limit {
			return ErrTooLarge
		}
		return b.Add(c)
	})
	if errors.Is(err, ErrTooLarge) {
		return nil, b.Bytes(), ErrTooLarge
	}
	if err != nil {
		return nil, 0, fmt.Errorf("load graph of %s: %w", graphstore.Shorten(space.UserID()), err)
	}
	return b.Snapshot(), 0, nil
}

// abandonReloads ends the reloads that nobody will do any more.
func (g *Graph) abandonReloads() {
	g.dir.Lock()
	defer g.dir.Unlock()
	for _, e := range g.reloads.queue {
		e.flight.err = ErrLoading
		close(e.flight.done)
		e.flight = nil
	}
	g.reloads.queue = nil
}
