package child

import "github.com/kithgraph/kith/graphstore"

func (e *encoder) mark(m graphstore.Mark) {
	e.text(m.Log)
	e.uvarint(m.Seq)
}

func (d *decoder) mark() graphstore.Mark { return graphstore.Mark{Log: d.text(), Seq: d.uvarint()} }

func (e *encoder) head(h graphstore.Head) {
	e.text(h.ID)
	e.mark(h.Mark)
	sum, records := h.Digest.Words()
	for _, word := range sum {
		e.uvarint(word)
	}
	e.varint(int64(records))
}

func (d *decoder) head() graphstore.Head {
	h := graphstore.Head{ID: d.text(), Mark: d.mark()}
	var sum [4]uint64
	for i := range sum {
		sum[i] = d.uvarint()
	}
	h.Digest = graphstore.DigestOfWords(sum, int(d.varint()))
	return h
}

func (e *encoder) stats(st graphstore.Stats) {
	for _, n := range []int{st.Spaces, st.Facts, st.Entities, st.Topics, st.Edges, st.Schemas, st.Refs, st.Merges, st.Tombstones} {
		e.varint(int64(n))
	}
	e.varint(st.Bytes)
}

func (d *decoder) stats() graphstore.Stats {
	var st graphstore.Stats
	for _, n := range []*int{&st.Spaces, &st.Facts, &st.Entities, &st.Topics, &st.Edges, &st.Schemas, &st.Refs, &st.Merges, &st.Tombstones} {
		*n = int(d.varint())
	}
	st.Bytes = d.varint()
	return st
}
