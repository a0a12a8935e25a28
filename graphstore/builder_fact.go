package graphstore

import "slices"

// node returns a fact's node for reading.
func (b *Builder) node(n Node) *factNode { return b.facts.vec.at(int32(n)) }

// own returns a fact's node for editing.
func (b *Builder) own(n Node) *factNode {
	node := b.node(n)
	if b.facts.mine(int32(n)) {
		return node
	}
	clone := *node
	clone.ties = withRoom(node.ties)
	clone.notes = withRoom(node.notes)
	b.facts.set(int32(n), &clone)
	return &clone
}

// withRoom copies a list with room for one more, which most edits need.
func withRoom[T any](list []T) []T { return append(make([]T, 0, len(list)+1), list...) }

func (b *Builder) putFact(f Fact) {
	n, exists := findFact(&b.factIndex.idx, &b.facts.vec, f.ID)
	if !exists {
		node := &factNode{id: ownText(f.ID)}
		b.fill(node, f)
		n = Node(b.facts.place(node))
		b.factIndex.add(tagOf(f.ID), int32(n))
		b.bytes += factBytes + textBytes(f.ID)
		b.joinBatch(n, node.batch)
		b.joinSpine(n, node)
		b.countPresent(node, 1)
		return
	}
	node := b.own(n)
	old := *node
	moves := old.onSpine() != onSpine(&f) || old.memoryAt != f.MemoryAt || old.recordedAt != f.RecordedAt
	if moves {
		b.leaveSpine(n, node) // while the node still says where it is
	}
	b.fill(node, f)
	if moves {
		b.joinSpine(n, node)
	}
	if old.batch != node.batch {
		b.leaveBatch(n, old.batch)
		b.joinBatch(n, node.batch)
	}
	b.empty(&old)
	if old.present() != node.present() {
		b.countPresent(&old, -1)
		b.countPresent(node, 1)
		b.shiftDegrees(node)
	}
}

func (b *Builder) countPresent(n *factNode, by int) {
	if n.present() {
		b.present += by
	}
}

func (b *Builder) removeFact(k Key) error {
	n, ok := findFact(&b.factIndex.idx, &b.facts.vec, k.Node)
	if !ok {
		return nil
	}
	node := b.node(n)
	if left := len(node.ties) + b.minorsAt(k); left > 0 {
		return errEdgesRemain(k, left)
	}
	b.leaveSpine(n, node)
	b.countPresent(node, -1)
	b.leaveBatch(n, node.batch)
	b.empty(node)
	b.bytes -= factBytes + textBytes(node.id)
	b.factIndex.remove(tagOf(k.Node), int32(n))
	b.facts.drop(int32(n))
	delete(b.hubs, n)
	return nil
}

func (b *Builder) joinBatch(n Node, id atom) {
	if id == 0 {
		return
	}
	b.bytes += memberBytes
	i, ok := findBatch(&b.batchIndex.idx, &b.batches.vec, id)
	if !ok {
		i = b.batches.place(batch{members: []Node{n}, id: id})
		b.batchIndex.add(numberTag(uint32(id)), i)
		b.bytes += batchBytes
		return
	}
	e := b.ownBatch(i)
	e.members = append(e.members, n)
}

func (b *Builder) ownBatch(i int32) *batch {
	mine := b.batches.mine(i)
	e := b.batches.edit(i)
	if !mine {
		e.members = withRoom(e.members)
	}
	return e
}

func (b *Builder) leaveBatch(n Node, id atom) {
	i, ok := findBatch(&b.batchIndex.idx, &b.batches.vec, id)
	if id == 0 || !ok {
		return
	}
	b.bytes -= memberBytes
	e := b.ownBatch(i)
	at := slices.Index(e.members, n)
	last := len(e.members) - 1
	e.members[at] = e.members[last]
	e.members = e.members[:last]
	if last == 0 {
		b.batchIndex.remove(numberTag(uint32(id)), i)
		b.batches.drop(i)
		b.bytes -= batchBytes
	}
}
