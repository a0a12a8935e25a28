package graphstore

import (
	"fmt"
	"slices"
)

// hub is where the ties of a fact with many of them are, so that n edits of it cost about n and not n². It is made once
// reading the ties through has cost more than making it.
type hub struct {
	read int // ties read through so far
	at   map[tieKey]int32
}

const (
	hubTies  = 64 // up to so many ties are always read through
	hubReads = 32 // as often as this, then it pays to know
)

// find returns where the tie is in the node's list, or -1.
func (b *Builder) find(n Node, k tieKey) int {
	node := b.node(n)
	if len(node.ties) > hubTies {
		if h := b.hubOf(n, node); h.at != nil {
			if at, ok := h.at[k]; ok {
				return int(at)
			}
			return -1
		}
	}
	ties, from := node.ties[:node.links], 0
	if farKind(k.typ) != KindFact {
		ties, from = node.ties[node.links:], int(node.links)
	}
	at := slices.IndexFunc(ties, func(l Link) bool {
		return l.To == k.to && l.Type == k.typ && l.Out() == k.out && node.claimOf(l) == k.from
	})
	if at < 0 {
		return -1
	}
	return from + at
}

func (b *Builder) hubOf(n Node, node *factNode) *hub {
	h := b.hubs[n]
	if h == nil {
		if b.hubs == nil {
			b.hubs = map[Node]*hub{}
		}
		h = &hub{}
		b.hubs[n] = h
	}
	if h.at != nil {
		return h
	}
	if h.read += len(node.ties); h.read > hubReads*len(node.ties) {
		h.at = make(map[tieKey]int32, len(node.ties))
		for i, l := range node.ties {
			h.at[node.keyOf(l)] = int32(i)
		}
	}
	return h
}

// moved tells the hub, if there is one, that a tie is at another place now.
func (b *Builder) moved(n Node, node *factNode, to int) {
	if h := b.hubs[n]; h != nil && h.at != nil {
		h.at[node.keyOf(node.ties[to])] = int32(to)
	}
}

// addTie adds a tie that is not there. detail says whether the node is where the edge's detail stands.
func (b *Builder) addTie(n Node, k tieKey, e Edge, detail bool) error {
	node := b.own(n)
	l := Link{Weight: e.Weight, To: k.to, Type: k.typ}
	if k.out {
		l.setOut()
	}
	l.setNumber(uint32(k.from.by))
	if k.from.by.named() || detail && e.Detail != "" {
		number, err := b.addNote(node, note{claim: claim{by: k.from.by}})
		if err != nil {
			return fmt.Errorf("%w: %s: fact %s: %w", ErrBadChange, e.Key(), Shorten(node.id), err)
		}
		l.setNumber(number)
		if k.from.by.named() {
			node.note(l).id = b.atoms.use(e.Asserter.ID)
		}
		if detail {
			node.note(l).detail = b.atoms.use(e.Detail)
		}
	}
	b.bytes += linkBytes
	at := len(node.ties)
	node.ties = append(node.ties, l)
	if farKind(k.typ) == KindFact {
		if first := int(node.links); first < at { // the first bridge makes room
			node.ties[at], node.ties[first] = node.ties[first], l
			b.moved(n, node, at)
			at = first
		}
		node.links++
	}
	b.moved(n, node, at)
	return nil
}

// setDetail makes the tie say what the edge says.
func (b *Builder) setDetail(n Node, at int, e Edge) error {
	node := b.own(n)
	l := &node.ties[at]
	have := node.note(*l)
	if have == nil {
		if e.Detail == "" {
			return nil
		}
		number, err := b.addNote(node, note{claim: claim{by: asserterCase(l.number())}})
		if err != nil {
			return fmt.Errorf("%w: %s: fact %s: %w", ErrBadChange, e.Key(), Shorten(node.id), err)
		}
		l.setNumber(number)
		have = node.note(*l)
	}
	old := have.detail
	have.detail = b.atoms.use(e.Detail)
	b.atoms.release(old)
	return nil
}

// addNote appends a note and returns its number in a link.
func (b *Builder) addNote(node *factNode, x note) (uint32, error) {
	if len(node.notes) >= int(maxNotes) {
		return 0, fmt.Errorf("%d edges with a detail or an asserter of their own: want at most %d", len(node.notes)+1, maxNotes)
	}
	node.notes = append(node.notes, x)
	b.bytes += noteBytes
	return uint32(len(node.notes)-1) + uint32(noted), nil
}

// dropTie removes the tie at a place; the last link and the last bridge move up.
func (b *Builder) dropTie(n Node, at int) {
	node := b.own(n)
	l := node.ties[at]
	if h := b.hubs[n]; h != nil && h.at != nil {
		delete(h.at, node.keyOf(l))
	}
	if note := node.note(l); note != nil {
		b.atoms.release(note.id)
		b.atoms.release(note.detail)
		note.claim, note.detail = claim{by: noteGone}, 0
		b.bytes -= noteBytes
		if b.holed == nil {
			b.holed = map[Node]struct{}{}
		}
		b.holed[n] = struct{}{}
	}
	b.bytes -= linkBytes
	end := len(node.ties) - 1
	if at < int(node.links) {
		node.links--
		if last := int(node.links); at != last {
			node.ties[at] = node.ties[last]
			b.moved(n, node, at)
		}
		at = int(node.links)
	}
	if at != end {
		node.ties[at] = node.ties[end]
		b.moved(n, node, at)
	}
	node.ties = node.ties[:end]
}

// compactNotes drops the notes that nothing uses.
func (n *factNode) compactNotes() {
	kept := make([]note, 0, len(n.notes))
	for i := range n.ties {
		l := &n.ties[i]
		if x := n.note(*l); x != nil {
			kept = append(kept, *x)
			l.setNumber(uint32(len(kept)-1) + uint32(noted))
		}
	}
	n.notes = kept
}
