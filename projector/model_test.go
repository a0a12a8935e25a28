package projector

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// model is the second, naive way to the graph of a set of events: sort all writes of a fact by version, operation and
// event id, replay them in that order, and derive every edge and node from scratch. It shares no code with the
// projector but the record types, and knows normal forms only from the tables of the generator.
type model struct {
	cfg    Config
	events map[string]Event
}

func (m *model) add(ev Event) { m.events[ev.ID] = ev }

// modelWrite is one thing that happened to one fact.
type modelWrite struct {
	version int64
	rank    int // update 1, add 2, superseded 3, shadowed 4, restored 5, deleted 6: the order of the contract
	event   Event
	fact    FactWrite
	seq     int
	by      string
}

// modelFact is a fact after replay.
type modelFact struct {
	graphstore.Fact
	tags      []string
	entities  []EntityRef
	relations []RelationRef
	neighbors []NeighborRef
}

func (m *model) writes() map[string][]modelWrite {
	writes := map[string][]modelWrite{}
	for _, ev := range m.events {
		version := func(o Optional[int64]) int64 {
			if o.Set {
				return o.Value
			}
			return ev.Time.Micros()
		}
		put := func(id string, w modelWrite) {
			w.event = ev
			writes[id] = append(writes[id], w)
		}
		switch data := ev.Data.(type) {
		case FactsWritten:
			for i, f := range data.Facts {
				put(f.ID, modelWrite{version: version(f.Version), rank: map[Op]int{OpUpdate: 1, OpAdd: 2}[f.Op], fact: f, seq: i})
			}
		case FactSuperseded:
			put(data.FactID, modelWrite{version: version(data.Version), rank: 3, by: data.By})
		case FactShadowed:
			put(data.FactID, modelWrite{version: version(data.Version), rank: 4})
		case FactRestored:
			put(data.FactID, modelWrite{version: version(data.Version), rank: 5})
		case FactDeleted:
			put(data.FactID, modelWrite{version: version(data.Version), rank: 6})
		}
	}
	for _, w := range writes {
		slices.SortFunc(w, func(a, b modelWrite) int {
			return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.rank, b.rank), cmp.Compare(a.event.ID, b.event.ID))
		})
	}
	return writes
}

// replay applies the sorted writes of one fact one after the other.
func replay(id string, writes []modelWrite) modelFact {
	f := modelFact{Fact: graphstore.Fact{ID: id}}
	for _, w := range writes {
		switch w.rank {
		case 1:
			if f.State == graphstore.StateUnseen {
				f.State = graphstore.StateActive
			}
			f.update(w)
		case 2:
			f = modelFact{Fact: graphstore.Fact{ID: id, State: graphstore.StateActive}}
			f.update(w)
			f.BatchID, f.BatchSeq = batchOf(w), int32(w.seq)
		case 6:
			f = modelFact{Fact: graphstore.Fact{ID: id, State: graphstore.StateDeleted}}
		default:
			if f.State == graphstore.StateDeleted {
				continue // only an add brings it back
			}
			f.SupersededBy, f.SupersededAt = "", 0
			switch w.rank {
			case 3:
				f.State, f.SupersededBy, f.SupersededAt = graphstore.StateSuperseded, w.by, w.event.Time
			case 4:
				f.State = graphstore.StateShadowed
			case 5:
				f.State = graphstore.StateActive
			}
		}
	}
	return f
}

func batchOf(w modelWrite) string {
	return cmp.Or(w.event.Data.(FactsWritten).BatchID, w.event.ID)
}

func (f *modelFact) update(w modelWrite) {
	setIf(&f.AgentID, w.fact.AgentID)
	setIf(&f.SourceID, w.fact.SourceID)
	setIf(&f.EpisodeID, w.fact.EpisodeID)
	setIf(&f.MemoryAt, w.fact.MemoryAt)
	setIf(&f.ValidFrom, w.fact.ValidFrom)
	setIf(&f.ValidTo, w.fact.ValidTo)
	setIf(&f.RecordedAt, w.fact.RecordedAt)
	setIf(&f.tags, w.fact.Tags)
	setIf(&f.entities, w.fact.Entities)
	setIf(&f.relations, w.fact.Relations)
	setIf(&f.neighbors, w.fact.Neighbors)
	if w.event.Data.(FactsWritten).BatchID != "" {
		f.BatchID, f.BatchSeq = batchOf(w), int32(w.seq)
	}
}

