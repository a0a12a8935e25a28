package kuzu

import (
	"slices"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// nodeKey names a node in its space.
type nodeKey struct {
	kind graphstore.NodeKind
	key  string
}

// spaceNodes is one space: its number and those of its nodes.
type spaceNodes struct {
	no    int64
	nodes map[nodeKey]int64
	texts map[string]*textRef
}

// index knows the number of every node and of every text that is referred to. It makes "does this node exist" a map
// lookup: in the file that is a statement per node. Only the writer changes it, in step with its commits; it costs about
// 150 bytes per node and text.
type index struct {
	mu     sync.RWMutex
	spaces map[graphstore.Space]*spaceNodes
	counts map[graphstore.NodeKind]int
	edges  map[*relTable]int
	texts  map[int64]*textRef
	next   int64 // the smallest number not in use, nor in use before in this process
}

func newIndex() *index {
	return &index{spaces: make(map[graphstore.Space]*spaceNodes), counts: make(map[graphstore.NodeKind]int),
		edges: make(map[*relTable]int), texts: make(map[int64]*textRef), next: 1}
}

// space returns the number of a space.
func (x *index) space(s graphstore.Space) (no int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	nodes, ok := x.spaces[s]
	if !ok {
		return 0, false
	}
	return nodes.no, true
}

// node returns the number of a node.
func (x *index) node(s graphstore.Space, k nodeKey) (id int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	nodes, ok := x.spaces[s]
	if !ok {
		return 0, false
	}
	id, ok = nodes.nodes[k]
	return id, ok
}

// count returns how many nodes of a kind there are.
func (x *index) count(kind graphstore.NodeKind) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.counts[kind]
}

// size returns how many nodes a space has.
func (x *index) size(s graphstore.Space) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if nodes, ok := x.spaces[s]; ok {
		return len(nodes.nodes)
	}
	return 0
}

// stats counts what the index knows, which is all but the bytes.
func (x *index) stats() graphstore.Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	st := graphstore.Stats{Spaces: len(x.spaces)}
	for _, t := range nodeTables() {
		*countOf(&st, t.kind) = x.counts[t.kind]
	}
	for _, n := range x.edges {
		st.Edges += n
	}
	return st
}

// stored returns how many records there are, texts among them.
func (x *index) stored() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.texts)
	for _, nodes := range x.counts {
		n += nodes
	}
	for _, edges := range x.edges {
		n += edges
	}
	return n
}

// text returns the number of a text.
func (x *index) text(s graphstore.Space, text string) (id int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if space, known := x.spaces[s]; known {
		if t, found := space.texts[text]; found {
			return t.ids[0], true
		}
	}
	return 0, false
}

// textOf returns the text with this number.
func (x *index) textOf(id int64) (text string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	t, ok := x.texts[id]
	if !ok {
		return "", false
	}
	return t.text, true
}

// refs returns how many columns refer to a text.
func (x *index) refs(id int64) (n int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	t, ok := x.texts[id]
	if !ok {
		return 0, false
	}
	return t.refs, true
}

// nodeChange adds a node to the index, or removes it.
type nodeChange struct {
	space graphstore.Space
	key   nodeKey
	id    int64
	gone  bool
}

// commit takes over what a transaction committed. A space without nodes ends to exist.
func (x *index) commit(p *plan) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = p.next
	for _, s := range p.newSpaces {
		x.addSpaceLocked(s.space, s.no)
	}
	for _, t := range p.newTexts {
		x.addTextLocked(t)
	}
	for id, n := range p.refs {
		x.texts[id].refs += n
	}
	for _, id := range p.goneTexts {
		t := x.texts[id]
		delete(x.texts, id)
		delete(x.spaces[t.space].texts, t.text)
	}
	for _, w := range p.edges {
		x.edges[w.table] += len(w.creates) - len(w.deletes)
	}
	for _, c := range p.index {
		if c.gone {
			delete(x.spaces[c.space].nodes, c.key)
			x.counts[c.key.kind]--
			continue
		}
		x.addLocked(c)
	}
	for _, c := range p.index {
		if s, ok := x.spaces[c.space]; ok && len(s.nodes) == 0 {
			delete(x.spaces, c.space)
		}
	}
}

func (x *index) addSpaceLocked(s graphstore.Space, no int64) {
	x.spaces[s] = &spaceNodes{no: no, nodes: make(map[nodeKey]int64), texts: make(map[string]*textRef)}
	x.next = max(x.next, no+1)
}

func (x *index) addLocked(c nodeChange) {
	x.spaces[c.space].nodes[c.key] = c.id
	x.counts[c.key.kind]++
	x.next = max(x.next, c.id+1)
}

func (x *index) addTextLocked(t textRow) {
	entry := &textRef{textRow: t}
	x.texts[t.ids[0]] = entry
	x.spaces[t.space].texts[t.text] = entry
	x.next = max(x.next, slices.Max(t.ids)+1)
}
