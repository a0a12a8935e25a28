package reader

import (
	"slices"

	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// plainAnswer is the recall's order, cut at k.
func plainAnswer(found recalled, k int) Answer {
	n := min(k, len(found.matches))
	results := make([]Result, n)
	for i := range results {
		results[i] = found.result(i)
		results[i].RankAfter = i + 1
	}
	return Answer{Results: results, Recall: found.by, RecallNote: found.note}
}

// result returns a candidate as the recall has it.
func (f *recalled) result(i int) Result {
	m := &f.matches[i]
	res := Result{ID: m.ID, Score: m.Score, Base: m.Score, GraphScore: m.Score, RankBefore: i + 1, Payload: m.Payload}
	if f.channels != nil {
		c := f.channels[i]
		res.Channels = &c
	}
	return res
}

// applySupport takes the graph's order of the pool over.
func applySupport(w *run, a *Answer) {
	a.AppliedSeq, a.MinSeqApplied = w.applied, w.reached
	a.Rerank.EpisodesOnly = w.noGraph
	a.Rerank.Diagnostics, a.Rerank.Removed = w.ranked.Diagnostics, w.ranked.Removed
	n := min(w.q.K, len(w.ranked.Items))
	a.Results = make([]Result, n)
	for i := range a.Results {
		a.Results[i] = w.member(&w.ranked.Items[i], i+1)
	}
}

// applyExpansion takes the order with the facts that the graph added over.
func applyExpansion(w *run, a *Answer) {
	a.Rerank.Foreign += w.foreign
	a.Rerank.Expand = w.expansion.Diagnostics
	if w.q.ExplainAll {
		a.Refused = w.refused()
	}
	found := make(map[string]*vdb.Match, len(w.matches))
	for i := range w.matches {
		found[w.matches[i].ID] = &w.matches[i]
	}
	n := min(w.q.K, len(w.expansion.Places))
	a.Results = make([]Result, n)
	for i := range a.Results {
		place := &w.expansion.Places[i]
		if place.Added != nil {
			a.Results[i] = w.added(place.Added)
			a.Results[i].RankAfter = i + 1
			continue
		}
		a.Results[i] = w.member(place.Item, i+1)
		for j := range place.Attached {
			a.Results[i].Attached = append(a.Results[i].Attached, w.added(&place.Attached[j]))
		}
	}
}

func applyPaths(w *run, a *Answer) {
	a.Paths, a.Rerank.PathsTruncated = w.paths.Paths, w.paths.Truncated
}

// member returns a pool member in its new place.
func (w *run) member(it *rerank.Ranked, rank int) Result {
	res := w.found.result(it.Index)
	res.Base, res.GraphScore, res.RankAfter, res.Explanation = it.Base, it.GraphScore, rank, it.Explanation
	return res
}

// added returns a fact that the graph added.
func (w *run) added(n *rerank.Admitted) Result {
	m := &w.matches[n.Index]
	res := Result{
		ID: n.ID, Score: m.Score, Base: n.Base, GraphScore: n.GraphScore, Payload: m.Payload,
		Expansion: &Expansion{Nominee: n.Nominee, Parts: n.Parts, Margin: n.Margin, Quota: n.Quota, QuotaPlace: n.QuotaPlace},
	}
	if w.channels != nil {
		c := w.channels[n.Index]
		res.Channels = &c
	}
	return res
}

// refused returns the refusals that the caller may see: a fact that the query's own conditions keep out is not named.
func (w *run) refused() []rerank.Refusal {
	if !w.q.restricted() {
		return w.expansion.Refused
	}
	returned := make(map[string]bool, len(w.matches))
	for i := range w.matches {
		returned[w.matches[i].ID] = true
	}
	return slices.DeleteFunc(slices.Clone(w.expansion.Refused), func(f rerank.Refusal) bool { return !returned[f.ID] })
}