func setIf[T any](to *T, from Optional[T]) {
	if from.Set {
		*to = from.Value
	}
}

// records returns the graph, one line a record, sorted.
func (m *model) records() []string {
	facts := map[string]modelFact{}
	for id, writes := range m.writes() {
		facts[id] = replay(id, writes)
	}
	edges := map[string]graphstore.Edge{}
	m.batches(facts, edges)
	for _, f := range facts {
		m.links(f, edges)
	}
	for _, e := range edges {
		for _, end := range []string{e.Source, e.Target} {
			if _, ok := facts[end]; !ok {
				facts[end] = modelFact{Fact: graphstore.Fact{ID: end}}
			}
		}
	}
	var out []string
	for _, f := range facts {
		out = append(out, line(f.Fact))
	}
	for _, e := range edges {
		out = append(out, line(e))
	}
	out = append(out, m.bridges(facts)...)
	slices.Sort(out)
	return out
}

func line(record any) string { return fmt.Sprintf("%T %+v", record, record) }

func (m *model) batches(facts map[string]modelFact, edges map[string]graphstore.Edge) {
	members := map[string][]modelFact{}
	for _, f := range facts {
		if f.BatchID != "" && f.Present() {
			members[f.BatchID] = append(members[f.BatchID], f)
		}
	}
	for batch, list := range members {
		slices.SortFunc(list, func(a, b modelFact) int {
			return cmp.Or(cmp.Compare(a.BatchSeq, b.BatchSeq), cmp.Compare(a.ID, b.ID))
		})
		for i, a := range list {
			for j, b := range list {
				near := len(list) <= m.cfg.MaxCoOccurs || j-i <= (m.cfg.MaxCoOccurs-1)/2
				if i < j && near {
					put(edges, a.ID, b.ID, graphstore.CoOccurs, 1, "", graphstore.Asserter{Kind: graphstore.ByBatch, ID: batch})
				}
			}
		}
	}
}

// put keeps the best weight of one contribution, then the smaller detail.
func put(edges map[string]graphstore.Edge, from, to string, t graphstore.RelationType, w float64, detail string, by graphstore.Asserter) {
	if from == to {
		return
	}
	directed := t == graphstore.Causes || t == graphstore.Elaborates
	if !directed && to < from {
		from, to = to, from
	}
	e := graphstore.Edge{Source: from, Target: to, Type: t, Weight: w, Detail: detail, Asserter: by}
	key := fmt.Sprint(from, "|", to, "|", t, "|", by)
	had, ok := edges[key]
	if !ok || w > had.Weight || (w == had.Weight && detail < had.Detail) {
		edges[key] = e
	}
}

func (m *model) links(f modelFact, edges map[string]graphstore.Edge) {
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: f.ID}
	for _, r := range f.relations {
		w := 1.0
		if r.Weight.Set {
			w = r.Weight.Value
		}
		if w <= 0 {
			continue
		}
		t, detail := graphstore.Related, r.Type
		switch r.Type {
		case "causes":
			t, detail = graphstore.Causes, ""
		case "elaborates":
			t, detail = graphstore.Elaborates, ""
		case "contrasts":
			t, detail = graphstore.Contrasts, ""
		case "same_series":
			t, detail = graphstore.SameSeries, ""
		case "related":
			detail = ""
		}
		put(edges, f.ID, r.To, t, min(w, 1), detail, by)
	}
	score := map[string]float64{}
	for _, n := range f.neighbors {
		if n.Score >= m.cfg.EdgeMinScore && n.ID != f.ID {
			score[n.ID] = max(score[n.ID], min(n.Score, 1))
		}
	}
	best := slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b))
	})
	for i, id := range best {
		if i < m.cfg.MaxNeighbors {
			put(edges, f.ID, id, graphstore.SemanticNeighbor, score[id], "", by)
		}
	}
}

// modelBridge is what is said of one entity or topic.
type modelBridge struct {
	typ, norm string
	count     int
	names     []string // spellings by present facts
	others    []string // aliases by present facts
	ids       []graphstore.HardID
}

