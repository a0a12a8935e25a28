package rerank

import (
	"math/bits"

	"github.com/kithgraph/kith/graphstore"
)

// nodeTable maps the graph nodes of a pool to member numbers. It is an open-addressed table at a quarter of its
// capacity at most, because it is asked once per link of every member and the answer is nearly always no.
type nodeTable struct {
	slots []nodeSlot // length a power of two
	shift uint8
}

type nodeSlot struct {
	node   graphstore.Node
	member int32 // plus one; 0 marks a free slot
}

// reset empties the table and makes room for n nodes.
func (t *nodeTable) reset(n int) {
	width := max(3, bits.Len(uint(max(n, 1)*4-1)))
	size := 1 << width
	if cap(t.slots) < size {
		t.slots = make([]nodeSlot, size)
	} else {
		t.slots = t.slots[:size]
		clear(t.slots)
	}
	t.shift = uint8(32 - width)
}

// slot multiplies by 2^32 over the golden ratio: consecutive node numbers land far apart.
func (t *nodeTable) slot(n graphstore.Node) uint32 { return uint32(n) * 2654435769 >> t.shift }

func (t *nodeTable) put(n graphstore.Node, member int32) {
	mask := uint32(len(t.slots) - 1)
	for i := t.slot(n); ; i = (i + 1) & mask {
		if t.slots[i].member == 0 {
			t.slots[i] = nodeSlot{n, member + 1}
			return
		}
	}
}

// grow makes room for twice as many nodes.
func (t *nodeTable) grow() {
	old := t.slots
	t.slots = make([]nodeSlot, 2*len(old))
	t.shift--
	for _, s := range old {
		if s.member != 0 {
			t.put(s.node, s.member-1)
		}
	}
}

// find returns the member number of a node, or -1.
func (t *nodeTable) find(n graphstore.Node) int32 {
	slots := t.slots
	mask := uint32(len(slots) - 1)
	for i := t.slot(n) & mask; ; i = (i + 1) & mask {
		if s := slots[i]; s.node == n && s.member != 0 || s.member == 0 {
			return s.member - 1
		}
	}
}
