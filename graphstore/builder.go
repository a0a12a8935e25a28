package graphstore

import (
	"fmt"
	"slices"
)

// Builder makes a snapshot out of another one and changes to it. It copies what it touches and shares the rest; the
// base snapshot stays as it was. A Builder is for one goroutine, and after an error or after Snapshot it is spent.
type Builder struct {
	space Space

	facts    vecDraft[*factNode]
	entities vecDraft[*bridgeNode]
	topics   vecDraft[*bridgeNode]
	batches  vecDraft[batch]
	minors   vecDraft[*minor]
	// Entities in the merge log.
	identities vecDraft[identity]
	components vecDraft[*component]
	atoms      atomsDraft
	spine      spineDraft

	factIndex, entityIndex, topicIndex, batchIndex indexDraft
	minorIndex, minorEnds, identityIndex           indexDraft

	hubs   map[Node]*hub      // of facts with many ties
	holed  map[Node]struct{}  // nodes with notes that nothing uses
	parted map[int32]struct{} // components that rows of the merge log have gone from

	present  int
	edges    int
	minorsOf kindCounts
	bytes    int64 // without the atoms'
}

// NewBuilder returns a builder that starts from base.
func NewBuilder(base *Snapshot) *Builder {
	return &Builder{
		space: base.space,
		facts: draftOf(base.facts), entities: draftOf(base.entities), topics: draftOf(base.topics), batches: draftOf(base.batches),
		atoms:     atomsDraft{list: draftOf(base.atoms.list), index: indexDraftOf(base.atoms.index)},
		factIndex: indexDraftOf(base.factIndex), entityIndex: indexDraftOf(base.entityIndex),
		topicIndex: indexDraftOf(base.topicIndex), batchIndex: indexDraftOf(base.batchIndex),
		minors: draftOf(base.minors), minorIndex: indexDraftOf(base.minorIndex), minorEnds: indexDraftOf(base.minorEnds),
		identities: draftOf(base.identities), components: draftOf(base.components), identityIndex: indexDraftOf(base.identityIndex),
		spine:   spineDraft{spine: base.spine},
		present: base.present, edges: base.edges, minorsOf: base.minorsOf, bytes: base.bytes,
	}
}

// With returns the snapshot after one transaction of changes, in any order, under the rules of [Store.Apply]: an error
// wraps [ErrBadChange] or [ErrDangling] and the receiver is as it was in either case. Changes of other spaces are an
// ErrBadChange.
func (s *Snapshot) With(changes []Change) (*Snapshot, error) {
	if err := ValidateChanges(changes); err != nil {
		return nil, err
	}
	b := NewBuilder(s)
	// Nodes come before their edges and go after them.
	for _, phase := range []func(Change) bool{isNodePut, isEdgeDelete, isEdgePut, isNodeDelete} {
		for _, c := range changes {
			if !phase(c) {
				continue
			}
			if err := b.Add(c); err != nil {
				return nil, err
			}
		}
	}
	return b.Snapshot(), nil
}

func isNodePut(c Change) bool    { return c.Op == Put && c.Edge == nil }
func isEdgeDelete(c Change) bool { return c.Op == Delete && c.Edge != nil }
func isEdgePut(c Change) bool    { return c.Op == Put && c.Edge != nil }
func isNodeDelete(c Change) bool { return c.Op == Delete && c.Edge == nil }

// Add applies one valid change, at once: an edge must find its ends, a node to delete must have no edges left
// ([ErrDangling]). The caller has validated the change.
func (b *Builder) Add(c Change) error {
	if c.Space != b.space {
		return fmt.Errorf("%w: change of space %s in the graph of %s", ErrBadChange, Shorten(c.Space.UserID()), Shorten(b.space.UserID()))
	}
	switch {
	case c.Op == Delete:
		return b.remove(c.Key())
	case c.Fact != nil:
		b.putFact(*c.Fact)
	case c.Entity != nil:
		b.putEntity(*c.Entity)
	case c.Topic != nil:
		b.putTopic(*c.Topic)
	case c.Edge == nil:
		b.putMinor(c)
	case isMinor(c.Edge.Type):
		return b.putMinorEdge(c)
	default:
		return b.putEdge(*c.Edge)
	}
	return nil
}

// Snapshot returns the result. The builder must not be used afterwards.
func (b *Builder) Snapshot() *Snapshot {
	b.settleIdentities()
	b.trim()
	return &Snapshot{
		space: b.space,
		facts: b.facts.vec, entities: b.entities.vec, topics: b.topics.vec, batches: b.batches.vec, atoms: b.atoms.table(),
		factIndex: b.factIndex.idx, entityIndex: b.entityIndex.idx, topicIndex: b.topicIndex.idx, batchIndex: b.batchIndex.idx,
		minors: b.minors.vec, minorIndex: b.minorIndex.idx, minorEnds: b.minorEnds.idx, spine: b.spine.spine,
		identities: b.identities.vec, components: b.components.vec, identityIndex: b.identityIndex.idx,
		present: b.present, edges: b.edges, minorsOf: b.minorsOf, bytes: b.bytes + b.atoms.bytes,
	}
}

// trim gives back what the lists of the builder's own nodes have to spare.
func (b *Builder) trim() {
	for n := range b.holed {
		if node := b.facts.vec.at(int32(n)); node != nil {
			node.compactNotes()
		}
	}
	b.facts.each(func(i int32) {
		if n := b.facts.vec.at(i); n != nil {
			n.ties, n.notes = trimmed(n.ties), trimmed(n.notes)
		}
	})
	for _, nodes := range []*vecDraft[*bridgeNode]{&b.entities, &b.topics} {
		nodes.each(func(i int32) {
			if n := nodes.vec.at(i); n != nil {
				n.facts = trimmed(n.facts)
			}
		})
	}
}

// trimmed returns the list without spare room, if there is more of it than an eighth and a bit.
func trimmed[T any](list []T) []T {
	switch {
	case len(list) == 0:
		return nil
	case cap(list)-len(list) <= len(list)/8:
		return list
	default:
		return slices.Clone(list)
	}
}
