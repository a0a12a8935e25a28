package projector

import (
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

func (a EntityAliased) plan(d *draft, ev Event) {
	d.decide(ev, decision{kept: a.Entity, merged: EntityName{Name: a.Alias, Type: a.Entity.Type}, step: graphstore.StepAliased,
		version: a.Version, evidence: a.Evidence})
}

func (m EntityMerged) plan(d *draft, ev Event) {
	d.decide(ev, decision{kept: m.Kept, merged: m.Merged, step: graphstore.StepMerged, version: m.Version, evidence: m.Evidence})
}

func (u EntityUnmerged) plan(d *draft, ev Event) {
	d.decide(ev, decision{kept: u.Kept, merged: u.Merged, step: graphstore.StepUnmerged, undone: true, version: u.Version,
		evidence: u.Evidence})
}

func (r EntityRetyped) plan(d *draft, ev Event) {
	d.decide(ev, decision{kept: EntityName{Name: r.Entity.Name, Type: r.To}, merged: r.Entity, step: graphstore.StepRetyped,
		version: r.Version, evidence: r.Evidence})
}

// decision is what a person said of two entities.
type decision struct {
	kept, merged EntityName
	step         graphstore.Step
	undone       bool
	version      Optional[int64]
	evidence     string
}

// decide writes the row of the merge log for the pair, if the decision is the latest on it. Nothing else changes: the
// merged entity keeps its edges, and readers follow the row. An entity that the log names has a node, mentioned or not.
func (d *draft) decide(ev Event, c decision) {
	kept, merged := d.entityOf(c.kept), d.entityOf(c.merged)
	if kept.id == merged.id {
		d.report.NoopDecisions++
		return
	}
	row := graphstore.Merge{Merged: merged.id, Kept: kept.id, Step: c.step, Undone: c.undone, Evidence: c.evidence,
		MergedName: strings.TrimSpace(c.merged.Name), KeptName: strings.TrimSpace(c.kept.Name),
		Stamp: graphstore.Stamp{Version: ev.version(c.version), Rank: graphstore.RankAdd, EventID: ev.ID, At: ev.Time}}
	if c.undone {
		row.Stamp.Rank = graphstore.RankDeleted
	}
	for _, had := range d.view.MergesOf(merged.id) {
		if had.Key() == row.Key() && !row.Stamp.After(had.Stamp) {
			d.report.Stale++
			return
		}
	}
	d.report.Decisions++
	d.setMerge(row.Key(), &row)
	d.names[kept.id], d.names[merged.id] = kept, merged
}

// setMerge notes what becomes of a row, nil if it goes, and that its entities are to be derived anew.
func (d *draft) setMerge(row graphstore.Key, now *graphstore.Merge) {
	d.merges[row] = now
	for _, entity := range []string{row.Node, row.Target} {
		d.mergesAt[entity] = append(d.mergesAt[entity], row)
		d.touchEntity(entity)
	}
}

// entityOf returns the identity of the entity with this name, which the event's validation has found not to be blank.
func (d *draft) entityOf(name EntityName) entityName {
	typ, known := d.entityType(name.Type)
	if !known {
		d.report.UnknownEntityTypes++
	}
	named, _ := d.entityNamed(typ, name.Name)
	return named
}

// touchEntity has an entity derived anew though no fact changes at it.
func (d *draft) touchEntity(id string) {
	key := graphstore.Key{Kind: graphstore.KindEntity, Node: id}
	if _, touched := d.bridges[key]; !touched {
		d.bridges[key] = nil
	}
}

// mergesNow returns the rows that name an entity after the event.
func (d *draft) mergesNow(entity string) []graphstore.Merge {
	rows := slices.DeleteFunc(d.view.MergesOf(entity), func(m graphstore.Merge) bool {
		_, changed := d.merges[m.Key()]
		return changed
	})
	for _, key := range d.mergesAt[entity] {
		if m := d.merges[key]; m != nil {
			rows = append(rows, *m)
		}
	}
	return rows
}

// nameInLog returns the bytewise smallest spelling that the rows have of an entity, or "".
func nameInLog(entity string, rows []graphstore.Merge) string {
	var spellings []string
	for _, m := range rows {
		if m.Merged == entity {
			spellings = append(spellings, m.MergedName)
		} else {
			spellings = append(spellings, m.KeptName)
		}
	}
	if len(spellings) == 0 {
		return ""
	}
	return slices.Min(spellings)
}
