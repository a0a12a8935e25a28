package projectortest

import (
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// Model holds sets of events and of stored facts and derives from them, from scratch on each call, the graph that they
// make. It is for one goroutine.
type Model struct {
	shape  Shape
	forms  Forms
	events map[graphstore.Space]map[string]projector.Event
	stored map[graphstore.Space][]projector.StoredFact
}

// NewModel returns a model without events.
func NewModel(shape Shape) *Model {
	return &Model{shape: shape, events: map[graphstore.Space]map[string]projector.Event{},
		stored: map[graphstore.Space][]projector.StoredFact{}}
}

// Know adds normal forms to those of the tables.
func (m *Model) Know(forms Forms) { m.forms = forms }

// Add takes in an event. A second one of the same id changes nothing.
func (m *Model) Add(events ...projector.Event) {
	for _, ev := range events {
		if m.events[ev.Space] == nil {
			m.events[ev.Space] = map[string]projector.Event{}
		}
		if _, had := m.events[ev.Space][ev.ID]; !had {
			m.events[ev.Space][ev.ID] = ev
		}
	}
}

// AddStored takes in facts as a store has them. Of one version of a fact there is one form.
func (m *Model) AddStored(space graphstore.Space, facts ...projector.StoredFact) {
	m.stored[space] = append(m.stored[space], facts...)
}

// Spaces returns the users that something was added of.
func (m *Model) Spaces() []graphstore.Space {
	spaces := map[graphstore.Space]bool{}
	for space := range m.events {
		spaces[space] = true
	}
	for space := range m.stored {
		spaces[space] = true
	}
	return slices.SortedFunc(maps.Keys(spaces), func(a, b graphstore.Space) int { return compareText(a.UserID(), b.UserID()) })
}

// graph is one user's graph in the making.
type graph struct {
	shape     Shape
	forms     Forms
	stored    []projector.StoredFact
	events    []projector.Event // those that count, in order of their ids
	forgotten graphstore.Instant
	retracted map[string]graphstore.Instant // source -> the latest time
	facts     map[string]*fact
	edges     map[graphstore.Key]graphstore.Edge
	entities  map[string]*bridge
	topics    map[string]*bridge
	schemas   map[string]graphstore.Schema
	merges    map[graphstore.Key]graphstore.Merge
}

// Records returns the graph of a user as Put changes, in order of key.
func (m *Model) Records(space graphstore.Space) []graphstore.Change {
	g := &graph{
		shape: m.shape, forms: m.forms, retracted: map[string]graphstore.Instant{}, facts: map[string]*fact{}, edges: map[graphstore.Key]graphstore.Edge{},
		entities: map[string]*bridge{}, topics: map[string]*bridge{}, schemas: map[string]graphstore.Schema{},
		merges: map[graphstore.Key]graphstore.Merge{},
	}
	g.choose(m.events[space], m.stored[space])
	g.replayFacts()
	g.voidSupersessions()
	g.batches()
	for _, f := range g.facts {
		g.relations(f)
		g.neighbors(f)
		g.mentions(f)
		g.tags(f)
	}
	if g.shape.TemporalSpine {
		g.spine()
	}
	g.replaySchemas()
	g.replayDecisions()
	return g.records(space)
}

// choose drops what is forgotten and notes what is retracted.
func (g *graph) choose(events map[string]projector.Event, stored []projector.StoredFact) {
	for _, ev := range events {
		if _, ok := ev.Data.(projector.UserForgotten); ok {
			g.forgotten = latest(g.forgotten, ev.Time)
		}
	}
	for _, ev := range events {
		if g.dropped(ev.Time) {
			continue
		}
		g.events = append(g.events, ev)
		if r, ok := ev.Data.(projector.SourceRetracted); ok {
			g.retracted[r.SourceID] = latest(g.retracted[r.SourceID], ev.Time)
		}
	}
	for _, f := range stored {
		if !g.dropped(f.UpdatedAt) {
			g.stored = append(g.stored, f)
		}
	}
	slices.SortFunc(g.events, func(a, b projector.Event) int { return compareText(a.ID, b.ID) })
}

// dropped reports whether what has this time is forgotten.
func (g *graph) dropped(at graphstore.Instant) bool {
	return g.forgotten.Present() && (!at.Present() || at <= g.forgotten)
}

// latest returns the later of two times; an absent one is before any.
func latest(a, b graphstore.Instant) graphstore.Instant {
	if !a.Present() || (b.Present() && b > a) {
		return b
	}
	return a
}

// withdrawn reports whether a write of a source at a time is taken back.
func (g *graph) withdrawn(source string, at graphstore.Instant) bool {
	until, ok := g.retracted[source]
	return ok && source != "" && (!at.Present() || at <= until)
}

// records returns everything that was derived, and the nodes that edges and decisions name.
func (g *graph) records(space graphstore.Space) []graphstore.Change {
	var out []graphstore.Change
	for _, e := range g.edges {
		out = append(out, graphstore.Change{Space: space, Op: graphstore.Put, Edge: &e})
	}
	for id := range g.named(graphstore.KindFact) {
		if g.facts[id] == nil {
			g.facts[id] = &fact{Fact: graphstore.Fact{ID: id}}
		}
	}
	for _, f := range g.facts {
		out = append(out, graphstore.PutFact(space, f.Fact))
	}
	for id := range g.named(graphstore.KindRef) {
		out = append(out, graphstore.PutRef(space, graphstore.Ref{ID: id}))
	}
	for _, s := range g.schemas {
		out = append(out, graphstore.PutSchema(space, s))
	}
	for _, row := range g.merges {
		out = append(out, graphstore.PutMerge(space, row))
	}
	out = append(out, g.bridgeRecords(space)...)
	if g.forgotten.Present() {
		out = append(out, graphstore.PutTombstone(space, graphstore.Tombstone{At: g.forgotten}))
	}
	for source, at := range g.retracted {
		out = append(out, graphstore.PutTombstone(space, graphstore.Tombstone{Source: source, At: at}))
	}
	slices.SortFunc(out, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
	return out
}

// named returns the nodes of a kind that edges end at.
func (g *graph) named(kind graphstore.NodeKind) map[string]bool {
	ids := map[string]bool{}
	for _, e := range g.edges {
		source, target := e.Type.Ends()
		if source == kind {
			ids[e.Source] = true
		}
		if target == kind {
			ids[e.Target] = true
		}
	}
	return ids
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}
