package projector

import "github.com/kithgraph/kith/graphstore"

// plan leaves a tombstone of the user and takes out everything that events up to then settled, as if they had never
// been: registers, values, edges, schemas, rows of the merge log, tombstones of sources. What later events settled stays.
func (UserForgotten) plan(d *draft, ev Event) {
	forgotten := graphstore.Tombstone{At: ev.Time}
	d.tombstones[""] = ev.Time
	if erased, all := everything(d.view, forgotten); all {
		d.erased = erased
		d.report.Erased += d.view.Facts() - d.view.Unseen()
		return
	}
	for n := range d.view.Nodes() {
		before := d.view.FactAt(n)
		if before.State == graphstore.StateUnseen {
			continue // it goes with the last edge that names it
		}
		after, asserted := forget(before, forgotten)
		if after.State == graphstore.StateUnseen {
			d.report.Erased++
		}
		d.settle(settledFact{before, after, true, asserted})
	}
	for _, m := range d.view.Merges() {
		if forgotten.Covers(m.Stamp.At) {
			d.setMerge(m.Key(), nil)
		}
	}
	for s := range d.view.Schemas() {
		if forgotten.Covers(s.Stamp.At) {
			d.schemas[s.ID] = schemaChange{erased: true}
		}
	}
	for t := range d.view.Tombstones() {
		if t.Source != "" && forgotten.Covers(t.At) {
			d.dropped = append(d.dropped, t.Key())
		}
	}
}

// everything returns the deletes of all records, or false if anything of the user is later than the forgetting. Nearly
// always nothing is, and then nothing needs to be derived.
func everything(view *graphstore.Snapshot, forgotten graphstore.Tombstone) ([]graphstore.Change, bool) {
	later := func(s graphstore.Stamp) bool { return !s.IsZero() && !forgotten.Covers(s.At) }
	for n := range view.Nodes() {
		if r := view.FactAt(n).Registers; later(r.State) || later(r.Base) || anyField(r, later) {
			return nil, false
		}
	}
	var deletes []graphstore.Change
	for c := range view.Records() {
		if c.Merge != nil && later(c.Merge.Stamp) || c.Schema != nil && later(c.Schema.Stamp) ||
			c.Tombstone != nil && c.Tombstone.Source != "" && !forgotten.Covers(c.Tombstone.At) {
			return nil, false
		}
		if key := c.Key(); key != (graphstore.Tombstone{}).Key() {
			deletes = append(deletes, graphstore.DeleteKey(view.Space(), key))
		}
	}
	return deletes, true
}

// forget returns what is left of a fact, an unseen one if nothing is, and what it asserts now by the fields it lost.
func forget(before graphstore.Fact, forgotten graphstore.Tombstone) (graphstore.Fact, map[graphstore.Field][]graphstore.Edge) {
	covered := func(s graphstore.Stamp) bool { return !s.IsZero() && forgotten.Covers(s.At) }
	after := before
	asserted := clearFields(&after, before.Registers, covered)
	r := graphstore.Registers{State: before.Registers.State, Base: before.Registers.Base}
	if covered(r.State) {
		r.State = graphstore.Stamp{}
		after.SupersededBy, after.SupersededAt = "", 0
	}
	if covered(r.Base) {
		r.Base = graphstore.Stamp{}
	}
	for _, fs := range before.Registers.Fields {
		if !covered(fs.Stamp) {
			r.Fields = append(r.Fields, fs)
		}
	}
	after.Registers = r
	if r.State.IsZero() && r.Base.IsZero() && len(r.Fields) == 0 {
		after = graphstore.Fact{ID: before.ID}
	}
	return after, asserted
}
