package rerank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// seedMargin keeps an added fact below its own seed.
const seedMargin = 1e-6

// Admit decides which nominees are added and where. ranked and nominated must be the results of [Ranker.Rerank] and
// [Ranker.Nominate] for the same request; scored is what the vector store returned for the nominees' ids, in any order;
// k >= 1 is the number of results the caller wants.
//
// A nominee that the vector store did not return is refused, and so is one whose path leads over such a fact, unless
// another path over confirmed facts reaches it. Without nominees the order is that of ranked. Errors wrap [ErrBadRequest];
// nominees of another request are refused one by one.
func (r *Ranker) Admit(q Request, ranked Result, nominated Nominations, scored []Candidate, k int) (Expansion, error) {
	if err := q.validate(); err != nil {
		return Expansion{}, err
	}
	if err := ranked.belongsTo(&q); err != nil {
		return Expansion{}, err
	}
	if k < 1 {
		return Expansion{}, fmt.Errorf("%w: k %d: want at least 1", ErrBadRequest, k)
	}
	a := admission{r: r, q: &q, ranked: &ranked, scored: scored, refused: make(map[string]Refusal, len(nominated.Nominees))}
	a.items = make(map[string]int, len(ranked.Items))
	for i := range ranked.Items {
		a.items[ranked.Items[i].ID] = i
	}
	a.answer(nominated.Nominees)
	admitted := a.choose(a.gate(a.reachable(nominated.Nominees)))
	x := Expansion{}
	if r.settings.Expand.MergeSeed {
		x.Places = a.merge(admitted, k)
	} else {
		x.Places = a.insert(admitted, k)
	}
	a.account(&x, &nominated)
	return x, nil
}

// admission is one call of Admit at work.
type admission struct {
	r      *Ranker
	q      *Request
	ranked *Result
	scored []Candidate
	items  map[string]int // by id: in ranked.Items
	places map[string]int // of eligible answers: in scored
	// refused holds the verdicts, by id.
	refused map[string]Refusal
	fetched int
}

func (a *admission) refuse(n *Nominee, why Reason, base, margin float64) {
	a.refused[n.ID] = Refusal{ID: n.ID, Seed: n.Seed, Via: n.Via, Hops: n.Hops, Relaxed: n.Relaxed, Reason: why, Base: base, Margin: margin}
}

// answer sorts the vector store's answer into eligible and not. Answers nobody asked for are ignored.
func (a *admission) answer(nominees []Nominee) {
	at := make(map[string]int, len(a.scored))
	for i := range a.scored {
		if _, dup := at[a.scored[i].ID]; !dup {
			at[a.scored[i].ID] = i
		}
	}
	a.places = make(map[string]int, len(nominees))
	test := a.q.eligibility()
	for i := range nominees {
		n := &nominees[i]
		if _, member := a.items[n.ID]; member { // nominations of another request
			a.refuse(n, ReasonDuplicate, 0, 0)
			continue
		}
		place, returned := at[n.ID]
		if !returned {
			a.refuse(n, ReasonNotReturned, 0, 0)
			continue
		}
		a.fetched++
		if why := test.refuses(&a.scored[place]); why != "" {
			a.refuse(n, why, 0, 0)
			continue
		}
		a.places[n.ID] = place
	}
}

// reachable returns the eligible nominees whose path holds only eligible facts. If a path does not, the walk is repeated
// over the facts that do, since a weaker path may.
func (a *admission) reachable(nominees []Nominee) []Nominee {
	var fit []Nominee
	broken := false
	for i := range nominees {
		if _, ok := a.places[nominees[i].ID]; ok {
			fit = append(fit, nominees[i])
			broken = broken || !a.walkable(nominees[i].Path)
		}
	}
	if !broken {
		return fit
	}
	confirmed := make(map[string]struct{}, len(a.places))
	for id := range a.places {
		confirmed[id] = struct{}{}
	}
	again := a.r.nominate(a.q, a.ranked, confirmed).Nominees
	for i := range fit {
		if !slices.ContainsFunc(again, func(n Nominee) bool { return n.ID == fit[i].ID }) {
			a.refuse(&fit[i], ReasonUnreached, 0, 0)
		}
	}
	return again
}

func (a *admission) walkable(path []string) bool {
	for _, id := range path[:max(len(path)-1, 0)] {
		_, confirmed := a.places[id]
		if _, member := a.items[id]; !member && !confirmed {
			return false
		}
	}
	return true
}

