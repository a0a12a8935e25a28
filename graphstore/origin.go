package graphstore

import "iter"

// Nodes yields all facts, of any state, in no promised order.
func (s *Snapshot) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for i := range s.facts.n {
			if s.facts.at(i) != nil && !yield(Node(i)) {
				return
			}
		}
	}
}

// FactsOfSource yields the facts of which at least one part was settled by a write that stated this source. It looks at
// every fact.
func (s *Snapshot) FactsOfSource(source string) iter.Seq[Node] {
	a, ok := s.atoms.find(source)
	return func(yield func(Node) bool) {
		if !ok || a == 0 {
			return
		}
		for n := range s.Nodes() {
			if s.node(n).statedBy(a) && !yield(n) {
				return
			}
		}
	}
}

// statedBy reports whether a stamp of the fact has this source.
func (n *factNode) statedBy(source atom) bool {
	r := n.rare
	base := n.source
	switch {
	case n.noOrigin:
		base = 0
	case r != nil && r.ownOrigin:
		base = r.baseSource
	}
	if base == source {
		return true
	}
	if r == nil {
		return false
	}
	for _, fs := range r.fields {
		if fs.source == source {
			return true
		}
	}
	return false
}

// RetiredBy yields the facts whose latest supersession names one of these as the newer fact, whatever their state is. It
// looks at every fact.
func (s *Snapshot) RetiredBy(by map[string]struct{}) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for n := range s.Nodes() {
			r := s.node(n).rare
			if r == nil || r.supersededBy == "" {
				continue
			}
			if _, named := by[r.supersededBy]; named && !yield(n) {
				return
			}
		}
	}
}

// FactsOn returns the facts, of any state, with an edge to the entity or topic with this key, one item per contribution.
// Entities that are one by the merge log have their own facts here.
func (s *Snapshot) FactsOn(k Key) []Node {
	idx, nodes := &s.entityIndex, &s.entities
	if k.Kind == KindTopic {
		idx, nodes = &s.topicIndex, &s.topics
	}
	i, ok := findBridge(idx, nodes, k.Node)
	if !ok {
		return nil
	}
	return nodes.at(i).facts
}

// Unseen returns the number of facts that edges name and no event or backfill was about. It looks at every fact.
func (s *Snapshot) Unseen() int {
	n := 0
	for i := range s.facts.n {
		if f := s.facts.at(i); f != nil && f.state == StateUnseen {
			n++
		}
	}
	return n
}