// bridges returns the lines of entities and topics and of the edges to them.
func (m *model) bridges(facts map[string]modelFact) []string {
	var out []string
	entities, topics := map[string]*modelBridge{}, map[string]*modelBridge{}
	for _, f := range facts {
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: f.ID}
		said := map[string][]EntityRef{}
		for _, ref := range f.entities {
			typ, norm := tableEntity(ref)
			if norm == "" {
				continue
			}
			id := typ + ":" + norm
			said[id] = append(said[id], ref)
			if entities[id] == nil {
				entities[id] = &modelBridge{typ: typ, norm: norm}
			}
		}
		for id, refs := range said {
			b := modelBridge{}
			for _, ref := range refs {
				b.say(ref)
			}
			out = append(out, line(graphstore.Edge{Source: f.ID, Target: id, Type: graphstore.Mentions, Weight: 1, Detail: b.detail(), Asserter: by}))
			if f.Present() {
				entities[id].count++
				for _, ref := range refs {
					entities[id].say(ref)
				}
			}
		}
		spelled := map[string]string{}
		for _, tag := range f.tags {
			id := tableTags[tag]
			if id == "" {
				continue
			}
			if topics[id] == nil {
				topics[id] = &modelBridge{norm: id}
			}
			if had, ok := spelled[id]; !ok || strings.TrimSpace(tag) < had {
				spelled[id] = strings.TrimSpace(tag)
			}
		}
		for id, tag := range spelled {
			out = append(out, line(graphstore.Edge{Source: f.ID, Target: id, Type: graphstore.TaggedWith, Weight: 1, Detail: tag, Asserter: by}))
			if f.Present() {
				topics[id].count++
				topics[id].names = append(topics[id].names, tag)
			}
		}
	}
	for id, b := range entities {
		out = append(out, line(graphstore.Entity{ID: id, Type: b.typ, Norm: b.norm, Name: b.name(), Aliases: b.rest(), HardIDs: b.hardIDs(), Mentions: b.count}))
	}
	for id, b := range topics {
		out = append(out, line(graphstore.Topic{ID: id, Name: b.name(), Facts: b.count}))
	}
	return out
}

func (b *modelBridge) say(ref EntityRef) {
	b.names = append(b.names, strings.TrimSpace(ref.Name))
	for _, a := range ref.Aliases {
		if strings.TrimSpace(a) != "" {
			b.others = append(b.others, a)
		}
	}
	b.ids = append(b.ids, ref.IDs...)
}

func (b *modelBridge) name() string {
	if len(b.names) == 0 {
		return b.norm
	}
	return slices.Min(b.names)
}

func (b *modelBridge) rest() []string {
	var rest []string
	for _, n := range slices.Concat(b.names, b.others) {
		if n != b.name() {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return slices.Compact(rest)
}

func (b *modelBridge) hardIDs() []graphstore.HardID {
	slices.SortFunc(b.ids, func(x, y graphstore.HardID) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Value, y.Value))
	})
	return slices.Compact(b.ids)
}

func (b *modelBridge) detail() string {
	detail := struct {
		Name    string              `json:"name"`
		Aliases []string            `json:"aliases,omitempty"`
		IDs     map[string][]string `json:"ids,omitempty"`
	}{Name: b.name(), Aliases: b.rest(), IDs: map[string][]string{}}
	for _, id := range b.hardIDs() {
		detail.IDs[id.Kind] = append(detail.IDs[id.Kind], id.Value)
	}
	text, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// snapshotRecords returns a snapshot in the form of model.records: without the registers, which the model has none of,
// and without what a fact that is not superseded remembers of a supersession.
func snapshotRecords(s *graphstore.Snapshot) []string {
	var out []string
	for c := range s.Records() {
		switch {
		case c.Fact != nil:
			f := *c.Fact
			f.Registers = graphstore.Registers{}
			if f.State != graphstore.StateSuperseded {
				f.SupersededBy, f.SupersededAt = "", 0
			}
			out = append(out, line(f))
		case c.Entity != nil:
			out = append(out, line(*c.Entity))
		case c.Topic != nil:
			out = append(out, line(*c.Topic))
		default:
			out = append(out, line(*c.Edge))
		}
	}
	slices.Sort(out)
	return out
}
