package live

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

// View returns the newest published snapshot of the space, an empty one for a space the graph does not know. It does no
// I/O and never waits for any.
//
// Errors: [ErrLoading] until Load has finished, and for a user that is not resident: its graph is then read in the
// background, once however many ask for it. [ErrTooLarge], the error of a failed Load, [graphstore.ErrNoSpace].
func (g *Graph) View(space graphstore.Space) (*graphstore.Snapshot, error) {
	s, f, err := g.look(space)
	if f != nil {
		return nil, ErrLoading
	}
	return s, err
}

// Acquire is View that waits for a user to be read from the store, until ctx ends: then it returns ErrLoading, and the
// reload goes on. It does not wait for Load. Further errors: the store's, and [graphstore.ErrDamaged] where it has other records
// of the user than were committed.
func (g *Graph) Acquire(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	for {
		s, f, err := g.look(space)
		if f == nil {
			return s, err
		}
		select {
		case <-f.done:
			if f.snap != nil || f.err != nil {
				return f.snap, f.err
			}
		case <-ctx.Done():
			return nil, ErrLoading
		}
	}
}

// look returns the snapshot, or the reload that will bring it, or an error.
func (g *Graph) look(space graphstore.Space) (*graphstore.Snapshot, *flight, error) {
	if space.IsZero() {
		return nil, nil, graphstore.ErrNoSpace
	}
	if !g.isLoaded() {
		if err := g.failed.err.Load(); err != nil {
			return nil, nil, *err
		}
		return nil, nil, ErrLoading
	}
	d := &g.dir
	d.RLock()
	e, known := d.entries[space]
	if !known {
		d.RUnlock()
		return graphstore.NewSnapshot(space), nil, nil
	}
	s, tooLarge := e.snap, e.tooLarge
	d.RUnlock()
	switch {
	case s != nil:
		d.touch(e)
		return s, nil, nil
	case tooLarge:
		return nil, nil, ErrTooLarge
	default:
		return g.reload(space)
	}
}
