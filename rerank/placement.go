package rerank

import (
	"math"
	"slices"
)

// merge attaches the admitted facts to their seeds. Those of seeds that are not shown anyway are discarded.
func (a *admission) merge(admitted []Admitted, k int) []Placed {
	items := slices.Clone(a.ranked.Items)
	places := make([]Placed, len(items))
	for i := range items {
		places[i].Item = &items[i]
	}
	for i := range admitted {
		n := &admitted[i]
		if place := a.items[n.Seed]; place < k {
			places[place].Attached = append(places[place].Attached, *n)
		} else {
			a.refuse(&n.Nominee, ReasonSeedOutside, n.Base, n.Margin)
		}
	}
	return places
}

// insert puts the admitted facts among the pool members by graph score. Among the first k are at most
// ceil(ExtraShare*k) of them; the others wait behind, in order, or are refused if the pool does not fill k places.
func (a *admission) insert(admitted []Admitted, k int) []Placed {
	sorted := a.interleave(slices.Clone(a.ranked.Items), admitted)
	// Less Epsilon: 0.28*25 is a hair above 7 in binary and must not allow 8.
	room := int(math.Ceil(a.r.settings.Expand.ExtraShare*float64(k) - Epsilon))
	var top, rest []Placed
	for _, p := range sorted {
		switch {
		case len(top) < k && p.Added == nil:
			top = append(top, p)
		case len(top) < k && room > 0:
			room--
			top = append(top, p)
		default:
			rest = append(rest, p)
		}
	}
	if len(top) < k { // a short pool: what waits would slide back among the first k
		for _, p := range rest {
			a.refuse(&p.Added.Nominee, ReasonShare, p.Added.Base, p.Added.Margin)
		}
		return top
	}
	return append(top, rest...)
}

// interleave merges the two lists, each in its order, by the order rule: graph score, cosine, and on equal terms the
// pool member first. A fact never comes before its seed, also where the pool came in another order than its scores.
func (a *admission) interleave(items []Ranked, admitted []Admitted) []Placed {
	waiting := slices.Clone(admitted)
	sorted := make([]Placed, 0, len(items)+len(admitted))
	for i := range items {
		item := &items[i]
		for {
			next := slices.IndexFunc(waiting, func(n Admitted) bool {
				return a.items[n.Seed] < i && ahead(&n, item)
			})
			if next < 0 {
				break
			}
			n := waiting[next]
			sorted = append(sorted, Placed{Added: &n})
			waiting = slices.Delete(waiting, next, next+1)
		}
		sorted = append(sorted, Placed{Item: item})
	}
	for i := range waiting {
		sorted = append(sorted, Placed{Added: &waiting[i]})
	}
	return sorted
}

// ahead reports whether an added fact comes before a pool member.
func ahead(n *Admitted, item *Ranked) bool {
	if n.GraphScore != item.GraphScore {
		return n.GraphScore > item.GraphScore
	}
	return n.Score > item.Score
}
