package rerank

import (
	"cmp"
	"fmt"
	"slices"

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
// are all shown by better ones are left out.
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
	w.start(r, q, s, nil)
	f := pathFinder{r: r, q: q, w: w, known: pq.known(), only: pq.OnlyKnown}
	f.learn(w.denied, &pq.Nominated)
	return f.find(ends), nil
}

// pathEnd is a result between which paths are looked for.
type pathEnd struct {
	id   string
	base float64
	node graphstore.Node
	near []nearby // its neighbours, by node
}

// nearby is a neighbour of an end.
type nearby struct {
	node   graphstore.Node
	weight float64
}

// ends returns the results that paths may end at, best first: of the first K places, attached facts after their seeds.
func (pq *PathQuery) ends(floor float64) ([]pathEnd, error) {
	var ends []pathEnd
	seen := 0
	take := func(id string, base float64) {
		seen++
		if n, ok := pq.Request.Graph.Node(id); ok && seen <= min(pq.K, MaxPathEnds) && atLeast(base, floor) {
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

// known returns everything the vector store has said, by id.
func (pq *PathQuery) known() map[string]*Candidate {
	known := make(map[string]*Candidate, len(pq.Request.Pool)+len(pq.Scored)+len(pq.Known))
	test := pq.Request.eligibility()
	for _, list := range [][]Candidate{pq.Request.Pool, pq.Scored, pq.Known} {
		for i := range list {
			c := &list[i]
			if before, twice := known[c.ID]; !twice || test.refuses(before) != "" {
				known[c.ID] = c
			}
		}
	}
	return known
}

// learn notes the nominees that the vector store was asked about and did not return, besides the removed pool members.
func (f *pathFinder) learn(removed map[string]struct{}, n *Nominations) {
	f.hidden = removed
	for i := range n.Nominees {
		if _, returned := f.known[n.Nominees[i].ID]; !returned {
			f.hidden[n.Nominees[i].ID] = struct{}{}
		}
	}
}

// find looks at all pairs and keeps the best paths.
func (f *pathFinder) find(ends []pathEnd) PathResult {
	f.read(ends)
	var all []Path
	for i := range ends {
		for j := i + 1; j < len(ends); j++ {
			if p, ok := f.strongest(&ends[i], &ends[j]); ok {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, comparePaths)
	kept := f.keep(all)
	return PathResult{Paths: kept, Unconfirmed: f.unconfirmed(kept), Truncated: f.truncated}
}

// comparePaths orders by score, then fewer hops, then the newer newest fact, then the ids along the path.
func comparePaths(a, b Path) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score), cmp.Compare(len(a.Hops), len(b.Hops)),
		compareNewest(b.Newest, a.Newest), slices.Compare(a.IDs(), b.IDs()))
}

// compareNewest compares instants; an absent one is before all.
func compareNewest(a, b graphstore.Instant) int {
	if a.Present() != b.Present() {
		return one(a.Present()) - one(b.Present())
	}
	return cmp.Compare(a, b)
}

// keep takes paths in order while they show a hop that no path before them shows, and their ends have room.
func (f *pathFinder) keep(all []Path) []Path {
	var kept []Path
	shown := map[[2]string]struct{}{}
	perNode := map[string]int{}
	for i := range all {
		p := &all[i]
		from, to := p.Hops[0].From, p.Hops[len(p.Hops)-1].To
		full := perNode[from] >= f.r.settings.Paths.PerNode || perNode[to] >= f.r.settings.Paths.PerNode
		news := slices.ContainsFunc(p.Hops, func(h Hop) bool { _, old := shown[h.ends()]; return !old })
		if full || !news {
			continue
		}
		for j := range p.Hops {
			shown[p.Hops[j].ends()] = struct{}{}
		}
		perNode[from]++
		perNode[to]++
		if kept = append(kept, *p); len(kept) == f.r.settings.Paths.Max {
			break
		}
	}
	return kept
}

// ends returns the two facts of a hop, the smaller id first.
func (h *Hop) ends() [2]string { return [2]string{min(h.From, h.To), max(h.From, h.To)} }

func (f *pathFinder) unconfirmed(paths []Path) []string {
	var ids []string
	for i := range paths {
		for _, id := range paths[i].IDs() {
			if _, spoken := f.known[id]; !spoken {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
