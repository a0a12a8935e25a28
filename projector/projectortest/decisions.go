package projectortest

import (
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// position returns the stamp of a write to something that is no fact.
func position(ev projector.Event, version projector.Optional[int64], rank graphstore.Rank) graphstore.Stamp {
	s := graphstore.Stamp{Version: ev.Time.Micros(), Rank: rank, EventID: ev.ID, At: ev.Time}
	if version.Set {
		s.Version = version.Value
	}
	return s
}

// later compares two stamps of one record.
func later(a, b graphstore.Stamp) bool {
	switch {
	case a.Version != b.Version:
		return a.Version > b.Version
	case a.Rank != b.Rank:
		return a.Rank > b.Rank
	default:
		return a.EventID > b.EventID
	}
}

// replaySchemas keeps the latest word on each schema, and its evidence as what it is now.
func (g *graph) replaySchemas() {
	evidence := map[string][]string{}
	for _, ev := range g.events {
		var s graphstore.Schema
		var facts []string
		switch data := ev.Data.(type) {
		case projector.SchemaUpserted:
			s = graphstore.Schema{ID: data.SchemaID, Level: data.Level, Title: data.Title, Stamp: position(ev, data.Version, graphstore.RankAdd)}
			facts = data.Evidence
		case projector.SchemaDeleted:
			s = graphstore.Schema{ID: data.SchemaID, Deleted: true, Stamp: position(ev, data.Version, graphstore.RankDeleted)}
		default:
			continue
		}
		if had, ok := g.schemas[s.ID]; !ok || later(s.Stamp, had.Stamp) {
			g.schemas[s.ID], evidence[s.ID] = s, facts
		}
	}
	for schema, facts := range evidence {
		for _, id := range facts {
			e := graphstore.Edge{Source: schema, Target: g.forms.factID(id), Type: graphstore.DerivedFromRef, Weight: 1,
				Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: schema}}
			if f := g.facts[e.Target]; f != nil && f.Present() {
				e.Type = graphstore.DerivedFrom
			}
			key := graphstore.Key{Relation: e.Type, Node: e.Source, Target: e.Target, Asserter: e.Asserter}
			g.edges[key] = e // a schema and a fact may share an id
		}
	}
}

// replayDecisions keeps the latest decision on each pair of entities, and gives each entity that is named a node.
func (g *graph) replayDecisions() {
	for _, ev := range g.events {
		row, merged, kept, ok := decision(ev)
		if !ok {
			continue
		}
		mergedType, mergedNorm := g.forms.entityOf(merged.Type, merged.Name)
		keptType, keptNorm := g.forms.entityOf(kept.Type, kept.Name)
		row.Merged, row.MergedName = mergedType+":"+mergedNorm, strings.TrimSpace(merged.Name)
		row.Kept, row.KeptName = keptType+":"+keptNorm, strings.TrimSpace(kept.Name)
		if row.Merged == row.Kept {
			continue
		}
		key := graphstore.Key{Kind: graphstore.KindMerge, Node: row.Merged, Target: row.Kept}
		if had, ok := g.merges[key]; !ok || later(row.Stamp, had.Stamp) {
			g.merges[key] = row
		}
		g.entity(merged.Type, merged.Name)
		g.entity(kept.Type, kept.Name)
	}
	for _, row := range g.merges {
		g.entities[row.Merged].decided = append(g.entities[row.Merged].decided, row.MergedName)
		g.entities[row.Kept].decided = append(g.entities[row.Kept].decided, row.KeptName)
	}
}

// decision returns a decision without the parts that follow from the two names.
func decision(ev projector.Event) (row graphstore.Merge, merged, kept projector.EntityName, ok bool) {
	switch data := ev.Data.(type) {
	case projector.EntityAliased:
		row = graphstore.Merge{Step: graphstore.StepAliased, Evidence: data.Evidence, Stamp: position(ev, data.Version, graphstore.RankAdd)}
		return row, projector.EntityName{Name: data.Alias, Type: data.Entity.Type}, data.Entity, true
	case projector.EntityMerged:
		row = graphstore.Merge{Step: graphstore.StepMerged, Evidence: data.Evidence, Stamp: position(ev, data.Version, graphstore.RankAdd)}
		return row, data.Merged, data.Kept, true
	case projector.EntityUnmerged:
		row = graphstore.Merge{Step: graphstore.StepUnmerged, Undone: true, Evidence: data.Evidence, Stamp: position(ev, data.Version, graphstore.RankDeleted)}
		return row, data.Merged, data.Kept, true
	case projector.EntityRetyped:
		row = graphstore.Merge{Step: graphstore.StepRetyped, Evidence: data.Evidence, Stamp: position(ev, data.Version, graphstore.RankAdd)}
		return row, data.Entity, projector.EntityName{Name: data.Entity.Name, Type: data.To}, true
	default:
		return row, merged, kept, false
	}
}
