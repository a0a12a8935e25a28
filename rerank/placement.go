package rerank

import (
	"math"
	"slices"
)

// merge attaches the admitted facts to their seeds. Those of seeds that are not shown anyway are discarded.
func (a *admission) merge(admitted []Admitted, k int) []Placed {
	places := make([]Placed, len(a.ranked.Items))
	at := make(map[string]int, len(places))
	for i := range a.ranked.Items {
		item := a.ranked.Items[i]
		places[i].Item = &item
		at[item.ID] = i
	}
	for i := range admitted {
		n := &admitted[i]
		if place := at[n.Seed]; place < k {
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
	sorted := a.interleave(admitted)
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
func (a *admission) interleave(admitted []Admitted) []Placed {
	waiting := slices.Clone(admitted)
	placed := make(map[string]struct{}, len(a.ranked.Items))
	var sorted []Placed
	for i := range a.ranked.Items {
		item := a.ranked.Items[i]
		for {
			next := slices.IndexFunc(waiting, func(n Admitted) bool {
				_, behindSeed := placed[n.Seed]
				return behindSeed && ahead(&n, &item)
			})
			if next < 0 {
				break
			}
			n := waiting[next]
			sorted = append(sorted, Placed{Added: &n})
			waiting = slices.Delete(waiting, next, next+1)
		}
		sorted = append(sorted, Placed{Item: &item})
		placed[item.ID] = struct{}{}
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
