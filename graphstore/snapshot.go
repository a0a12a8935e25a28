package graphstore

import (
	"iter"
	"slices"
)

// Node is the number of a fact inside one snapshot and those made from it by [Snapshot.With]. It is only good for
// reads of that snapshot.
type Node int32

// Link is one contribution to an edge, seen from one of its two facts.
type Link struct {
	Weight   float64 // in (0, 1]
	asserter *Asserter
	To       Node
	Type     RelationType
	Out      bool // the fact is the edge's source; for undirected types, merely the smaller id
}

// Asserter returns who asserts the edge.
func (l Link) Asserter() Asserter { return *l.asserter }

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
type Snapshot struct {
	space    Space
	facts    vec[*factNode]
	entities vec[*bridgeNode]
	topics   vec[*bridgeNode]

	factIndex   index[Node]
	entityIndex index[int32]
	topicIndex  index[int32]
	batches     index[[]Node] // members, also deleted ones, unordered

	freeFacts, freeEntities, freeTopics []int32 // slots of removed nodes

	present int // facts that are neither unseen nor deleted
	edges   int
}

// factNode is one fact with its adjacency; immutable once its snapshot is published.
type factNode struct {
	fact     Fact
	asserter *Asserter // {ByFact, fact.ID}, shared by the links it asserts
	links    []Link
	bridges  []bridgeLink
	details  map[Key]string // details of links this fact is the source of; usually nil
}

type bridgeLink struct {
	bridge   Bridge
	asserter *Asserter
	weight   float64
	detail   string
}

// bridgeNode is an entity or a topic with the facts on it.
type bridgeNode struct {
	entity Entity
	topic  Topic
	facts  []Node // one item per contribution
	degree int
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

// Edges returns the number of edge contributions.
func (s *Snapshot) Edges() int { return s.edges }

// Node returns the number of the fact with this id.
func (s *Snapshot) Node(id string) (Node, bool) { return s.factIndex.get(id) }

// FactAt returns the fact of a node. The pointer is shared: read only.
func (s *Snapshot) FactAt(n Node) *Fact { return &s.facts.at(int32(n)).fact }

// Fact returns the fact with this id.
func (s *Snapshot) Fact(id string) (Fact, bool) {
	n, ok := s.Node(id)
	if !ok {
		return Fact{}, false
	}
	return *s.FactAt(n), true
}

// Links returns the fact-to-fact contributions at a node, both directions, in no promised order.
func (s *Snapshot) Links(n Node) []Link { return s.facts.at(int32(n)).links }

// Bridges yields the entities and topics of a fact, one item per contribution, in no promised order.
func (s *Snapshot) Bridges(n Node) iter.Seq[Bridge] {
	return func(yield func(Bridge) bool) {
		for _, b := range s.facts.at(int32(n)).bridges {
			if !yield(b.bridge) {
				return
			}
		}
	}
}

// BridgeInfo describes the far end of a bridge.
func (s *Snapshot) BridgeInfo(b Bridge) BridgeInfo {
	n := s.bridgeNode(b)
	if b.Type == Mentions {
		return BridgeInfo{ID: n.entity.ID, Name: n.entity.Norm, Degree: n.degree}
	}
	return BridgeInfo{ID: n.topic.ID, Name: n.topic.ID, Degree: n.degree}
}

// BridgeDegree returns BridgeInfo(b).Degree without copying the rest.
func (s *Snapshot) BridgeDegree(b Bridge) int { return s.bridgeNode(b).degree }

// BridgeFacts returns the facts on the far end of a bridge, of any state, one item per contribution.
func (s *Snapshot) BridgeFacts(b Bridge) []Node { return s.bridgeNode(b).facts }

func (s *Snapshot) bridgeNode(b Bridge) *bridgeNode {
	if b.Type == Mentions {
		return s.entities.at(b.to)
	}
	return s.topics.at(b.to)
}

// Entity returns the entity with this id.
func (s *Snapshot) Entity(id string) (Entity, bool) {
	i, ok := s.entityIndex.get(id)
	if !ok {
		return Entity{}, false
	}
	return s.entities.at(i).entity, true
}

// Topic returns the topic with this id.
func (s *Snapshot) Topic(id string) (Topic, bool) {
	i, ok := s.topicIndex.get(id)
	if !ok {
		return Topic{}, false
	}
	return s.topics.at(i).topic, true
}

// BatchMembers returns the facts whose BatchID is id, of any state, ordered by (BatchSeq, id).
func (s *Snapshot) BatchMembers(id string) []Fact {
	nodes, _ := s.batches.get(id)
	facts := make([]Fact, len(nodes))
	for i, n := range nodes {
		facts[i] = *s.FactAt(n)
	}
	slices.SortFunc(facts, func(a, b Fact) int {
		if a.BatchSeq != b.BatchSeq {
			return int(a.BatchSeq) - int(b.BatchSeq)
		}
		return compareString(a.ID, b.ID)
	})
	return facts
}

// EdgesOf returns all contributions that touch the fact with this id: links in both directions, mentions and tags; nil
// for an unknown fact. The order is not promised.
func (s *Snapshot) EdgesOf(id string) []Edge {
	n, ok := s.Node(id)
	if !ok {
		return nil
	}
	node := s.facts.at(int32(n))
	edges := make([]Edge, 0, len(node.links)+len(node.bridges))
	for _, l := range node.links {
		edges = append(edges, s.linkEdge(node, l))
	}
	for _, b := range node.bridges {
		edges = append(edges, s.bridgeEdge(node, b))
	}
	return edges
}

// EdgesTo returns the contributions that tie facts to the entity (KindEntity) or topic (KindTopic) with this id.
func (s *Snapshot) EdgesTo(kind NodeKind, id string) []Edge {
	var node *bridgeNode
	var bridge Bridge
	if kind == KindEntity {
		if i, ok := s.entityIndex.get(id); ok {
			node, bridge = s.entities.at(i), Bridge{Mentions, i}
		}
	} else if i, ok := s.topicIndex.get(id); ok {
		node, bridge = s.topics.at(i), Bridge{TaggedWith, i}
	}
	if node == nil {
		return nil
	}
	edges := make([]Edge, 0, len(node.facts))
	for _, n := range sortedDistinct(node.facts) {
		fact := s.facts.at(int32(n))
		for _, b := range fact.bridges {
			if b.bridge == bridge {
				edges = append(edges, s.bridgeEdge(fact, b))
			}
		}
	}
	return edges
}

// Records yields every record as a Put change: facts, entities and topics, then edges, each edge once.
func (s *Snapshot) Records() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if s.yieldNodes(yield) {
			s.yieldEdges(yield)
		}
	}
}

