package projector

import (
	"cmp"
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// Weights of the temporal spine.
const (
	spineNear     = 24 * 3600 * 1_000_000 // microseconds within which two facts are neighbours in time at full weight
	spineHalfLife = 30                    // days of gap that halve the weight
	spineFloor    = 0.1                   // the least weight
)

// spineWeight returns the weight of the step from one fact to the next: 1 within an episode or a day, else
// max(.1, 2^(-gap in days / 30)).
func spineWeight(from, to *graphstore.Fact) float64 {
	gap := to.MemoryAt.Micros() - from.MemoryAt.Micros()
	if from.EpisodeID != "" && from.EpisodeID == to.EpisodeID || gap <= spineNear {
		return 1
	}
	return math.Max(spineFloor, math.Exp2(-float64(gap)/spineNear/spineHalfLife))
}

// spinePlan is the spine before and after an event. Unchanged facts keep their order, so what an event changes is at the
// old and the new places of the facts that it changes, and at the facts before those.
type spinePlan struct {
	d       *draft
	changed map[string]struct{}        // facts that come, go, move or change their episode
	placed  []graphstore.SpinePlace    // of those that are on the spine afterwards, in order
	before  map[graphstore.Node]string // memo: by a changed fact in the view, the unchanged one before it, or ""
	after   map[graphstore.Node]string
}

// deriveSpine brings the temporal_next edges in line with the facts.
func (d *draft) deriveSpine() {
	if !d.cfg.TemporalSpine {
		d.leaveSpine()
		return
	}
	p := spinePlan{d: d, changed: map[string]struct{}{}, before: map[graphstore.Node]string{}, after: map[graphstore.Node]string{}}
	touched := map[string]struct{}{} // facts whose step to the next may change
	for id, s := range d.settled {
		if was, is := spineView(s.before), spineView(s.after); was != is {
			p.changed[id] = struct{}{}
			touched[id] = struct{}{}
			if is.on {
				p.placed = append(p.placed, is.place)
			}
		}
	}
	if len(p.changed) == 0 {
		return
	}
	slices.SortFunc(p.placed, graphstore.SpinePlace.Compare)
	for id := range p.changed {
		s := d.settled[id]
		for _, f := range []*graphstore.Fact{&s.before, &s.after} {
			if place, on := graphstore.PlaceOnSpine(f); on {
				touched[p.unchangedBefore(place)] = struct{}{}
			}
		}
	}
	delete(touched, "")
	for id := range touched {
		p.restep(id)
	}
}

// leaveSpine drops the steps that lead from and to facts which are no longer active. Without a spine there are such steps
// only in a graph that was made with one, and a fact that is erased must not be kept by them.
func (d *draft) leaveSpine() {
	for id, s := range d.settled {
		if spineView(s.after).on {
			continue
		}
		for _, e := range d.view.EdgesOf(id) {
			if e.Type == graphstore.TemporalNext && e.Asserter.Kind == graphstore.BySpine {
				d.change(e.Key(), edgeChange{old: &e})
			}
		}
	}
}

// seenOnSpine is what the spine shows of a fact.
type seenOnSpine struct {
	on      bool
	place   graphstore.SpinePlace
	episode string
}

func spineView(f graphstore.Fact) seenOnSpine {
	place, on := graphstore.PlaceOnSpine(&f)
	if !on {
		return seenOnSpine{}
	}
	return seenOnSpine{true, place, f.EpisodeID}
}

// unchangedBefore returns the last unchanged fact before a place, or "".
func (p *spinePlan) unchangedBefore(place graphstore.SpinePlace) string {
	return p.unchanged(p.before, p.d.view.SpineBefore(place))
}

// unchanged returns the first unchanged fact of a walk, or "". What lies behind a changed fact is remembered, so that a
// run of them is walked once.
func (p *spinePlan) unchanged(memo map[graphstore.Node]string, walk func(func(graphstore.Node) bool)) string {
	var found string
	var passed []graphstore.Node
	walk(func(n graphstore.Node) bool {
		if id, known := memo[n]; known {
			found = id
			return false
		}
		id := p.d.view.ID(n)
		if _, changed := p.changed[id]; !changed {
			found = id
			return false
		}
		passed = append(passed, n)
		return true
	})
	for _, n := range passed {
		memo[n] = found
	}
	return found
}

// next returns the fact that follows a place on the spine afterwards, or "".
func (p *spinePlan) next(place graphstore.SpinePlace) string {
	at, _ := slices.BinarySearchFunc(p.placed, place, func(a, b graphstore.SpinePlace) int {
		return cmp.Or(a.Compare(b), -1) // the first after the place
	})
	self := place.ID
	unchanged := p.unchanged(p.after, func(yield func(graphstore.Node) bool) {
		for n := range p.d.view.SpineFrom(place) {
			if p.d.view.ID(n) != self && !yield(n) {
				return
			}
		}
	})
	if at == len(p.placed) {
		return unchanged
	}
	if unchanged == "" {
		return p.placed[at].ID
	}
	f := p.d.factNow(unchanged)
	if there, _ := graphstore.PlaceOnSpine(&f); there.Compare(p.placed[at]) < 0 {
		return unchanged
	}
	return p.placed[at].ID
}

// restep brings the step from one fact to the next in line.
func (p *spinePlan) restep(id string) {
	var old, now []graphstore.Edge
	by := graphstore.Asserter{Kind: graphstore.BySpine}
	if n, ok := p.d.view.Node(id); ok {
		for _, l := range p.d.view.Links(n) {
			if l.Type == graphstore.TemporalNext && l.Out() && p.d.view.Asserter(n, l) == by {
				old = append(old, graphstore.Edge{Source: id, Target: p.d.view.ID(l.To), Type: l.Type, Asserter: by, Weight: l.Weight})
			}
		}
	}
	from := p.d.factNow(id)
	if place, on := graphstore.PlaceOnSpine(&from); on {
		if next := p.next(place); next != "" {
			to := p.d.factNow(next)
			now = append(now, graphstore.Edge{Source: id, Target: next, Type: graphstore.TemporalNext, Asserter: by, Weight: spineWeight(&from, &to)})
		}
	}
	changes := edgeChanges{}
	changes.restate(old, now)
	for key, c := range changes {
		p.d.change(key, c)
	}
}
