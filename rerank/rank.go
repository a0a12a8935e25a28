package rerank

import (
	"cmp"
	"slices"
)

// Rerank orders the pool. The result shares nothing with the request but ids. An error wraps [ErrBadRequest] and means
// the request is impossible, never that the graph had nothing to say.
//
// The order is by graph score, then by raw cosine (it still tells items apart whose base scores are clamped to 0 or 1),
// then by place in the pool. If nobody gets a boost the incoming order stays as it is, whatever it was sorted by.
func (r *Ranker) Rerank(q Request) (Result, error) {
	if err := q.validate(); err != nil {
		return Result{}, err
	}
	s := r.scratch.Get().(*scratch)
	defer func() {
		s.release()
		r.scratch.Put(s)
	}()
	res := Result{Diagnostics: Diagnostics{Pool: len(q.Pool), Calibrated: r.calibration.set}}
	res.Removed = s.gather(r, &q)
	s.pairs = s.pairs[:0]
	if r.settings.Beta > 0 {
		s.foldPairs(r, &q, &res.Diagnostics)
		s.propagate(r)
	}
	s.sort()
	res.Items = s.items(r, &q)
	s.account(&res)
	return res, nil
}

// sort orders s.ranking, which holds the incoming order.
func (s *scratch) sort() {
	boosted := slices.ContainsFunc(s.members, func(m member) bool { return m.score > m.base })
	if !boosted {
		return
	}
	slices.SortFunc(s.ranking, func(a, b int32) int {
		x, y := &s.members[a], &s.members[b]
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.tie, x.tie), cmp.Compare(x.before, y.before))
	})
}

func (s *scratch) items(r *Ranker, q *Request) []Ranked {
	items := make([]Ranked, len(s.ranking))
	var explanations []*Explanation
	if q.Explain {
		explanations = s.explain(r, q)
	}
	for place, i := range s.ranking {
		m := &s.members[i]
		items[place] = Ranked{
			ID: q.Pool[m.index].ID, Index: int(m.index), Score: q.Pool[m.index].Cosine,
			Base: m.base, GraphScore: m.score, Support: m.raw, Capped: m.capped,
			RankBefore: int(m.before) + 1, RankAfter: place + 1,
		}
		if q.Explain {
			items[place].Explanation = explanations[i]
		}
	}
	return items
}

func (s *scratch) account(res *Result) {
	d := &res.Diagnostics
	d.Eligible = len(s.members)
	for i := range s.members {
		if s.members[i].sender {
			d.Senders++
		}
	}
	for i := range res.Items {
		item := &res.Items[i]
		d.MaxBoost = max(d.MaxBoost, item.Boost())
		d.Supported += one(item.Support > 0)
		d.Boosted += one(item.GraphScore > item.Base)
		d.Capped += one(item.Capped)
		d.Changed += one(item.RankBefore != item.RankAfter)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
