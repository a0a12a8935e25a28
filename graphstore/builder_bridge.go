package graphstore

import "slices"

func (b *Builder) putEntity(e Entity) {
	i, ok := findBridge(&b.entityIndex.idx, &b.entities.vec, e.ID)
	if !ok {
		node := new(bridgeNode)
		i = b.entities.place(node)
		b.entityIndex.add(tagOf(e.ID), i)
		if self, named := findIdentity(&b.identityIndex.idx, &b.identities.vec, e.ID); named {
			node.identity = self + 1
			b.unresolve(b.identities.vec.ref(self).in)
		}
	}
	b.setEntity(b.ownBridge(Bridge{Mentions, i}), e)
}

func (b *Builder) putTopic(t Topic) {
	i, ok := findBridge(&b.topicIndex.idx, &b.topics.vec, t.ID)
	if !ok {
		i = b.topics.place(new(bridgeNode))
		b.topicIndex.add(tagOf(t.ID), i)
	}
	b.setTopic(b.ownBridge(Bridge{TaggedWith, i}), t)
}

// bridges returns the table and the index of the far ends of a type.
func (b *Builder) bridges(t RelationType) (*vecDraft[*bridgeNode], *indexDraft) {
	if t == Mentions {
		return &b.entities, &b.entityIndex
	}
	return &b.topics, &b.topicIndex
}

func (b *Builder) bridgeNode(br Bridge) *bridgeNode {
	nodes, _ := b.bridges(br.Type)
	return nodes.vec.at(br.to)
}

// ownBridge returns an entity's or topic's node for editing.
func (b *Builder) ownBridge(br Bridge) *bridgeNode {
	nodes, _ := b.bridges(br.Type)
	node := nodes.vec.at(br.to)
	if nodes.mine(br.to) {
		return node
	}
	clone := *node
	clone.facts = withRoom(node.facts)
	nodes.set(br.to, &clone)
	return &clone
}

// shiftDegrees adjusts the degree of everything a fact is on after its presence has changed. A fact counts once,
// however many contributions it has.
func (b *Builder) shiftDegrees(node *factNode) {
	by := int32(-1)
	if node.present() {
		by = 1
	}
	on := make([]Bridge, 0, len(node.ties)-int(node.links))
	for _, l := range node.ties[node.links:] {
		on = append(on, Bridge{l.Type, int32(l.To)})
	}
	slices.SortFunc(on, func(x, y Bridge) int {
		if x.Type != y.Type {
			return int(x.Type) - int(y.Type)
		}
		return int(x.to) - int(y.to)
	})
	for _, br := range slices.Compact(on) {
		b.ownBridge(br).degree += by
	}
}

func (b *Builder) removeFarNode(k Key) error {
	typ := Mentions
	if k.Kind == KindTopic {
		typ = TaggedWith
	}
	nodes, idx := b.bridges(typ)
	i, ok := findBridge(&idx.idx, &nodes.vec, k.Node)
	if !ok {
		return nil
	}
	node := nodes.vec.at(i)
	if left := len(node.facts); left > 0 {
		return errEdgesRemain(k, left)
	}
	if node.identity != 0 {
		b.unresolve(b.identities.vec.ref(node.identity - 1).in)
	}
	b.bytes -= node.bytes()
	b.atoms.release(node.typ)
	idx.remove(tagOf(k.Node), i)
	nodes.drop(i)
	return nil
}
