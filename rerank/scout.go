package rerank

import (
	"cmp"
	"slices"
)

// lead is the strongest first hop to a fact.
type lead struct {
	to      int32 // in spots
	base, p float64
	value   float64 // base*p
}

// scout lists the neighbours of the seeds and then, if there is a limit, of the most promising of those, over all seeds. What
// is found there says how strong a nominee must be to be among the limit strongest, and so how much of the rest of the
// walk is worth the way: nearly nothing as a rule.
func (w *walker) scout(seeds []Ranked, limit int) {
	w.claims.reset(limit)
	w.maxBase, w.leads = 0, w.leads[:0]
	w.starts = grown(w.starts, len(seeds))
	for i := range seeds {
		w.starts[i] = -1
		w.maxBase = max(w.maxBase, seeds[i].Base)
		if n, known := w.q.Graph.Node(seeds[i].ID); known {
			w.starts[i] = w.number(n)
		}
	}
	for i, start := range w.starts {
		if start >= 0 {
			w.list(start, 1)
			w.lead(start, seeds[i].Base)
		}
	}
	if limit > 0 && w.r.settings.Expand.Hops > 1 {
		w.follow()
	}
}

// lead claims what the neighbours of a seed will have, and notes them.
func (w *walker) lead(start int32, base float64) {
	next := w.spots[start].next
	for _, step := range w.neighbours[next[0]:next[1]] {
		l := lead{step.to, base, step.weight, base * step.weight}
		w.claim(step.to, l.value)
		to := &w.spots[step.to]
		switch {
		case to.lead == 0:
			w.leads = append(w.leads, l)
			to.lead = int32(len(w.leads))
		case l.value > w.leads[to.lead-1].value:
			w.leads[to.lead-1] = l
		}
	}
}

// follow claims what is behind the leads, the most promising first.
func (w *walker) follow() {
	decay := w.r.settings.Expand.HopDecay
	w.leads = slices.DeleteFunc(w.leads, func(l lead) bool { return w.hopeless(l.base, l.p, w.r.settings.WeightMax, decay) })
	slices.SortFunc(w.leads, func(a, b lead) int {
		if a.value != b.value {
			return cmp.Compare(b.value, a.value)
		}
		return cmp.Compare(a.to, b.to)
	})
	for _, l := range w.leads {
		if w.hopeless(l.base, l.p, w.r.settings.WeightMax, decay) {
			continue
		}
		w.list(l.to, decay)
		next := w.spots[l.to].next
		for _, step := range w.neighbours[next[0]:next[1]] {
			w.claim(step.to, l.base*(l.p*step.weight*decay))
		}
	}
}

// claim notes that a fact will have at least this much of its best seed.
func (w *walker) claim(spot int32, relaxed float64) {
	if at := &w.spots[spot]; at.member < 0 && relaxed > at.claim {
		w.claims.raise(at.claim, relaxed)
		at.claim = relaxed
	}
}

// hopeless reports whether a path of strength p that goes on over an edge of a weight can be among the strongest by no
// means, wherever it leads: no hop strengthens a path. The product is taken as extend takes it, so that rounding cannot
// make it too small.
func (w *walker) hopeless(base, p, weight, decay float64) bool {
	return base*(p*weight*decay) < w.claims.least
}
