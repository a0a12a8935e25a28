package graphstore

// chunkLen balances what one write copies (a chunk) against what it shares (the list of chunks).
const chunkLen = 64

// vec is a vector that shares its chunks between versions. A value is read-only; edits go through vecDraft.
type vec[T any] struct {
	chunks []*[chunkLen]T
	n      int32
}

func (v vec[T]) at(i int32) T { return v.chunks[i/chunkLen][i%chunkLen] }

// vecDraft edits a vec: it copies a chunk the first time it writes to it.
type vecDraft[T any] struct {
	vec   vec[T]
	owned map[int32]struct{}
}

func draftOf[T any](v vec[T]) vecDraft[T] {
	chunks := make([]*[chunkLen]T, len(v.chunks), len(v.chunks)+1)
	copy(chunks, v.chunks)
	return vecDraft[T]{vec: vec[T]{chunks: chunks, n: v.n}, owned: map[int32]struct{}{}}
}

func (d *vecDraft[T]) set(i int32, x T) {
	c := i / chunkLen
	if _, own := d.owned[c]; !own {
		clone := *d.vec.chunks[c]
		d.vec.chunks[c] = &clone
		d.owned[c] = struct{}{}
	}
	d.vec.chunks[c][i%chunkLen] = x
}

// push appends x and returns its position.
func (d *vecDraft[T]) push(x T) int32 {
	i := d.vec.n
	if i%chunkLen == 0 {
		d.vec.chunks = append(d.vec.chunks, new([chunkLen]T))
		d.owned[i/chunkLen] = struct{}{}
	}
	d.vec.n++
	d.set(i, x)
	return i
}
