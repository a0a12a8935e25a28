package graphstore

import (
	"iter"
	"slices"
)

// Records yields every record as a Put change, all others before the edges, each edge once.
func (s *Snapshot) Records() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if s.yieldNodes(yield) {
			s.yieldEdges(yield)
		}
	}
}

func (s *Snapshot) yieldNodes(yield func(Change) bool) bool {
	for i := range s.facts.n {
		if n := s.facts.at(i); n != nil && !yield(PutFact(s.space, s.fact(n))) {
			return false
		}
	}
	for i := range s.entities.n {
		if n := s.entities.at(i); n != nil && !yield(PutEntity(s.space, s.entity(n))) {
			return false
		}
	}
	for i := range s.topics.n {
		if n := s.topics.at(i); n != nil && !yield(PutTopic(s.space, n.topic())) {
			return false
		}
	}
	return s.yieldMinors(false, yield)
}

func (s *Snapshot) yieldEdges(yield func(Change) bool) {
	for i := range s.facts.n {
		n := s.facts.at(i)
		if n == nil {
			continue
		}
		for at, l := range n.ties {
			if (at >= int(n.links) || l.Out()) && !yield(PutEdge(s.space, s.tieEdge(n, at))) {
				return
			}
		}
	}
	s.yieldMinors(true, yield)
}

// EdgesOf returns all contributions that touch the fact with this id: links in both directions, mentions and tags; nil
// for an unknown fact. The order is not promised.
func (s *Snapshot) EdgesOf(id string) []Edge {
	n, ok := s.Node(id)
	if !ok {
		return nil
	}
	node := s.node(n)
	edges := make([]Edge, len(node.ties))
	for i := range node.ties {
		edges[i] = s.tieEdge(node, i)
	}
	return edges
}

// EdgesTo returns the contributions that tie facts to the entity (KindEntity) or topic (KindTopic) with this id.
func (s *Snapshot) EdgesTo(kind NodeKind, id string) []Edge {
	idx, nodes, typ := &s.entityIndex, &s.entities, Mentions
	if kind != KindEntity {
		idx, nodes, typ = &s.topicIndex, &s.topics, TaggedWith
	}
	to, ok := findBridge(idx, nodes, id)
	if !ok {
		return nil
	}
	far := nodes.at(to)
	edges := make([]Edge, 0, len(far.facts))
	for _, n := range slices.Compact(slices.Sorted(slices.Values(far.facts))) {
		fact := s.node(n)
		for i := int(fact.links); i < len(fact.ties); i++ {
			if fact.ties[i].To == Node(to) && fact.ties[i].Type == typ {
				edges = append(edges, s.tieEdge(fact, i))
			}
		}
	}
	return edges
}

// Edge returns the contribution with this key.
func (s *Snapshot) Edge(k Key) (Edge, bool) {
	if isMinor(k.Relation) {
		c, ok := s.minor(k)
		if !ok {
			return Edge{}, false
		}
		return *c.Edge, true
	}
	source, ok := s.Node(k.Node)
	if !ok {
		return Edge{}, false
	}
	at, out := source, true
	var to Node
	switch farKind(k.Relation) {
	case KindFact:
		target, ok := s.Node(k.Target)
		if !ok {
			return Edge{}, false
		}
		to = target
		if s.node(target).links < s.node(source).links { // read the end with fewer links
			at, to, out = target, source, false
		}
	case KindEntity:
		i, ok := findBridge(&s.entityIndex, &s.entities, k.Target)
		if !ok {
			return Edge{}, false
		}
		to = Node(i)
	default:
		i, ok := findBridge(&s.topicIndex, &s.topics, k.Target)
		if !ok {
			return Edge{}, false
		}
		to = Node(i)
	}
	n := s.node(at)
	for i, l := range n.ties {
		if l.To != to || l.Type != k.Relation || i < int(n.links) && l.Out() != out {
			continue
		}
		if e := s.tieEdge(n, i); e.Asserter == k.Asserter {
			return e, true
		}
	}
	return Edge{}, false
}

// Record returns the record with this key as a Put change.
func (s *Snapshot) Record(k Key) (Change, bool) {
	switch {
	case k.Kind > KindTopic:
		return s.minor(k)
	case k.IsEdge():
		e, ok := s.Edge(k)
		return PutEdge(s.space, e), ok
	case k.Kind == KindFact:
		f, ok := s.Fact(k.Node)
		return PutFact(s.space, f), ok
	case k.Kind == KindEntity:
		e, ok := s.Entity(k.Node)
		return PutEntity(s.space, e), ok
	default:
		t, ok := s.Topic(k.Node)
		return PutTopic(s.space, t), ok
	}
}

// tieEdge spells out a link or bridge of a node. A link's detail stands at its source only.
func (s *Snapshot) tieEdge(n *factNode, at int) Edge {
	l := n.ties[at]
	e := Edge{Source: n.id, Type: l.Type, Weight: l.Weight}
	c := n.claimOf(l)
	if at >= int(n.links) {
		e.Target, e.Detail = s.bridgeNode(Bridge{l.Type, int32(l.To)}).id, s.atoms.text(n.detailOf(l))
		e.Asserter = s.atoms.asserter(c, e.Source, "")
		return e
	}
	peer := s.node(l.To)
	e.Target = peer.id
	detail := n.detailOf(l)
	if !l.Out() {
		e.Source, e.Target = e.Target, e.Source
		detail = s.detailAtSource(peer, n, l, c)
	}
	e.Detail, e.Asserter = s.atoms.text(detail), s.atoms.asserter(c, e.Source, e.Target)
	return e
}

// detailAtSource finds the detail of an incoming link at the fact it comes from.
func (s *Snapshot) detailAtSource(source, target *factNode, in Link, c claim) atom {
	if len(source.notes) == 0 {
		return 0
	}
	for _, l := range source.ties[:source.links] {
		if l.Type == in.Type && l.Out() && source.note(l) != nil && s.node(l.To) == target && source.claimOf(l) == c {
			return source.detailOf(l)
		}
	}
	return 0
}

// Digest returns the digest of the space's graph.
func (s *Snapshot) Digest() Digest {
	var d Digest
	for c := range s.Records() {
		d.Add(c)
	}
	return d
}
