package graphstore

import (
	"fmt"
	"slices"
)

// putEdge adds or replaces one contribution.
func (b *Builder) putEdge(e Edge) error {
	source, ok := b.factIndex.idx.get(e.Source)
	if !ok {
		return fmt.Errorf("%w: %s: no fact %s", ErrDangling, e.Key(), Shorten(e.Source))
	}
	if kind := farKind(e.Type); kind != KindFact {
		return b.putBridge(e, source, kind)
	}
	target, ok := b.factIndex.idx.get(e.Target)
	if !ok {
		return fmt.Errorf("%w: %s: no fact %s", ErrDangling, e.Key(), Shorten(e.Target))
	}
	asserter := b.asserterOf(e, source, target)
	from, to := b.own(source), b.own(target)
	setDetail(from, e)
	added := setLink(from, Link{Weight: e.Weight, asserter: asserter, To: target, Type: e.Type, Out: true})
	setLink(to, Link{Weight: e.Weight, asserter: asserter, To: source, Type: e.Type})
	if added {
		b.edges++
	}
	return nil
}

func (b *Builder) putBridge(e Edge, source Node, kind NodeKind) error {
	idx := &b.entityIndex
	if kind == KindTopic {
		idx = &b.topicIndex
	}
	i, ok := idx.idx.get(e.Target)
	if !ok {
		return fmt.Errorf("%w: %s: no %s %s", ErrDangling, e.Key(), kind, Shorten(e.Target))
	}
	from := b.own(source)
	link := bridgeLink{Bridge{e.Type, i}, b.asserterOf(e, source, source), e.Weight, e.Detail}
	if at := from.findBridge(link.bridge, e.Asserter); at >= 0 {
		from.bridges[at] = link
		return nil
	}
	far := b.ownBridge(link.bridge)
	if from.fact.Present() && !from.isOn(link.bridge) {
		far.degree++
	}
	from.bridges = append(from.bridges, link)
	far.facts = append(far.facts, source)
	b.edges++
	return nil
}

// asserterOf returns a shared copy of the edge's asserter where one of the ends is it.
func (b *Builder) asserterOf(e Edge, source, target Node) *Asserter {
	for _, n := range []Node{source, target} {
		if a := b.facts.vec.at(int32(n)).asserter; *a == e.Asserter {
			return a
		}
	}
	for _, l := range b.facts.vec.at(int32(source)).links {
		if *l.asserter == e.Asserter {
			return l.asserter
		}
	}
	a := e.Asserter
	return &a
}

func farKind(t RelationType) NodeKind {
	_, target := t.Ends()
	return target
}

// setLink replaces the contribution of the same identity or appends; it reports whether it appended.
func setLink(n *factNode, l Link) bool {
	if at := n.findLink(l.To, l.Type, l.Out, *l.asserter); at >= 0 {
		n.links[at] = l
		return false
	}
	n.links = append(n.links, l)
	return true
}

func setDetail(n *factNode, e Edge) {
	if e.Detail == "" {
		delete(n.details, e.Key())
		return
	}
	if n.details == nil {
		n.details = map[Key]string{}
	}
	n.details[e.Key()] = e.Detail
}

func (n *factNode) findLink(to Node, t RelationType, out bool, a Asserter) int {
	return slices.IndexFunc(n.links, func(l Link) bool {
		return l.To == to && l.Type == t && l.Out == out && *l.asserter == a
	})
}

func (n *factNode) findBridge(br Bridge, a Asserter) int {
	return slices.IndexFunc(n.bridges, func(b bridgeLink) bool { return b.bridge == br && *b.asserter == a })
}

// isOn reports whether any contribution ties the fact to the bridge.
func (n *factNode) isOn(br Bridge) bool {
	return slices.ContainsFunc(n.bridges, func(b bridgeLink) bool { return b.bridge == br })
}

// remove deletes the record with this key, if there is one.
func (b *Builder) remove(k Key) error {
	switch {
	case k.IsEdge() && farKind(k.Relation) == KindFact:
		b.removeLink(k)
		return nil
	case k.IsEdge():
		b.removeBridge(k)
		return nil
	case k.Kind == KindFact:
		return b.removeFact(k)
	default:
		return b.removeFarNode(k)
	}
}

func (b *Builder) removeLink(k Key) {
	source, ok1 := b.factIndex.idx.get(k.Node)
	target, ok2 := b.factIndex.idx.get(k.Target)
	if !ok1 || !ok2 || b.facts.vec.at(int32(source)).findLink(target, k.Relation, true, k.Asserter) < 0 {
		return
	}
	from, to := b.own(source), b.own(target)
	delete(from.details, k)
	out := from.findLink(target, k.Relation, true, k.Asserter)
	from.links = slices.Delete(from.links, out, out+1)
	in := to.findLink(source, k.Relation, false, k.Asserter)
	to.links = slices.Delete(to.links, in, in+1)
	b.edges--
}

func (b *Builder) removeBridge(k Key) {
	source, ok := b.factIndex.idx.get(k.Node)
	if !ok {
		return
	}
	idx := &b.entityIndex
	if k.Relation == TaggedWith {
		idx = &b.topicIndex
	}
	i, ok := idx.idx.get(k.Target)
	if !ok {
		return
	}
	br := Bridge{k.Relation, i}
	if b.facts.vec.at(int32(source)).findBridge(br, k.Asserter) < 0 {
		return
	}
	from, far := b.own(source), b.ownBridge(br)
	at := from.findBridge(br, k.Asserter)
	from.bridges = slices.Delete(from.bridges, at, at+1)
	rest := slices.Clone(far.facts)
	one := slices.Index(rest, source)
	far.facts = slices.Delete(rest, one, one+1)
	if from.fact.Present() && !from.isOn(br) {
		far.degree--
	}
	b.edges--
}

func (b *Builder) removeFact(k Key) error {
	n, ok := b.factIndex.idx.get(k.Node)
	if !ok {
		return nil
	}
	node := b.facts.vec.at(int32(n))
	if len(node.links)+len(node.bridges) > 0 {
		return fmt.Errorf("%w: delete of %s: %d edges remain", ErrDangling, k, len(node.links)+len(node.bridges))
	}
	b.countPresent(node.fact, -1)
	b.leaveBatch(n, node.fact.BatchID)
	b.facts.set(int32(n), nil)
	b.factIndex.remove(k.Node)
	b.freeFacts = append(b.freeFacts, int32(n))
	return nil
}

func (b *Builder) removeFarNode(k Key) error {
	idx, nodes, free := &b.entityIndex, &b.entities, &b.freeEntities
	if k.Kind == KindTopic {
		idx, nodes, free = &b.topicIndex, &b.topics, &b.freeTopics
	}
	i, ok := idx.idx.get(k.Node)
	if !ok {
		return nil
	}
	if left := len(nodes.vec.at(i).facts); left > 0 {
		return fmt.Errorf("%w: delete of %s: %d edges remain", ErrDangling, k, left)
	}
	nodes.set(i, nil)
	idx.remove(k.Node)
	*free = append(*free, i)
	return nil
}
