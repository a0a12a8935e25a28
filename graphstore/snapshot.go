package graphstore

import (
	"iter"
	"slices"
)

// Node is the number of a fact inside one snapshot and those made from it by [Snapshot.With]. It is only good for
// reads of that snapshot.
type Node int32

// Bridge is a fact's tie to an entity (mentions) or a topic (tagged_with).
type Bridge struct {
	Type RelationType // Mentions or TaggedWith
	to   int32
}

// BridgeInfo is what ranking needs to know of a bridge's far end.
type BridgeInfo struct {
	ID     string // entity id or topic id
	Name   string // normalised name of the entity; id of the topic
	Degree int    // distinct facts present in memory on it
}

// Snapshot is the immutable graph of one space. Every method is safe for concurrent use and takes no lock. Slices that
// methods return are shared: read only.
//
// It is made for a walk of links: those cost one read each and no allocation. A whole [Fact] is put together on each
// call; [Snapshot.ID], [Snapshot.State], [Snapshot.MemoryAt], [Snapshot.Validity] and [Snapshot.OfAgent] are not.
type Snapshot struct {
	space    Space
	facts    vec[*factNode]
	entities vec[*bridgeNode]
	topics   vec[*bridgeNode]
	batches  vec[batch]
	minors   vec[*minor]
	// Entities in the merge log.
	identities vec[identity]
	components vec[*component]
	atoms      atoms
	spine      spine

	factIndex, entityIndex, topicIndex, batchIndex index
	minorIndex, minorEnds, identityIndex           index

	present  int // facts that are neither unseen nor deleted
	edges    int // contributions
	minorsOf kindCounts
	bytes    int64 // estimate
}

// batch is the facts of one write batch.
type batch struct {
	members []Node // also deleted ones, unordered
	id      atom
}

// NewSnapshot returns the empty graph of a space.
func NewSnapshot(space Space) *Snapshot { return &Snapshot{space: space} }

// Space returns the space the snapshot is of.
func (s *Snapshot) Space() Space { return s.space }

// Facts returns the number of fact nodes, of any state.
func (s *Snapshot) Facts() int { return s.factIndex.n }

// Present returns the number of facts that are neither unseen nor deleted.
func (s *Snapshot) Present() int { return s.present }

// Entities returns the number of entities.
func (s *Snapshot) Entities() int { return s.entityIndex.n }

// Topics returns the number of topics.
func (s *Snapshot) Topics() int { return s.topicIndex.n }

// Count returns the number of records of a kind: of facts, of any state, like Facts.
func (s *Snapshot) Count(kind NodeKind) int {
	switch kind {
	case KindFact:
		return s.Facts()
	case KindEntity:
		return s.Entities()
	case KindTopic:
		return s.Topics()
	default:
		return s.minorsOf.of(kind)
	}
}

// Edges returns the number of edge contributions.
func (s *Snapshot) Edges() int { return s.edges }

// Node returns the number of the fact with this id.
func (s *Snapshot) Node(id string) (Node, bool) { return findFact(&s.factIndex, &s.facts, id) }

func findFact(idx *index, facts *vec[*factNode], id string) (Node, bool) {
	for p := idx.find(tagOf(id)); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if facts.at(i).id == id {
			return Node(i), true
		}
	}
}

func findBridge(idx *index, nodes *vec[*bridgeNode], id string) (int32, bool) {
	for p := idx.find(tagOf(id)); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if nodes.at(i).id == id {
			return i, true
		}
	}
}

func findBatch(idx *index, batches *vec[batch], id atom) (int32, bool) {
	for p := idx.find(numberTag(uint32(id))); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if batches.ref(i).id == id {
			return i, true
		}
	}
}

func (s *Snapshot) node(n Node) *factNode { return s.facts.at(int32(n)) }

// ID returns the id of a node's fact.
func (s *Snapshot) ID(n Node) string { return s.node(n).id }

// State returns the state of a node's fact.
func (s *Snapshot) State(n Node) State { return s.node(n).state }

// IsPresent reports whether a node's fact is neither unseen nor deleted.
func (s *Snapshot) IsPresent(n Node) bool { return s.node(n).present() }

// MemoryAt returns when a node's fact happened.
func (s *Snapshot) MemoryAt(n Node) Instant { return s.node(n).memoryAt }

// OfAgent reports whether a node's fact has this agent id.
func (s *Snapshot) OfAgent(n Node, agent string) bool {
	a, ok := s.atoms.find(agent)
	return ok && s.node(n).agent == a
}

