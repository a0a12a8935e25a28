package projector

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// noting collects the notes on one event. Paths are built only for what is noted: most events have none.
type noting struct {
	*Projector
	notes []Note
}

func (n *noting) add(kind NoteKind, path, format string, args ...any) {
	n.notes = append(n.notes, Note{kind, path, fmt.Sprintf(format, args...)})
}

func (n *noting) fact(w *FactWrite, i int) {
	path := fmt.Sprintf("data.facts[%d]", i)
	n.tags(path, w.Tags.Value)
	n.entities(path, w.Entities.Value)
	id := graphstore.CanonicalFactID(w.ID)
	n.relations(path, id, w.Relations.Value)
	n.neighbors(path, id, w.Neighbors.Value)
	for k, t := range w.Triples.Value {
		n.weight(fmt.Sprintf("%s.triples[%d].confidence", path, k), t.Confidence, "the triple")
	}
}

func (n *noting) tags(path string, tags []string) {
	seen := map[string]int{}
	for k, tag := range tags {
		at := fmt.Sprintf("%s.tags[%d]", path, k)
		n.name(at, tag, topicID(tag), seen, k, "tags")
	}
}

func (n *noting) entities(path string, refs []EntityRef) {
	seen := map[string]int{}
	for k, ref := range refs {
		at := fmt.Sprintf("%s.entities[%d]", path, k)
		typ, _ := n.entityType(ref.Type)
		name, _ := n.entityNamed(typ, ref.Name)
		if !n.name(at+".name", ref.Name, name.id, seen, k, "entities") {
			continue
		}
		n.unknownType(at+".type", ref.Type)
		for j, alias := range ref.Aliases {
			if NormalizeName(alias) == "" {
				n.add(NoteDropped, fmt.Sprintf("%s.aliases[%d]", at, j), "%s has no visible character: it is dropped", graphstore.Shorten(alias))
			}
		}
	}
}

// name notes a name that is blank or comes to the same as one before it, and reports whether it is not blank.
func (n *noting) name(path, name, id string, seen map[string]int, k int, list string) bool {
	if id == "" {
		n.add(NoteDropped, path, "%s has no visible character: it is dropped", graphstore.Shorten(name))
		return false
	}
	if first, folds := seen[id]; folds {
		n.add(NoteFolded, path, "%s is the same as %s[%d]: they are one", graphstore.Shorten(name), list, first)
		return true
	}
	seen[id] = k
	return true
}

// weight notes a number outside (0, 1] and reports whether the item stays.
func (n *noting) weight(path string, stated Optional[float64], item string) bool {
	if !stated.Set {
		return true
	}
	clamped, ok := graphstore.ClampWeight(stated.Value)
	switch {
	case !ok:
		n.add(NoteDropped, path, "%v is not above 0: %s is dropped", stated.Value, item)
	case clamped != stated.Value:
		n.add(NoteClamped, path, "%v is above 1: it counts as 1", stated.Value)
	}
	return ok
}

func (n *noting) relations(path, id string, refs []RelationRef) {
	type link struct {
		to  string
		typ graphstore.RelationType
	}
	seen := map[link]int{}
	for k, ref := range refs {
		at := fmt.Sprintf("%s.relations[%d]", path, k)
		to := graphstore.CanonicalFactID(ref.To)
		if !n.weight(at+".weight", ref.Weight, "the relation") || !n.leads(at+".to", id, to) {
			continue
		}
		typ, _ := relationType(ref.Type)
		if typ == graphstore.Related && ref.Type != typ.String() {
			n.add(NoteRenamed, at+".type", "%s is not a relation type: it counts as %s, with the name beside it", graphstore.Shorten(ref.Type), typ)
		}
		if first, folds := seen[link{to, typ}]; folds {
			n.add(NoteFolded, at, "says the same as relations[%d]: they are one, with the greater weight", first)
			continue
		}
		seen[link{to, typ}] = k
	}
}

func (n *noting) leads(path, id, to string) bool {
	if id == to {
		n.add(NoteDropped, path, "%s is the fact itself: it is dropped", graphstore.Shorten(to))
	}
	return id != to
}

// candidate is a neighbour that may become an edge.
type candidate struct {
	to    string
	score float64
	at    int
}

func (n *noting) neighbors(path, id string, refs []NeighborRef) {
	var kept []candidate
	for k, ref := range refs {
		at := fmt.Sprintf("%s.neighbors[%d]", path, k)
		c := candidate{graphstore.CanonicalFactID(ref.ID), min(ref.Score, 1), k}
		if !n.weight(at+".score", Some(ref.Score), "the neighbour") || !n.leads(at+".id", id, c.to) {
			continue
		}
		if c.score+scoreEpsilon < n.cfg.EdgeMinScore {
			n.add(NoteDropped, at+".score", "%v is below %v: no edge", ref.Score, n.cfg.EdgeMinScore)
			continue
		}
		same := slices.IndexFunc(kept, func(o candidate) bool { return o.to == c.to })
		if same < 0 {
			kept = append(kept, c)
			continue
		}
		n.add(NoteFolded, at, "is the same fact as neighbors[%d]: they are one, with the greater score", kept[same].at)
		kept[same].score = max(kept[same].score, c.score)
	}
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.to, b.to)) })
	for _, c := range kept[min(len(kept), n.cfg.MaxNeighbors):] {
		n.add(NoteDropped, fmt.Sprintf("%s.neighbors[%d]", path, c.at), "is not among the best %d: no edge", n.cfg.MaxNeighbors)
	}
}

func (n *noting) evidence(ids []string) {
	seen := map[string]int{}
	for k, id := range ids {
		canonical := graphstore.CanonicalFactID(id)
		if first, folds := seen[canonical]; folds {
			n.add(NoteFolded, fmt.Sprintf("data.evidence[%d]", k), "%s is the same fact as evidence[%d]: they are one", graphstore.Shorten(id), first)
			continue
		}
		seen[canonical] = k
	}
}

// pair notes what is odd about the two entities of a decision.
func (n *noting) pair(kept, merged EntityName) {
	n.unknownType("data.kept.type", kept.Type)
	n.unknownType("data.merged.type", merged.Type)
	n.noop("data.merged", kept, merged)
}

// noop notes a decision that is on one entity only: by a synonym of a type, a legal suffix, or because it says nothing new.
func (n *noting) noop(path string, kept, merged EntityName) {
	id := func(e EntityName) string {
		typ, _ := n.entityType(e.Type)
		name, _ := n.entityNamed(typ, e.Name)
		return name.id
	}
	if same := id(kept); same == id(merged) {
		n.add(NoteDropped, path, "makes it the entity %s that it is already: nothing changes", graphstore.Shorten(same))
	}
}

// unknownType notes a type that the projector does not know.
func (n *noting) unknownType(path, typ string) {
	_, known := n.entityType(typ)
	switch {
	case known:
	case typ == "":
		n.add(NoteRenamed, path, "is not stated: the entity is a %s", TypeThing)
	default:
		n.add(NoteRenamed, path, "%s is not an entity type: it counts as %s", graphstore.Shorten(typ), TypeThing)
	}
}