// gate scores the nominees and returns those near enough to the query: a tie to a good item is no relevance by itself.
func (a *admission) gate(nominees []Nominee) []Admitted {
	x := &a.r.settings.Expand
	var through []Admitted
	for i := range nominees {
		n := &nominees[i]
		c := &a.scored[a.places[n.ID]]
		place, ok := a.items[n.Seed]
		if !ok { // nominations of another request
			a.refuse(n, ReasonUnreached, 0, 0)
			continue
		}
		seed := &a.ranked.Items[place]
		base, _ := a.r.calibration.base(c)
		margin := base - (seed.Base - x.delta(n.Via))
		switch {
		case !atLeast(margin, 0):
			a.refuse(n, ReasonGate, base, margin)
		case !atLeast(base, x.AdmitFloor):
			a.refuse(n, ReasonFloor, base, margin)
		default:
			parts := a.parts(n, c, seed, base)
			sum := parts.Sum()
			score := min(sum, seed.GraphScore-seedMargin)
			parts.Held = score - sum
			through = append(through, Admitted{
				Nominee: *n, Index: a.places[n.ID], Score: c.Cosine, Base: base, GraphScore: score, Parts: parts, Margin: margin,
			})
		}
	}
	slices.SortFunc(through, compareAdmitted)
	return through
}

// parts returns what the channels say of a nominee. The specification leaves open what its episode channel is: whether it
// was said in the same conversation as its seed, so that the seed vouches once more for it.
func (a *admission) parts(n *Nominee, c *Candidate, seed *Ranked, base float64) Parts {
	x := &a.r.settings.Expand
	p := Parts{Base: base, Tie: x.Gamma * n.Relaxed}
	if isFinite(c.Keyword) {
		p.Keyword = x.KeywordBonus * max(0, min(c.Keyword, 1))
	}
	if c.EpisodeID != "" && c.EpisodeID == a.q.Pool[seed.Index].EpisodeID {
		p.Episode = x.EpisodeBonus
	}
	return p
}

// compareAdmitted orders by graph score, then cosine, then id. A cosine that is not finite comes last.
func compareAdmitted(a, b Admitted) int {
	return cmp.Or(cmp.Compare(b.GraphScore, a.GraphScore), cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}

// choose applies the quotas, best first.
func (a *admission) choose(through []Admitted) []Admitted {
	x := &a.r.settings.Expand
	var chosen []Admitted
	perSeed := map[string]int{}
	var perType [typeSlots]int
	for i := range through {
		n := &through[i]
		quota, limited := x.Quotas[n.Via]
		switch {
		case len(chosen) == x.MaxExpand:
			a.refuse(&n.Nominee, ReasonMaxExpand, n.Base, n.Margin)
		case limited && perType[n.Via] >= quota:
			a.refuse(&n.Nominee, ReasonQuota, n.Base, n.Margin)
		case perSeed[n.Seed] >= x.MaxPerSeed:
			a.refuse(&n.Nominee, ReasonPerSeed, n.Base, n.Margin)
		default:
			perType[n.Via]++
			perSeed[n.Seed]++
			n.Quota, n.QuotaPlace = quota, perType[n.Via]
			chosen = append(chosen, *n)
		}
	}
	return chosen
}

// account fills the refusals, in the order of the nominations, and the diagnostics.
func (a *admission) account(x *Expansion, n *Nominations) {
	d := &x.Diagnostics
	d.Seeds, d.Truncated = n.Seeds, n.Truncated
	d.Asked, d.Nominated, d.Fetched = len(n.Nominees), max(n.Reached, len(n.Nominees)), a.fetched
	d.Beyond = d.Nominated - d.Asked
	d.Admitted = d.Asked
	for i := range n.Nominees {
		no, refused := a.refused[n.Nominees[i].ID]
		if !refused {
			continue
		}
		d.Admitted--
		x.Refused = append(x.Refused, no)
		switch no.Reason {
		case ReasonGate, ReasonFloor:
			d.GatedOut++
		case ReasonMaxExpand, ReasonQuota, ReasonPerSeed:
			d.QuotaDropped++
		case ReasonSeedOutside, ReasonShare:
			d.Discarded++
		default:
			d.Unfit++
		}
	}
	for i := range n.Beyond {
		b := &n.Beyond[i]
		x.Refused = append(x.Refused, Refusal{ID: b.ID, Seed: b.Seed, Via: b.Via, Hops: b.Hops, Relaxed: b.Relaxed, Reason: ReasonBeyond})
	}
}
