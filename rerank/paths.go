package rerank

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// PathQuery asks for the relation paths between the first results.
type PathQuery struct {
	Request   Request
	Expansion Expansion   // of [Ranker.Admit] for the same request
	Nominated Nominations // what Admit was given
	Scored    []Candidate // what Admit was given
	K         int         // number of results shown, >= 1

	// Known are further facts as the vector store returned them, for facts in the middle of paths.
	Known []Candidate
	// OnlyKnown lets paths lead only over facts that the vector store has spoken for: the pool, Scored and Known.
	OnlyKnown bool
}

// PathResult is the answer to a [PathQuery].
type PathResult struct {
	Paths []Path // best first
	// Unconfirmed are the facts in the middle of Paths that only the graph has spoken for, sorted. To be certain that
	// nothing retired is shown, ask the vector store about them and call again with its answer in Known, and OnlyKnown.
	Unconfirmed []string
	// Truncated says that a result has so many links that paths over it were left out.
	Truncated bool
}

// Paths finds for every pair of good results among the first K (at most [MaxPathEnds], attached facts included) the
// strongest connection of one or two hops, over any eligible fact and all types but semantic_neighbor, which explains
// nothing. A temporal_next edge that contradicts the times the vector store has is stale and ignored. Paths whose hops
// are all shown by better ones are left out. Without a graph, or with paths switched off, there are none. Errors wrap
// [ErrBadRequest].
func (r *Ranker) Paths(pq PathQuery) (PathResult, error) {
	q := &pq.Request
	if err := q.validate(); err != nil {
		return PathResult{}, err
	}
	if pq.K < 1 {
		return PathResult{}, fmt.Errorf("%w: k %d: want at least 1", ErrBadRequest, pq.K)
	}
	if !r.settings.Paths.Enabled || q.Graph == nil {
		return PathResult{}, nil
	}
	ends, err := pq.ends(r.settings.Paths.HighFloor)
	if err != nil {
		return PathResult{}, err
	}
	s := r.scratch.Get().(*scratch)
	w := r.walkers.Get().(*walker)
	defer func() {
		s.release()
		w.release()
		r.scratch.Put(s)
		r.walkers.Put(w)
	}()
	w.start(r, q, s)
	f := pathFinder{r: r, q: q, w: w, only: pq.OnlyKnown}
	f.learn(&pq)
	return f.find(ends), nil
}

// pathEnd is a result between which paths are looked for.
type pathEnd struct {
	id   string
	base float64
	node graphstore.Node
	near []nearby // its neighbours, by node
	kept int      // paths that are shown and end here
}

// nearby is a neighbour of an end.
type nearby struct {
	node   graphstore.Node
	weight float64
}

// ends returns the results that paths may end at, best first: of the first K places, attached facts after their seeds.
func (pq *PathQuery) ends(floor float64) ([]pathEnd, error) {
	var ends []pathEnd
	seen, limit := 0, min(pq.K, MaxPathEnds)
	take := func(id string, base float64) {
		if seen++; seen > limit || !atLeast(base, floor) {
			return
		}
		if n, ok := pq.Request.Graph.Node(id); ok {
			ends = append(ends, pathEnd{id: id, base: base, node: n})
		}
	}
	for i := range pq.Expansion.Places {
		p := &pq.Expansion.Places[i]
		switch {
		case p.Item != nil && p.Item.Index >= 0 && p.Item.Index < len(pq.Request.Pool) && pq.Request.Pool[p.Item.Index].ID == p.Item.ID:
			take(p.Item.ID, p.Item.Base)
		case p.Added != nil:
			take(p.Added.ID, p.Added.Base)
		default:
			return nil, fmt.Errorf("%w: place %d of the expansion: not of this request", ErrBadRequest, i+1)
		}
		for j := range p.Attached {
			take(p.Attached[j].ID, p.Attached[j].Base)
		}
	}
	return ends, nil
}
