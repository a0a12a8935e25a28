package graphstore

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// spine is the facts that are active and have a time, in order of (memory_at, recorded_at, id). It is a list in chunks
// that versions share. A value is read-only; edits go through spineDraft.
type spine struct{ chunks []*spineChunk }

// spineChunkLen is the most facts of a chunk: what one edit copies, at 4 bytes each.
const spineChunkLen = 128

type spineChunk struct {
	nodes []Node
	owner *spineOwner // whose draft may edit it
}

// SpinePlace is a place in the order of the spine, of a fact that need not be on it.
type SpinePlace struct {
	MemoryAt, RecordedAt Instant
	ID                   string
}

// Compare orders places. One without a RecordedAt comes before those with one, also with one before 1970.
func (p SpinePlace) Compare(o SpinePlace) int {
	return cmp.Or(cmp.Compare(p.MemoryAt, o.MemoryAt), cmp.Compare(absentFirst(p.RecordedAt), absentFirst(o.RecordedAt)), cmp.Compare(p.ID, o.ID))
}

// absentFirst returns a number that orders instants, absent ones first: their own coding puts those in the middle.
func absentFirst(i Instant) int64 {
	if !i.Present() {
		return math.MinInt64
	}
	return int64(i)
}

// PlaceOnSpine returns a fact's place; false if it has none: only active facts with a memory_at are on the spine.
func PlaceOnSpine(f *Fact) (SpinePlace, bool) {
	return SpinePlace{f.MemoryAt, f.RecordedAt, f.ID}, onSpine(f)
}

func onSpine(f *Fact) bool            { return f.State == StateActive && f.MemoryAt.Present() }
func (n *factNode) onSpine() bool     { return n.state == StateActive && n.memoryAt.Present() }
func (n *factNode) place() SpinePlace { return SpinePlace{n.memoryAt, n.recordedAt, n.id} }

// find returns where the first fact is whose place is not before p: a chunk, and an index in it that may be its length.
func (s *spine) find(facts *vec[*factNode], p SpinePlace) (chunk, at int) {
	before := func(n Node) bool { return facts.at(int32(n)).place().Compare(p) < 0 }
	chunk = sort.Search(len(s.chunks), func(i int) bool {
		nodes := s.chunks[i].nodes
		return !before(nodes[len(nodes)-1])
	})
	if chunk == len(s.chunks) {
		if chunk == 0 {
			return 0, 0
		}
		return chunk - 1, len(s.chunks[chunk-1].nodes)
	}
	nodes := s.chunks[chunk].nodes
	return chunk, sort.Search(len(nodes), func(i int) bool { return !before(nodes[i]) })
}

// SpineFrom yields the facts on the spine from a place on, in order.
func (s *Snapshot) SpineFrom(p SpinePlace) func(yield func(Node) bool) {
	return func(yield func(Node) bool) {
		if len(s.spine.chunks) == 0 {
			return
		}
		chunk, at := s.spine.find(&s.facts, p)
		for ; chunk < len(s.spine.chunks); chunk, at = chunk+1, 0 {
			for _, n := range s.spine.chunks[chunk].nodes[at:] {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// SpineBefore yields the facts on the spine before a place, the last first.
func (s *Snapshot) SpineBefore(p SpinePlace) func(yield func(Node) bool) {
	return func(yield func(Node) bool) {
		if len(s.spine.chunks) == 0 {
			return
		}
		chunk, at := s.spine.find(&s.facts, p)
		for {
			for at > 0 {
				at--
				if !yield(s.spine.chunks[chunk].nodes[at]) {
					return
				}
			}
			if chunk--; chunk < 0 {
				return
			}
			at = len(s.spine.chunks[chunk].nodes)
		}
	}
}

// spineDraft edits a spine: it copies the list of chunks and a chunk the first time it writes to it.
type spineDraft struct {
	spine spine
	owner *spineOwner // nil until the list of chunks is the draft's own
}

// spineOwner tells drafts apart: chunks outlive them and must not keep them.
type spineOwner struct{ _ byte }

func (d *spineDraft) list() {
	if d.owner == nil {
		d.spine.chunks, d.owner = slices.Clone(d.spine.chunks), new(spineOwner)
	}
}

func (d *spineDraft) own(i int) *spineChunk {
	d.list()
	c := d.spine.chunks[i]
	if c.owner == d.owner {
		return c
	}
	c = &spineChunk{nodes: withRoom(c.nodes), owner: d.owner}
	d.spine.chunks[i] = c
	return c
}

func (d *spineDraft) insert(chunk, at int, n Node) {
	if len(d.spine.chunks) == 0 {
		d.list()
		d.spine.chunks = append(d.spine.chunks, &spineChunk{nodes: []Node{n}, owner: d.owner})
		return
	}
	c := d.own(chunk)
	c.nodes = slices.Insert(c.nodes, at, n)
	if len(c.nodes) <= spineChunkLen {
		return
	}
	// The halves of a split are cut so that times that only grow leave full chunks behind.
	cut := len(c.nodes) / 2
	if chunk == len(d.spine.chunks)-1 && at == len(c.nodes)-1 {
		cut = spineChunkLen
	}
	rest := &spineChunk{nodes: append(make([]Node, 0, spineChunkLen/2), c.nodes[cut:]...), owner: d.owner}
	c.nodes = slices.Clone(c.nodes[:cut])
	d.spine.chunks = slices.Insert(d.spine.chunks, chunk+1, rest)
}

func (d *spineDraft) remove(chunk, at int) {
	c := d.own(chunk)
	c.nodes = slices.Delete(c.nodes, at, at+1)
	if len(c.nodes) == 0 {
		d.spine.chunks = slices.Delete(d.spine.chunks, chunk, chunk+1)
	}
}

func (b *Builder) joinSpine(n Node, node *factNode) {
	if !node.onSpine() {
		return
	}
	chunk, at := b.spine.spine.find(&b.facts.vec, node.place())
	b.spine.insert(chunk, at, n)
	b.bytes += spineBytes
}

func (b *Builder) leaveSpine(n Node, node *factNode) {
	if !node.onSpine() {
		return
	}
	chunk, at := b.spine.spine.find(&b.facts.vec, node.place())
	b.spine.remove(chunk, at)
	b.bytes -= spineBytes
}
