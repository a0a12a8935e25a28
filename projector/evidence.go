package projector

import "github.com/kithgraph/kith/graphstore"

// schemaChange is what becomes of one schema.
type schemaChange struct {
	erased   bool // no record is left
	now      graphstore.Schema
	evidence []string // canonical ids, possibly with repeats
}

// plan settles the whole schema, if no later event has.
func (s SchemaUpserted) plan(d *draft, ev Event) {
	now := graphstore.Schema{ID: s.SchemaID, Level: s.Level, Title: s.Title,
		Stamp: graphstore.Stamp{Version: ev.version(s.Version), Rank: graphstore.RankAdd, EventID: ev.ID, At: ev.Time}}
	evidence := make([]string, len(s.Evidence))
	for i, id := range s.Evidence {
		evidence[i] = graphstore.CanonicalFactID(id)
	}
	d.settleSchema(now, evidence)
}

// plan leaves a tombstone that remembers the version.
func (s SchemaDeleted) plan(d *draft, ev Event) {
	d.settleSchema(graphstore.Schema{ID: s.SchemaID, Deleted: true,
		Stamp: graphstore.Stamp{Version: ev.version(s.Version), Rank: graphstore.RankDeleted, EventID: ev.ID, At: ev.Time}}, nil)
}

func (d *draft) settleSchema(now graphstore.Schema, evidence []string) {
	if had, ok := d.view.Schema(now.ID); ok && !now.Stamp.After(had.Stamp) {
		d.report.Stale++
		return
	}
	d.report.Schemas++
	d.schemas[now.ID] = schemaChange{now: now, evidence: evidence}
}

// deriveEvidence brings derived_from in line with the schemas and with which facts are present, and appends what becomes
// of schemas and refs.
func (d *draft) deriveEvidence(out []graphstore.Change) []graphstore.Change {
	changes := edgeChanges{}
	for id, c := range d.schemas {
		out = append(out, d.schemaChange(id, c))
		changes.restate(d.view.Evidence(id), c.evidenceNow(d, id))
	}
	for id, s := range d.settled {
		if s.before.Present() != s.after.Present() {
			d.redirectEvidence(changes, id)
		}
	}
	refs := map[string]int{} // edges that come less edges that go
	for key, c := range changes {
		if key.Relation == graphstore.DerivedFromRef {
			refs[key.Target] += count(c.now) - count(c.old)
		}
		d.change(key, c)
	}
	return d.deriveRefs(out, refs)
}

func count(e *graphstore.Edge) int {
	if e == nil {
		return 0
	}
	return 1
}

func (d *draft) schemaChange(id string, c schemaChange) graphstore.Change {
	if c.erased {
		return graphstore.DeleteKey(d.view.Space(), graphstore.Schema{ID: id}.Key())
	}
	return graphstore.PutSchema(d.view.Space(), c.now)
}

// evidenceNow returns the edges of a schema after the event.
func (c schemaChange) evidenceNow(d *draft, id string) []graphstore.Edge {
	edges := make([]graphstore.Edge, len(c.evidence))
	for i, fact := range c.evidence {
		edges[i] = d.evidenceEdge(id, fact)
	}
	return edges
}

// evidenceEdge returns the edge from a schema to a fact, or to what stands for it while it is not present.
func (d *draft) evidenceEdge(schema, fact string) graphstore.Edge {
	e := graphstore.Edge{Source: schema, Target: fact, Type: graphstore.DerivedFromRef, Weight: 1,
		Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: schema}}
	if d.presentNow(fact) {
		e.Type = graphstore.DerivedFrom
	}
	return e
}

// redirectEvidence has the evidence of other schemas follow a fact that came or went.
func (d *draft) redirectEvidence(changes edgeChanges, fact string) {
	for _, e := range d.view.Cited(fact) {
		if _, settled := d.schemas[e.Source]; !settled {
			changes.restate([]graphstore.Edge{e}, []graphstore.Edge{d.evidenceEdge(e.Source, fact)})
		}
	}
}

// deriveRefs appends the refs that come with their first edge and go with their last.
func (d *draft) deriveRefs(out []graphstore.Change, balance map[string]int) []graphstore.Change {
	for id, by := range balance {
		ref := graphstore.Ref{ID: id}
		had := 0
		for _, e := range d.view.Cited(id) {
			if e.Type == graphstore.DerivedFromRef {
				had++
			}
		}
		switch {
		case had == 0 && by > 0:
			out = append(out, graphstore.PutRef(d.view.Space(), ref))
		case had > 0 && had+by == 0:
			out = append(out, graphstore.DeleteKey(d.view.Space(), ref.Key()))
		}
	}
	return out
}
