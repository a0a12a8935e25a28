package rerank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Nominate finds facts outside the pool that strong paths lead to from its best members. ranked must be the result of
// [Ranker.Rerank] for the same request; one of another is an error, and so is an impossible request, both wrapped in
// [ErrBadRequest]. Without a graph, or with Gamma or MaxExpand 0, nobody is nominated.
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
	w.start(r, q, s)
	w.confirm(confirmed)
	seeds := r.seeds(ranked)
	limit := x.PrefilterTopN
	if q.Explain {
		limit = 0
	}
	w.walk(seeds, limit)
	found := Nominations{Seeds: len(seeds), Truncated: w.truncated}
	w.nominees(&found, seeds)
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
func (w *walker) start(r *Ranker, q *Request, s *scratch) {
	w.reset(r, q, s)
	s.episodes = s.episodes[:0]
	if r.settings.EpisodeRecall && r.settings.EpisodeWeight > 0 && r.priors[graphstore.Episode] > 0 {
		s.gather(r, q)
		s.resolve(q)
		s.readEpisodes(q)
	} else {
		s.find(q)
	}
	w.removed = w.removed[:0]
	for i := range q.Pool {
		if w.test.refuses(&q.Pool[i]) != "" {
			w.removed = append(w.removed, int32(i))
		}
	}
	w.denied.reset(len(w.removed))
	for _, i := range w.removed {
		if n, known := q.Graph.Node(q.Pool[i].ID); known {
			w.denied.put(n, i) // the pool's members are asked first
		}
	}
}

// confirm lets the walk lead only over the pool and these facts; nil lets it lead everywhere.
func (w *walker) confirm(ids map[string]struct{}) {
	w.only = ids != nil
	w.confirmed.reset(len(ids))
	for id := range ids {
		if n, known := w.q.Graph.Node(id); known {
			w.confirmed.put(n, 0)
		}
	}
}

// nominees fills in the facts outside the pool that a seed reached, best first.
func (w *walker) nominees(found *Nominations, seeds []Ranked) {
	reached := w.level[:0]
	for i := range w.spots {
		if at := &w.spots[i]; at.member < 0 && at.relaxed > 0 {
			found.Reached++
			if at.relaxed >= w.claims.least || w.truncated { // a walk that was cut short may not keep what it promised
				reached = append(reached, int32(i))
			}
		}
	}
	w.level = reached
	slices.SortFunc(reached, func(a, b int32) int {
		x, y := w.spots[a].relaxed, w.spots[b].relaxed
		if x != y {
			return cmp.Compare(y, x)
		}
		return strings.Compare(w.id(a), w.id(b))
	})
	n := min(w.r.settings.Expand.PrefilterTopN, len(reached))
	steps := 0
	for _, number := range reached[:n] {
		steps += int(w.states[w.spots[number].fromPath].hops) + 1
	}
	paths := make([]string, 0, steps)
	found.Nominees = make([]Nominee, n)
	for i, number := range reached[:n] {
		from := len(paths)
		paths = w.appendPath(paths, w.spots[number].fromPath)
		found.Nominees[i] = w.nominee(number, seeds)
		found.Nominees[i].Path = paths[from:len(paths):len(paths)]
	}
	if w.q.Explain {
		found.Beyond = make([]Nominee, 0, len(reached)-n)
		for _, number := range reached[n:] {
			found.Beyond = append(found.Beyond, w.nominee(number, seeds))
		}
	}
}

func (w *walker) nominee(number int32, seeds []Ranked) Nominee {
	at := &w.spots[number]
	path := &w.states[at.fromPath]
	return Nominee{ID: w.id(number), Seed: seeds[at.from].ID, Relaxed: at.relaxed, Via: path.via, Hops: int(path.hops)}
}
