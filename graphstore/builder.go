package graphstore

import (
	"fmt"
	"maps"
	"slices"
)

// Builder makes a snapshot out of another one and changes to it. It copies what it touches and shares the rest; the
// base snapshot stays as it was. A Builder is for one goroutine, and after an error or after Snapshot it is spent.
type Builder struct {
	base *Snapshot

	facts    vecDraft[*factNode]
	entities vecDraft[*bridgeNode]
	topics   vecDraft[*bridgeNode]

	factIndex   indexDraft[Node]
	entityIndex indexDraft[int32]
	topicIndex  indexDraft[int32]
	batches     indexDraft[[]Node]

	freeFacts, freeEntities, freeTopics []int32

	ownFacts   map[Node]struct{} // nodes this builder made: editable in place
	ownBridges map[Bridge]struct{}
	present    int
	edges      int
}

// NewBuilder returns a builder that starts from base.
func NewBuilder(base *Snapshot) *Builder {
	return &Builder{
		base:  base,
		facts: draftOf(base.facts), entities: draftOf(base.entities), topics: draftOf(base.topics),
		factIndex: indexDraftOf(base.factIndex), entityIndex: indexDraftOf(base.entityIndex),
		topicIndex: indexDraftOf(base.topicIndex), batches: indexDraftOf(base.batches),
		freeFacts: slices.Clone(base.freeFacts), freeEntities: slices.Clone(base.freeEntities), freeTopics: slices.Clone(base.freeTopics),
		ownFacts: map[Node]struct{}{}, ownBridges: map[Bridge]struct{}{},
		present: base.present, edges: base.edges,
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
	if c.Space != b.base.space {
		return fmt.Errorf("%w: change of space %s in the graph of %s", ErrBadChange, Shorten(c.Space.UserID()), Shorten(b.base.space.UserID()))
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
	default:
		return b.putEdge(*c.Edge)
	}
	return nil
}

// Snapshot returns the result. The builder must not be used afterwards.
func (b *Builder) Snapshot() *Snapshot {
	return &Snapshot{
		space: b.base.space,
		facts: b.facts.vec, entities: b.entities.vec, topics: b.topics.vec,
		factIndex: b.factIndex.idx, entityIndex: b.entityIndex.idx, topicIndex: b.topicIndex.idx, batches: b.batches.idx,
		freeFacts: b.freeFacts, freeEntities: b.freeEntities, freeTopics: b.freeTopics,
		present: b.present, edges: b.edges,
	}
}

// own returns the node for editing.
func (b *Builder) own(n Node) *factNode {
	node := b.facts.vec.at(int32(n))
	if _, mine := b.ownFacts[n]; mine {
		return node
	}
	clone := *node
	clone.links = slices.Clone(node.links)
	clone.bridges = slices.Clone(node.bridges)
	clone.details = maps.Clone(node.details)
	b.facts.set(int32(n), &clone)
	b.ownFacts[n] = struct{}{}
	return &clone
}

func (b *Builder) putFact(f Fact) {
	n, exists := b.factIndex.idx.get(f.ID)
	if !exists {
		node := &factNode{fact: f, asserter: &Asserter{ByFact, f.ID}}
		n = Node(place(&b.facts, &b.freeFacts, node))
		b.factIndex.set(f.ID, n)
		b.ownFacts[n] = struct{}{}
		b.joinBatch(n, f.BatchID)
		b.countPresent(f, 1)
		return
	}
	node := b.own(n)
	old := node.fact
	node.fact = f
	if old.BatchID != f.BatchID {
		b.leaveBatch(n, old.BatchID)
		b.joinBatch(n, f.BatchID)
	}
	if old.Present() != f.Present() {
		b.countPresent(old, -1)
		b.countPresent(f, 1)
		b.shiftDegrees(node)
	}
}

func (b *Builder) countPresent(f Fact, by int) {
	if f.Present() {
		b.present += by
	}
}

func (b *Builder) joinBatch(n Node, batch string) {
	if batch == "" {
		return
	}
	members, _ := b.batches.idx.get(batch)
	b.batches.set(batch, append(slices.Clip(members), n))
}

func (b *Builder) leaveBatch(n Node, batch string) {
	members, ok := b.batches.idx.get(batch)
	if !ok {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(members), func(m Node) bool { return m == n })
	if len(rest) == 0 {
		b.batches.remove(batch)
		return
	}
	b.batches.set(batch, rest)
}

func (b *Builder) putEntity(e Entity) {
	if i, ok := b.entityIndex.idx.get(e.ID); ok {
		b.ownBridge(Bridge{Mentions, i}).entity = e
		return
	}
	i := place(&b.entities, &b.freeEntities, &bridgeNode{entity: e})
	b.entityIndex.set(e.ID, i)
	b.ownBridges[Bridge{Mentions, i}] = struct{}{}
}

func (b *Builder) putTopic(t Topic) {
	if i, ok := b.topicIndex.idx.get(t.ID); ok {
		b.ownBridge(Bridge{TaggedWith, i}).topic = t
		return
	}
	i := place(&b.topics, &b.freeTopics, &bridgeNode{topic: t})
	b.topicIndex.set(t.ID, i)
	b.ownBridges[Bridge{TaggedWith, i}] = struct{}{}
}

func (b *Builder) bridges(t RelationType) *vecDraft[*bridgeNode] {
	if t == Mentions {
		return &b.entities
	}
	return &b.topics
}

func (b *Builder) ownBridge(br Bridge) *bridgeNode {
	nodes := b.bridges(br.Type)
	node := nodes.vec.at(br.to)
	if _, mine := b.ownBridges[br]; mine {
		return node
	}
	clone := *node
	clone.facts = slices.Clip(node.facts) // an append must not write into the base's spare room
	nodes.set(br.to, &clone)
	b.ownBridges[br] = struct{}{}
	return &clone
}

// shiftDegrees adjusts the degree of everything a fact is on after its presence has changed.
func (b *Builder) shiftDegrees(node *factNode) {
	by := -1
	if node.fact.Present() {
		by = 1
	}
	for i, br := range node.bridges {
		first := slices.IndexFunc(node.bridges, func(o bridgeLink) bool { return o.bridge == br.bridge })
		if first == i { // a fact counts once, however many contributions it has
			b.ownBridge(br.bridge).degree += by
		}
	}
}

// place stores x in a free slot or at the end and returns its position.
func place[T any](v *vecDraft[T], free *[]int32, x T) int32 {
	if k := len(*free); k > 0 {
		i := (*free)[k-1]
		*free = (*free)[:k-1]
		v.set(i, x)
		return i
	}
	return v.push(x)
}