// FactAt returns the fact of a node.
func (s *Snapshot) FactAt(n Node) Fact { return s.fact(s.node(n)) }

// Fact returns the fact with this id.
func (s *Snapshot) Fact(id string) (Fact, bool) {
	n, ok := s.Node(id)
	if !ok {
		return Fact{}, false
	}
	return s.FactAt(n), true
}

// Links returns the fact-to-fact contributions at a node, both directions, in no promised order.
func (s *Snapshot) Links(n Node) []Link {
	node := s.node(n)
	return node.ties[:node.links:node.links]
}

// Asserter returns who asserts a link of this node.
func (s *Snapshot) Asserter(n Node, l Link) Asserter {
	node := s.node(n)
	source, target := node.id, s.ID(l.To)
	if !l.Out() {
		source, target = target, source
	}
	return s.atoms.asserter(node.claimOf(l), source, target)
}

// Bridges yields the entities and topics of a fact, one item per contribution, in no promised order. An entity that the
// merge log redirects is the one that it is redirected to.
func (s *Snapshot) Bridges(n Node) iter.Seq[Bridge] {
	return func(yield func(Bridge) bool) {
		node := s.node(n)
		for _, l := range node.ties[node.links:] {
			if !yield(s.resolveBridge(Bridge{l.Type, int32(l.To)})) {
				return
			}
		}
	}
}

func (s *Snapshot) resolveBridge(b Bridge) Bridge {
	if s.identityIndex.n == 0 || b.Type != Mentions {
		return b
	}
	if self := s.entities.at(b.to).identity; self > 0 {
		x := s.identities.ref(self - 1)
		b.to = s.components.at(x.in).rootsIn(s).shown(x.at)
	}
	return b
}

// BridgeInfo describes the far end of a bridge.
func (s *Snapshot) BridgeInfo(b Bridge) BridgeInfo {
	n := s.bridgeNode(b)
	if b.Type == Mentions {
		return BridgeInfo{ID: n.id, Name: n.norm, Degree: s.distinct(n)}
	}
	return BridgeInfo{ID: n.id, Name: n.id, Degree: s.distinct(n)}
}

// BridgeDegree returns BridgeInfo(b).Degree without copying the rest.
func (s *Snapshot) BridgeDegree(b Bridge) int { return s.distinct(s.bridgeNode(b)) }

// BridgeFacts returns the facts on the far end of a bridge, of any state, one item per contribution.
func (s *Snapshot) BridgeFacts(b Bridge) []Node {
	n := s.bridgeNode(b)
	if g := s.groupOf(n); g != nil {
		return g.facts
	}
	return n.facts
}

func (s *Snapshot) distinct(n *bridgeNode) int {
	if g := s.groupOf(n); g != nil {
		return int(g.degree)
	}
	return int(n.degree)
}

func (s *Snapshot) bridgeNode(b Bridge) *bridgeNode {
	if b.Type == Mentions {
		return s.entities.at(b.to)
	}
	return s.topics.at(b.to)
}

// Entity returns the entity with this id.
func (s *Snapshot) Entity(id string) (Entity, bool) {
	i, ok := findBridge(&s.entityIndex, &s.entities, id)
	if !ok {
		return Entity{}, false
	}
	return s.entity(s.entities.at(i)), true
}

// Topic returns the topic with this id.
func (s *Snapshot) Topic(id string) (Topic, bool) {
	i, ok := findBridge(&s.topicIndex, &s.topics, id)
	if !ok {
		return Topic{}, false
	}
	return s.topics.at(i).topic(), true
}

// BatchMembers returns the facts whose BatchID is id, of any state, ordered by (BatchSeq, id).
func (s *Snapshot) BatchMembers(id string) []Fact {
	a, ok := s.atoms.find(id)
	if !ok || a == 0 {
		return nil
	}
	i, ok := findBatch(&s.batchIndex, &s.batches, a)
	if !ok {
		return nil
	}
	nodes := s.batches.ref(i).members
	facts := make([]Fact, len(nodes))
	for i, n := range nodes {
		facts[i] = s.FactAt(n)
	}
	slices.SortFunc(facts, func(a, b Fact) int {
		if a.BatchSeq != b.BatchSeq {
			return int(a.BatchSeq) - int(b.BatchSeq)
		}
		return compareString(a.ID, b.ID)
	})
	return facts
}

func compareString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}
