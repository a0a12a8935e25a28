package projector

import "github.com/kithgraph/kith/graphstore"

func (s FactSuperseded) plan(d *draft, ev Event) {
	if d.settleLifecycle(ev, s.FactID, s.Version, graphstore.RankSuperseded, func(f *graphstore.Fact) {
		f.SupersededBy, f.SupersededAt = graphstore.CanonicalFactID(s.By), ev.Time
	}) {
		d.report.Superseded++
	}
}

func (s FactShadowed) plan(d *draft, ev Event) {
	if d.settleLifecycle(ev, s.FactID, s.Version, graphstore.RankShadowed, nil) {
		d.report.Shadowed++
	}
}

func (s FactRestored) plan(d *draft, ev Event) {
	if d.settleLifecycle(ev, s.FactID, s.Version, graphstore.RankRestored, nil) {
		d.report.Restored++
	}
}

// settleLifecycle settles the state of a fact and reports whether it did; with sets what else the change says.
func (d *draft) settleLifecycle(ev Event, id string, version Optional[int64], rank graphstore.Rank, with func(*graphstore.Fact)) bool {
	before, known := d.fact(graphstore.CanonicalFactID(id))
	stamp := graphstore.Stamp{Version: ev.version(version), Rank: rank, EventID: ev.ID, At: ev.Time}
	if !stamp.After(before.Registers.State) {
		d.report.Stale++
		return false
	}
	after := before
	after.Registers.State = stamp
	after.SupersededBy, after.SupersededAt = "", 0
	if with != nil {
		with(&after)
	}
	d.settle(settledFact{before: before, after: after, known: known})
	return true
}

// plan settles the state and, like an add that leaves everything out, every field: what the fact said is cleared, but
// for the fields that a later update states. Those stay hidden behind the deleted state, so that an add between the
// two, should it come last, finds them.
func (s FactDeleted) plan(d *draft, ev Event) {
	before, known := d.fact(graphstore.CanonicalFactID(s.FactID))
	settled := newSettling(before, graphstore.Stamp{Version: ev.version(s.Version), Rank: graphstore.RankDeleted, EventID: ev.ID, At: ev.Time})
	settled.all = true
	d.settleWrite(settled, &FactWrite{}, place{})
	if settled.fact.Registers.Equal(before.Registers) {
		d.report.Stale++
		return
	}
	d.report.Deleted++
	d.settle(settledFact{before, settled.fact, known, settled.asserted})
}
