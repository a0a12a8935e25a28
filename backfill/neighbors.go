package backfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// findNeighbors asks the store for the nearest active points of each fact, in batches, some at a time, and has the fact assert the
// best of those above the floor. An edge has no direction: where two facts are among each other's best both assert it, which counts
// once in ranking, and it stays when one of them goes. What a fact asserts therefore depends on its own point and its neighbours only,
// not on which of them was read first, nor on which facts are in one batch.
func (r *run) findNeighbors(ctx context.Context, facts []fact) error {
	searches := make([]neighborSearch, len(facts))
	var due []*neighborSearch
	for i := range facts {
		searches[i] = r.b.neighborSearch(&facts[i])
		if s := &searches[i]; s.bad == nil && facts[i].stored.State != graphstore.StateDeleted {
			due = append(due, s)
		}
	}
	// By user: a store is fast at queries of one. A batch takes the next user's where one has few.
	slices.SortStableFunc(due, func(a, b *neighborSearch) int { return strings.Compare(a.q.Space.UserID(), b.q.Space.UserID()) })
	p := pool.New().WithContext(ctx).WithMaxGoroutines(r.b.cfg.InFlight).WithCancelOnError().WithFirstError()
	for batch := range slices.Chunk(due, r.b.cfg.SearchBatch) {
		p.Go(func(ctx context.Context) error { return r.searchBatch(ctx, batch) })
	}
	if err := p.Wait(); err != nil {
		return err
	}
	r.change(func(rep *Account) {
		for i := range facts {
			s := &searches[i]
			if s.done {
				rep.Searches++
			}
			if s.bad != nil {
				rep.BadVectors++
				rep.problem(rep.BadVectors, fmt.Sprintf("point %s: %v", graphstore.Shorten(facts[i].point.ID), s.bad))
			}
			if len(s.refs) > 0 {
				facts[i].stored.Neighbors = projector.Some(s.refs)
			}
		}
	})
	return nil
}

// neighborSearch is the search for the neighbours of one fact, and what it found, best first.
type neighborSearch struct {
	id   string
	q    vdb.Query
	refs []projector.NeighborRef
	done bool
	bad  error // why there can be none: the point's fault, which is counted
}

var activeOnly = vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}}

func (b *Backfill) neighborSearch(f *fact) neighborSearch {
	s := neighborSearch{id: f.point.ID, q: vdb.Query{
		Space: f.point.Space, Vector: f.point.Vector, Filter: activeOnly, Limit: b.cfg.Neighbors + 1, // itself is among them
		NoPayload: true,
	}}
	if f.stored.State != graphstore.StateDeleted {
		s.bad = s.q.Validate(0)
	}
	return s
}

// searchBatch does the searches of a batch, in parts where the store has not borne as many at once.
func (r *run) searchBatch(ctx context.Context, due []*neighborSearch) error {
	for len(due) > 0 {
		err := r.patiently(ctx, "search neighbours", func() error {
			n := r.asks.most(len(due))
			err := r.b.search(ctx, due[:n])
			if err == nil {
				due = due[n:]
			}
			r.asks.saw(n, err)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// search asks the store once. Points whose vector is not of the collection's dimension are found bad, and the others asked for
// without them.
func (b *Backfill) search(ctx context.Context, due []*neighborSearch) error {
	queries := make([]vdb.Query, len(due))
	for i, s := range due {
		queries[i] = s.q
	}
	answers, err := b.points.SearchMany(ctx, queries)
	var dim *vdb.DimensionError
	if errors.Is(err, vdb.ErrBadQuery) && errors.As(err, &dim) { // else it is the store's configuration that does not fit
		fit := make([]*neighborSearch, 0, len(due))
		for _, s := range due {
			if len(s.q.Vector) == dim.Want {
				fit = append(fit, s)
				continue
			}
			s.bad = &vdb.DimensionError{Got: len(s.q.Vector), Want: dim.Want}
		}
		switch len(fit) {
		case 0:
			return nil
		case len(due): // it is none of them
			return err
		}
		return b.search(ctx, fit)
	}
	if err != nil {
		return err
	}
	if len(answers) != len(due) {
		return fmt.Errorf("%d answers to %d searches", len(answers), len(due))
	}
	for i, s := range due {
		if err := s.found(answers[i], b.cfg); err != nil {
			return err
		}
	}
	return nil
}

// found takes the neighbours from the answer. A point of another user in it is an error: what a store returns is checked again.
func (s *neighborSearch) found(matches []vdb.Match, cfg Config) error {
	s.done, s.refs, s.bad = true, nil, nil
	for _, m := range matches {
		if m.Space != s.q.Space {
			return fmt.Errorf("%w: the vector store answers a search for neighbours of %s with point %s of another user", vdb.ErrBadQuery,
				graphstore.Shorten(s.q.Space.UserID()), graphstore.Shorten(m.ID))
		}
		if m.ID != s.id && m.Score >= cfg.MinScore && len(s.refs) < cfg.Neighbors {
			s.refs = append(s.refs, projector.NeighborRef{ID: m.ID, Score: m.Score})
		}
	}
	return nil
}

// askSize is how many searches are asked at once. It is halved when a store fails at several for a reason that may pass, which may
// be that they took it too long together, and grows by one with each success.
type askSize struct {
	mu struct {
		sync.Mutex
		bound int // 0: none
	}
}

// most returns how many of n to ask.
func (a *askSize) most(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.bound > 0 {
		return min(n, a.mu.bound)
	}
	return n
}

// saw takes in how n searches at once went.
func (a *askSize) saw(n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil && a.mu.bound > 0:
		a.mu.bound++
	case err != nil && mayPass(err) && n > 1:
		a.mu.bound = n / 2
	}
}