func (s *Snapshot) yieldNodes(yield func(Change) bool) bool {
	for i := range s.facts.n {
		if n := s.facts.at(i); n != nil && !yield(PutFact(s.space, n.fact)) {
			return false
		}
	}
	for i := range s.entities.n {
		if n := s.entities.at(i); n != nil && !yield(PutEntity(s.space, n.entity)) {
			return false
		}
	}
	for i := range s.topics.n {
		if n := s.topics.at(i); n != nil && !yield(PutTopic(s.space, n.topic)) {
			return false
		}
	}
	return true
}

func (s *Snapshot) yieldEdges(yield func(Change) bool) {
	for i := range s.facts.n {
		n := s.facts.at(i)
		if n == nil {
			continue
		}
		for _, l := range n.links {
			if l.Out && !yield(PutEdge(s.space, s.linkEdge(n, l))) {
				return
			}
		}
		for _, b := range n.bridges {
			if !yield(PutEdge(s.space, s.bridgeEdge(n, b))) {
				return
			}
		}
	}
}

func (s *Snapshot) linkEdge(n *factNode, l Link) Edge {
	peer := s.facts.at(int32(l.To))
	e := Edge{Source: n.fact.ID, Target: peer.fact.ID, Type: l.Type, Asserter: *l.asserter, Weight: l.Weight}
	source := n
	if !l.Out {
		e.Source, e.Target, source = e.Target, e.Source, peer
	}
	if source.details != nil {
		e.Detail = source.details[e.Key()]
	}
	return e
}

func (s *Snapshot) bridgeEdge(n *factNode, b bridgeLink) Edge {
	e := Edge{Source: n.fact.ID, Type: b.bridge.Type, Asserter: *b.asserter, Weight: b.weight, Detail: b.detail}
	if far := s.bridgeNode(b.bridge); b.bridge.Type == Mentions {
		e.Target = far.entity.ID
	} else {
		e.Target = far.topic.ID
	}
	return e
}

// Digest returns the digest of the space's graph.
func (s *Snapshot) Digest() Digest {
	var d Digest
	for c := range s.Records() {
		d.Add(c)
	}
	return d
}

func sortedDistinct(nodes []Node) []Node {
	return slices.Compact(slices.Sorted(slices.Values(nodes)))
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
