package rerank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Nominate finds facts outside the pool that strong paths lead to from its best members. ranked must be the result of
// [Ranker.Rerank] for the same request. Without a graph, or with Gamma 0, nobody is nominated.
//
// Seeds are chosen by base score: a boost must not turn an item into a source of further boosts. A nominee counts with
// its best seed alone, so a hub that many seeds reach earns nothing extra.
func (r *Ranker) Nominate(q Request, ranked Result) (Nominations, error) {
	if err := q.validate(); err != nil {
		return Nominations{}, err
	}
	if err := ranked.belongsTo(&q); err != nil {
		return Nominations{}, err
	}
	return r.nominate(&q, &ranked, nil), nil
}

// belongsTo reports, wrapped in [ErrBadRequest], a result of another request.
func (res *Result) belongsTo(q *Request) error {
	for i := range res.Items {
		if at := res.Items[i].Index; at < 0 || at >= len(q.Pool) || q.Pool[at].ID != res.Items[i].ID {
			return fmt.Errorf("%w: ranked item %s: not number %d of the pool: want the result of the same request",
				ErrBadRequest, graphstore.Shorten(res.Items[i].ID), at)
		}
	}
	return nil
}

// nominate walks; with confirmed it walks only over the pool and those facts.
func (r *Ranker) nominate(q *Request, ranked *Result, confirmed map[string]struct{}) Nominations {
	x := &r.settings.Expand
	if q.Graph == nil || x.Gamma == 0 || x.MaxExpand == 0 {
		return Nominations{}
	}
	s := r.scratch.Get().(*scratch)
	w := r.walkers.Get().(*walker)
	defer func() {
		s.release()
		w.release()
		r.scratch.Put(s)
		r.walkers.Put(w)
	}()
	w.start(r, q, s, confirmed)
	seeds := r.seeds(ranked)
	w.walk(seeds)
	found := Nominations{Seeds: len(seeds), Truncated: w.truncated}
	found.Nominees, found.Beyond = w.nominees(seeds, x.PrefilterTopN)
	return found
}

// seeds returns the items that walks start from.
func (r *Ranker) seeds(ranked *Result) []Ranked {
	var seeds []Ranked
	for i := range ranked.Items {
		if len(seeds) < r.settings.Expand.MaxSeeds && atLeast(ranked.Items[i].Base, r.settings.Expand.SeedFloor) {
			seeds = append(seeds, ranked.Items[i])
		}
	}
	return seeds
}

// start readies the walker over the request's graph, with the pool's members resolved in s.
func (w *walker) start(r *Ranker, q *Request, s *scratch, confirmed map[string]struct{}) {
	w.reset(r, q, s)
	w.confirmed = confirmed
	for _, x := range s.gather(r, q) {
		if x.Reason != ReasonDuplicate {
			w.denied[x.ID] = struct{}{}
		}
	}
	s.resolve(q)
	s.episodes = s.episodes[:0]
	if r.settings.EpisodeRecall && r.settings.EpisodeWeight > 0 && r.priors[graphstore.Episode] > 0 {
		s.readEpisodes(q)
	}
}

// nominees returns the facts outside the pool that a seed reached, best first: the first n with their paths, and the
// rest.
func (w *walker) nominees(seeds []Ranked, n int) (first, beyond []Nominee) {
	reached := make([]int32, 0, len(w.spots))
	for i := range w.spots {
		if w.spots[i].member < 0 && w.spots[i].relaxed > 0 {
			reached = append(reached, int32(i))
		}
	}
	slices.SortFunc(reached, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.spots[b].relaxed, w.spots[a].relaxed), strings.Compare(w.id(a), w.id(b)))
	})
	all := make([]Nominee, len(reached))
	for i, number := range reached {
		at := &w.spots[number]
		path := &w.states[at.fromPath]
		all[i] = Nominee{
			ID: w.id(number), Seed: seeds[at.from].ID, Relaxed: at.relaxed, Via: path.via, Hops: int(path.hops),
		}
		if i < n {
			all[i].Path = w.path(at.fromPath)
		}
	}
	n = min(n, len(all))
	return all[:n:n], all[n:]
}
