package graphstore

import (
	"math/bits"
	"slices"
)

// chunkLen balances what one write copies (a chunk) against what it shares (the list of chunks). It is the number of bits
// in a word, so that one word per chunk says which of its values a draft has written.
const chunkLen = 64

// vec is a vector that shares its chunks between versions. A value is read-only; edits go through vecDraft.
type vec[T any] struct {
	chunks []*[chunkLen]T
	n      int32
	free   []int32 // places of removed values
}

func (v *vec[T]) at(i int32) T { return v.chunks[i/chunkLen][i%chunkLen] }

// ref returns the place of a value, to be read only.
func (v *vec[T]) ref(i int32) *T { return &v.chunks[i/chunkLen][i%chunkLen] }

// vecDraft edits a vec: it copies the list of chunks, a chunk and the list of free places the first time it writes to it.
type vecDraft[T any] struct {
	vec               vec[T]
	written           map[int32]uint64 // by chunk that is the draft's own: which values it has written
	ownList, ownFrees bool
}

func draftOf[T any](v vec[T]) vecDraft[T] { return vecDraft[T]{vec: v} }

// mine reports whether the draft has written the value, so that what it points to is the draft's own.
func (d *vecDraft[T]) mine(i int32) bool { return d.written[i/chunkLen]&(1<<(i%chunkLen)) != 0 }

// edit returns the place of a value for writing.
func (d *vecDraft[T]) edit(i int32) *T {
	c := i / chunkLen
	mask, own := d.written[c]
	if !own {
		d.listForWriting()
		clone := *d.vec.chunks[c]
		d.vec.chunks[c] = &clone
	}
	d.written[c] = mask | 1<<(i%chunkLen)
	return &d.vec.chunks[c][i%chunkLen]
}

func (d *vecDraft[T]) listForWriting() {
	if d.ownList {
		return
	}
	chunks := make([]*[chunkLen]T, len(d.vec.chunks), len(d.vec.chunks)+1)
	copy(chunks, d.vec.chunks)
	d.vec.chunks, d.ownList = chunks, true
	d.written = map[int32]uint64{}
}

func (d *vecDraft[T]) set(i int32, x T) { *d.edit(i) = x }

// place stores x in a free place or at the end and returns where.
func (d *vecDraft[T]) place(x T) int32 {
	if k := len(d.vec.free); k > 0 {
		i := d.vec.free[k-1]
		d.vec.free = d.vec.free[:k-1]
		d.set(i, x)
		return i
	}
	i := d.vec.n
	if i%chunkLen == 0 {
		d.listForWriting()
		d.vec.chunks = append(d.vec.chunks, new([chunkLen]T))
		d.written[i/chunkLen] = 0
	}
	d.vec.n++
	d.set(i, x)
	return i
}

// drop removes a value; its place may be given to another.
func (d *vecDraft[T]) drop(i int32) {
	var none T
	d.set(i, none)
	if !d.ownFrees { // spare room may be shared with another version
		d.vec.free, d.ownFrees = slices.Clone(d.vec.free), true
	}
	d.vec.free = append(d.vec.free, i)
}

// each calls f with the places the draft has written.
func (d *vecDraft[T]) each(f func(i int32)) {
	for c, mask := range d.written {
		for ; mask != 0; mask &= mask - 1 {
			f(c*chunkLen + int32(bits.TrailingZeros64(mask)))
		}
	}
}
