package backfill

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/pool"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// findNeighbors asks the store for the nearest active points of each fact, some at a time, and has the fact assert the best of those
// above the floor. An edge has no direction: where two facts are among each other's best both assert it, which counts once
// in ranking, and it stays when one of them goes. What a fact asserts therefore depends on its own point and its neighbours only,
// not on which of them was read first.
func (r *run) findNeighbors(ctx context.Context, facts []fact) error {
	found := make([]neighborsOf, len(facts))
	p := pool.New().WithContext(ctx).WithMaxGoroutines(r.b.cfg.InFlight).WithCancelOnError().WithFirstError()
	for i := range facts {
		p.Go(func(ctx context.Context) error {
			return r.patiently(ctx, "search neighbours", func() error {
				var err error
				found[i], err = r.b.neighbors(ctx, &facts[i].point, facts[i].stored.State)
				return err
			})
		})
	}
	if err := p.Wait(); err != nil {
		return err
	}
	r.change(func(rep *Account) {
		for i := range facts {
			f := found[i]
			if f.searched {
				rep.Searches++
			}
			if f.bad != nil {
				rep.BadVectors++
				rep.problem(fmt.Sprintf("point %s: %v", graphstore.Shorten(facts[i].point.ID), f.bad))
			}
			if len(f.refs) > 0 {
				facts[i].stored.Neighbors = projector.Some(f.refs)
			}
		}
	})
	return nil
}

type neighborsOf struct {
	refs     []projector.NeighborRef
	searched bool
	bad      error // why there can be none
}

// neighbors returns the best neighbours of one point, best first.
func (b *Backfill) neighbors(ctx context.Context, p *vdb.Point, state graphstore.State) (neighborsOf, error) {
	if state == graphstore.StateDeleted {
		return neighborsOf{}, nil
	}
	q := vdb.Query{
		Space: p.Space, Vector: p.Vector, Limit: b.cfg.Neighbors + 1, // itself is among them
		Filter: vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}},
	}
	if err := q.Validate(0); err != nil {
		return neighborsOf{bad: err}, nil //nolint:nilerr // the point's fault, which is counted
	}
	matches, err := b.points.Search(ctx, q)
	var dim *vdb.DimensionError
	if errors.As(err, &dim) {
		return neighborsOf{bad: dim}, nil
	}
	if err != nil {
		return neighborsOf{}, err
	}
	out := neighborsOf{searched: true}
	for _, m := range matches {
		if m.ID != p.ID && m.Score >= b.cfg.MinScore && len(out.refs) < b.cfg.Neighbors {
			out.refs = append(out.refs, projector.NeighborRef{ID: m.ID, Score: m.Score})
		}
	}
	return out, nil
}
