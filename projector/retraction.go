package projector

import "github.com/kithgraph/kith/graphstore"

// plan leaves a tombstone of the source and takes back what its writes up to then settled: their fields become empty,
// and a fact whose add it was is deleted. The stamps stay, so that nothing older shows where they stood.
//
// It looks at every fact of the user once.
func (s SourceRetracted) plan(d *draft, ev Event) {
	if t, ok := d.view.Tombstone(s.SourceID); ok && t.Covers(ev.Time) {
		d.report.Stale++
		return
	}
	d.tombstones[s.SourceID] = ev.Time
	newly := func(stamp graphstore.Stamp) bool {
		return stamp.Source == s.SourceID && d.withdrawn(stamp) && !d.wasWithdrawn(stamp)
	}
	for n := range d.view.FactsOfSource(s.SourceID) {
		before := d.view.FactAt(n)
		after := before
		asserted := clearFields(&after, before.Registers, newly)
		if !newly(before.Registers.Base) && !anyField(before.Registers, newly) {
			continue
		}
		d.report.Retracted++
		d.settle(settledFact{before, after, true, asserted})
	}
}

func anyField(r graphstore.Registers, these func(graphstore.Stamp) bool) bool {
	for _, fs := range r.Fields {
		if these(fs.Stamp) {
			return true
		}
	}
	return false
}
