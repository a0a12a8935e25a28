package graphstore

import (
	"cmp"
	"fmt"
)

// NodeKind says what kind of node a key names.
type NodeKind uint8

// The kinds of node.
const (
	KindFact NodeKind = iota + 1
	KindEntity
	KindTopic
	KindSchema
	KindRef
	KindMerge     // a row of the merge log, not a node: no edge ends at it
	KindTombstone // what stays of a retracted source or a forgotten user; no edge ends at it
)

var kindNames = [...]string{KindFact: "fact", KindEntity: "entity", KindTopic: "topic", KindSchema: "schema", KindRef: "ref",
	KindMerge: "merge", KindTombstone: "tombstone"}

// String returns the kind's name.
func (k NodeKind) String() string {
	if k < KindFact || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// AsserterKind says what kind of thing asserts an edge.
type AsserterKind uint8

// The kinds of asserter.
const (
	ByFact   AsserterKind = iota + 1 // the fact whose write event said it
	ByBatch                          // a write batch: its facts were persisted together
	BySpine                          // the temporal order of the space
	BySchema                         // the schema whose evidence it is
)

var asserterNames = [...]string{ByFact: "fact", ByBatch: "batch", BySpine: "spine", BySchema: "schema"}

// String returns the kind's name.
func (k AsserterKind) String() string {
	if k < ByFact || int(k) >= len(asserterNames) {
		return fmt.Sprintf("asserter(%d)", uint8(k))
	}
	return asserterNames[k]
}

// Asserter is who says an edge holds. Two asserters of one edge are two contributions: each can be withdrawn alone.
type Asserter struct {
	Kind AsserterKind
	ID   string // fact id, batch id or schema id; empty for the spine
}

// String returns "kind:id".
func (a Asserter) String() string { return a.Kind.String() + ":" + a.ID }

// Edge is one asserted connection. Which kinds of node it joins follows from its type ([RelationType.Ends]); its
// identity is source, target, type and asserter. Asserting it again replaces weight and detail, never adds to them.
type Edge struct {
	Source   string // node id
	Target   string // node id
	Type     RelationType
	Asserter Asserter
	Weight   float64 // in (0, 1]
	// Detail is what the asserter said in its own words: for related, the unknown relation name; for mentions, a JSON
	// object of the spelling, aliases and hard ids used; for tagged_with, the spelling. Otherwise empty.
	Detail string
}

// Key returns the edge's identity in its space.
func (e Edge) Key() Key {
	return Key{Relation: e.Type, Node: e.Source, Target: e.Target, Asserter: e.Asserter}
}

// Normalized returns the edge with the smaller node first if its type is undirected.
func (e Edge) Normalized() Edge {
	if !e.Type.Directed() && e.Target < e.Source {
		e.Source, e.Target = e.Target, e.Source
	}
	return e
}

// Key identifies one record inside a space. It is comparable. For a node Kind and Node are set, for a row of the merge log
// Target too; for an edge Relation, Node (the source), Target and Asserter.
type Key struct {
	Kind     NodeKind // zero for an edge
	Relation RelationType
	Node     string
	Target   string
	Asserter Asserter
}

// IsEdge reports whether the key names an edge.
func (k Key) IsEdge() bool { return k.Kind == 0 }

// Compare orders keys: nodes before edges, then by kind or type, ids and asserter, bytewise.
func (k Key) Compare(o Key) int {
	// One after the other, since this is what sorting a transaction takes its time for.
	if by := compareBool(k.IsEdge(), o.IsEdge()); by != 0 {
		return by
	}
	if by := cmp.Compare(k.Kind, o.Kind); by != 0 {
		return by
	}
	if by := cmp.Compare(k.Relation, o.Relation); by != 0 {
		return by
	}
	if by := cmp.Compare(k.Node, o.Node); by != 0 {
		return by
	}
	if by := cmp.Compare(k.Target, o.Target); by != 0 {
		return by
	}
	if by := cmp.Compare(k.Asserter.Kind, o.Asserter.Kind); by != 0 {
		return by
	}
	return cmp.Compare(k.Asserter.ID, o.Asserter.ID)
}

// String returns the key for logs and errors.
func (k Key) String() string {
	if k.IsEdge() {
		return fmt.Sprintf("%s -%s-> %s by %s", k.Node, k.Relation, k.Target, k.Asserter)
	}
	if k.Target != "" {
		return fmt.Sprintf("%s of %s into %s", k.Kind, k.Node, k.Target)
	}
	return fmt.Sprintf("%s %s", k.Kind, k.Node)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
