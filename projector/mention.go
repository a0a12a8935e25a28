package projector

import (
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// mentionEdges returns one edge for each entity that the fact mentions. Mentions that come to the same entity fold: the
// smallest spelling is the name, everything else is kept beside it.
func (d *draft) mentionEdges(id string, refs []EntityRef) []graphstore.Edge {
	said := map[string]wording{}
	for _, ref := range refs {
		typ, known := d.entityType(ref.Type)
		name, ok := d.entityNamed(typ, ref.Name)
		if !ok {
			d.report.BlankNames++
			continue
		}
		if !known {
			d.report.UnknownEntityTypes++
		}
		if _, folds := said[name.id]; folds {
			d.report.Folded++
		} else {
			said[name.id] = newWording()
			d.names[name.id] = name
		}
		said[name.id].add(d.refWording(ref))
	}
	edges := make([]graphstore.Edge, 0, len(said))
	for target, w := range said {
		edges = append(edges, d.bridgeEdge(id, target, graphstore.Mentions, w.detail()))
	}
	return edges
}

func (d *draft) refWording(ref EntityRef) wording {
	w := newWording()
	w.spellings[strings.TrimSpace(ref.Name)] = struct{}{}
	for _, alias := range ref.Aliases {
		if NormalizeName(alias) == "" {
			d.report.BlankNames++
			continue
		}
		w.aliases[strings.TrimSpace(alias)] = struct{}{}
	}
	for _, id := range ref.IDs {
		w.ids[id] = struct{}{}
	}
	return w
}

// tagEdges returns one edge for each topic that the fact carries, with the smallest of its spellings.
func (d *draft) tagEdges(id string, tags []string) []graphstore.Edge {
	spelling := map[string]string{}
	for _, tag := range tags {
		topic := topicID(tag)
		if topic == "" {
			d.report.BlankNames++
			continue
		}
		tag = strings.TrimSpace(tag)
		if had, folds := spelling[topic]; folds {
			d.report.Folded++
			tag = min(tag, had)
		}
		spelling[topic] = tag
	}
	edges := make([]graphstore.Edge, 0, len(spelling))
	for topic, tag := range spelling {
		edges = append(edges, d.bridgeEdge(id, topic, graphstore.TaggedWith, tag))
	}
	return edges
}

func (d *draft) bridgeEdge(fact, target string, t graphstore.RelationType, detail string) graphstore.Edge {
	return graphstore.Edge{Source: fact, Target: target, Type: t, Weight: 1, Detail: detail,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: fact}}
}
