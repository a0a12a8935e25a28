package projectortest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// bridge is what is said of one entity or topic.
type bridge struct {
	typ, norm string
	count     int      // present facts on it
	names     []string // spellings by present facts
	others    []string // aliases by present facts
	ids       []graphstore.HardID
	decided   []string // spellings by decisions
}

// entity returns the entity of a spelling, made if it is new; nil for a blank one.
func (g *graph) entity(typ, name string) (string, *bridge) {
	typ, norm := g.forms.entityOf(typ, name)
	if norm == "" {
		return "", nil
	}
	id := typ + ":" + norm
	if g.entities[id] == nil {
		g.entities[id] = &bridge{typ: typ, norm: norm}
	}
	return id, g.entities[id]
}

func (g *graph) mentions(f *fact) {
	said := map[string]*bridge{}
	for _, ref := range f.entities {
		id, node := g.entity(ref.Type, ref.Name)
		if node == nil {
			continue
		}
		if said[id] == nil {
			said[id] = &bridge{norm: node.norm}
			if f.Present() {
				node.count++
			}
		}
		said[id].say(ref)
		if f.Present() {
			node.say(ref)
		}
	}
	for id, b := range said {
		g.contribute(graphstore.Edge{Source: f.ID, Target: id, Type: graphstore.Mentions, Weight: 1, Detail: b.detail(), Asserter: byFact(f)})
	}
}

func (g *graph) tags(f *fact) {
	spelled := map[string]string{}
	for _, tag := range f.tags {
		id, shown := g.forms.tag(tag), strings.TrimSpace(tag)
		if id == "" {
			continue
		}
		if had, ok := spelled[id]; !ok || shown < had {
			spelled[id] = shown
		}
	}
	for id, tag := range spelled {
		g.contribute(graphstore.Edge{Source: f.ID, Target: id, Type: graphstore.TaggedWith, Weight: 1, Detail: tag, Asserter: byFact(f)})
		if g.topics[id] == nil {
			g.topics[id] = &bridge{norm: id}
		}
		if f.Present() {
			g.topics[id].count++
			g.topics[id].names = append(g.topics[id].names, tag)
		}
	}
}

func (g *graph) bridgeRecords(space graphstore.Space) []graphstore.Change {
	var out []graphstore.Change
	for id, b := range g.entities {
		out = append(out, graphstore.PutEntity(space, graphstore.Entity{ID: id, Type: b.typ, Norm: b.norm, Name: b.name(),
			Aliases: b.aliases(), HardIDs: b.hardIDs(), Mentions: b.count}))
	}
	for id, b := range g.topics {
		out = append(out, graphstore.PutTopic(space, graphstore.Topic{ID: id, Name: b.name(), Facts: b.count}))
	}
	return out
}

func (b *bridge) say(ref projector.EntityRef) {
	b.names = append(b.names, strings.TrimSpace(ref.Name))
	for _, a := range ref.Aliases {
		if strings.TrimSpace(a) != "" {
			b.others = append(b.others, strings.TrimSpace(a))
		}
	}
	b.ids = append(b.ids, ref.IDs...)
}

// name is the smallest spelling: by facts, else by decisions, else the normal form.
func (b *bridge) name() string {
	switch {
	case len(b.names) > 0:
		return slices.Min(b.names)
	case len(b.decided) > 0:
		return slices.Min(b.decided)
	default:
		return b.norm
	}
}

func (b *bridge) aliases() []string {
	var rest []string
	for _, n := range slices.Concat(b.names, b.others) {
		if n != b.name() {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return slices.Compact(rest)
}

func (b *bridge) hardIDs() []graphstore.HardID {
	ids := slices.Clone(b.ids)
	slices.SortFunc(ids, func(x, y graphstore.HardID) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Value, y.Value))
	})
	return slices.Compact(ids)
}

// detail is the form of what one fact says of an entity.
func (b *bridge) detail() string {
	detail := struct {
		Name    string              `json:"name"`
		Aliases []string            `json:"aliases,omitempty"`
		IDs     map[string][]string `json:"ids,omitempty"`
	}{Name: b.name(), Aliases: b.aliases(), IDs: map[string][]string{}}
	for _, id := range b.hardIDs() {
		detail.IDs[id.Kind] = append(detail.IDs[id.Kind], id.Value)
	}
	text, err := json.Marshal(detail)
	if err != nil {
		panic(err) // texts and lists of texts
	}
	return string(text)
}
