package sqlite

import (
	"unsafe"
)

// blockPoints is the number of points of a full block. A change of one point copies its block: 256 points of 384 numbers
// are 0.4 MB.
const blockPoints = 256

// block holds consecutive points of one user, in the order of their rows, field by field. It is immutable once it is part
// of a matrix.
type block struct {
	rows      []int64
	ids       []string
	norms     []float64
	units     []float32 // dimension numbers per point
	times     []instants
	facetEnds []uint32 // the facets of point i end here, and begin where those of i-1 end
	facets    []facet
}

func newBlock(points, dim int) *block {
	return &block{
		rows: make([]int64, 0, points), ids: make([]string, 0, points), norms: make([]float64, 0, points),
		units: make([]float32, 0, points*dim), times: make([]instants, 0, points), facetEnds: make([]uint32, 0, points),
	}
}

func (b *block) len() int { return len(b.rows) }

func (b *block) unit(i, dim int) []float32 { return b.units[i*dim : (i+1)*dim] }

func (b *block) facetsOf(i int) []facet {
	start := uint32(0)
	if i > 0 {
		start = b.facetEnds[i-1]
	}
	return b.facets[start:b.facetEnds[i]]
}

// addMeta adds a point without its vector, which addVector must add in the same order.
func (b *block) addMeta(row int64, id string, has []facet, at instants) {
	b.rows, b.ids, b.times = append(b.rows, row), append(b.ids, id), append(b.times, at)
	b.facets = append(b.facets, has...)
	b.facetEnds = append(b.facetEnds, uint32(len(b.facets)))
}

func (b *block) addVector(norm float64, blob []byte) {
	b.norms = append(b.norms, norm)
	b.units = decodeVector(b.units, blob)
}

// addFrom adds point i of another block.
func (b *block) addFrom(o *block, i, dim int) {
	b.addMeta(o.rows[i], o.ids[i], o.facetsOf(i), o.times[i])
	b.norms = append(b.norms, o.norms[i])
	b.units = append(b.units, o.unit(i, dim)...)
}

// bytes returns the memory the block occupies.
func (b *block) bytes() int {
	n := int(unsafe.Sizeof(*b)) + 8*cap(b.rows) + 16*cap(b.ids) + 8*cap(b.norms) + 4*cap(b.units) +
		int(unsafe.Sizeof(instants{}))*cap(b.times) + 4*cap(b.facetEnds) + 8*cap(b.facets)
	for _, id := range b.ids {
		n += len(id)
	}
	return n
}
