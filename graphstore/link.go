package graphstore

// Link is one contribution to an edge, seen from one of its two facts.
//
// It takes 16 bytes, because a walk of the graph is as fast as memory is read. Who asserts it is one of few cases almost
// always (the source fact, the target fact, the spine), coded in how; the others, and those with a detail, have a note at
// the node.
type Link struct {
	Weight float64 // in (0, 1]
	To     Node    // in a bridge: the number of the entity or topic
	Type   RelationType
	how    [3]byte // little endian: bit 0 says out, the rest is an asserterCase or, from noted on, a note
}

// maxNotes bounds the links with a note at one node: what fits into how.
const maxNotes = 1<<23 - 1 - noted

// asserterCase says who asserts an edge, as seen from the edge.
type asserterCase uint32

const (
	bySource asserterCase = iota // the fact that is its source
	byTarget                     // the fact that is its target
	bySpine                      // the spine, without an id

	// These stand in notes only, with an id.
	byFactNamed
	byBatchNamed
	bySpineNamed
	noteGone // an unused note

	// noted is the first number in a link that is that of a note.
	noted = byFactNamed
)

// claim is who asserts an edge: a case, and the id where the case does not say it.
type claim struct {
	by asserterCase
	id atom
}

// note is what a link has no room for.
type note struct {
	claim
	detail atom
}

// Out reports whether the fact is the edge's source; for undirected types, merely whether it has the smaller id.
func (l Link) Out() bool { return l.how[0]&1 != 0 }

func (l Link) number() uint32 {
	return uint32(l.how[0])>>1 | uint32(l.how[1])<<7 | uint32(l.how[2])<<15
}

func (l *Link) setNumber(n uint32) {
	l.how = [3]byte{byte(n)<<1 | l.how[0]&1, byte(n >> 7), byte(n >> 15)}
}

func (l *Link) setOut() { l.how[0] |= 1 }

// note returns the note of a link of this node, nil if it has none.
func (n *factNode) note(l Link) *note {
	if k := l.number(); k >= uint32(noted) {
		return &n.notes[k-uint32(noted)]
	}
	return nil
}

func (n *factNode) claimOf(l Link) claim {
	if note := n.note(l); note != nil {
		return note.claim
	}
	return claim{by: asserterCase(l.number())}
}

func (n *factNode) detailOf(l Link) atom {
	if note := n.note(l); note != nil {
		return note.detail
	}
	return 0
}

// tieKey identifies a link or bridge among those of one node.
type tieKey struct {
	to   Node
	typ  RelationType
	out  bool
	from claim
}

func (n *factNode) keyOf(l Link) tieKey { return tieKey{l.To, l.Type, l.Out(), n.claimOf(l)} }

// asserter spells a claim out. The ids are those of the edge's ends; target is empty for a bridge.
func (t *atoms) asserter(c claim, source, target string) Asserter {
	switch c.by {
	case bySource:
		return Asserter{ByFact, source}
	case byTarget:
		return Asserter{ByFact, target}
	case bySpine:
		return Asserter{Kind: BySpine}
	case byBatchNamed:
		return Asserter{ByBatch, t.text(c.id)}
	case bySpineNamed:
		return Asserter{BySpine, t.text(c.id)}
	default:
		return Asserter{ByFact, t.text(c.id)}
	}
}

// caseOf returns which case an asserter is; only the named ones have an id of their own.
func caseOf(a Asserter, source, target string) asserterCase {
	switch {
	case a.Kind == ByFact && a.ID == source:
		return bySource
	case a.Kind == ByFact && a.ID == target && target != "":
		return byTarget
	case a.Kind == ByFact:
		return byFactNamed
	case a.Kind == ByBatch:
		return byBatchNamed
	case a.ID == "":
		return bySpine
	default:
		return bySpineNamed
	}
}

func (c asserterCase) named() bool { return c >= noted }
