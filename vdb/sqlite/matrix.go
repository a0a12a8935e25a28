package sqlite

import (
	"cmp"
	"slices"
	"sync/atomic"
	"unsafe"
)

// matrix is everything a search needs of one user at one rev, except payloads. It is immutable: a newer state of the user
// is another matrix, which shares the blocks that did not change.
type matrix struct {
	userNo int64
	rev    int64
	dim    int
	blocks []*block // none empty, rows ascending throughout

	// stale is set when this process has written to the user since: a search need not try this matrix. It is only a
	// hint, as other processes set none.
	stale atomic.Bool
}

// place is a point of a matrix.
type place struct {
	*block
	i int
}

func (p place) row() int64   { return p.rows[p.i] }
func (p place) id() string   { return p.ids[p.i] }
func (p place) at() instants { return p.times[p.i] }

func (b *block) last() int64 { return b.rows[b.len()-1] }

func (m *matrix) points() int {
	n := 0
	for _, b := range m.blocks {
		n += b.len()
	}
	return n
}

func (m *matrix) bytes() int {
	n := int(unsafe.Sizeof(*m)) + 8*cap(m.blocks)
	for _, b := range m.blocks {
		n += b.bytes()
	}
	return n
}

// find returns the point with this row.
func (m *matrix) find(row int64) (place, bool) {
	at, _ := slices.BinarySearchFunc(m.blocks, row, func(b *block, row int64) int { return cmp.Compare(b.last(), row) })
	if at == len(m.blocks) {
		return place{}, false
	}
	i, ok := slices.BinarySearch(m.blocks[at].rows, row)
	return place{m.blocks[at], i}, ok
}

// updated returns the matrix at a later rev, in which the changed points, rows ascending, replace those with the same row
// or follow all others: rows are given out in ascending order and never twice. It reports false when the points do not
// fit that way.
func (m *matrix) updated(rev int64, changed []place) (*matrix, bool) {
	next := &matrix{userNo: m.userNo, rev: rev, dim: m.dim, blocks: make([]*block, 0, len(m.blocks)+1)}
	for _, b := range m.blocks {
		n, _ := slices.BinarySearchFunc(changed, b.last()+1, func(p place, row int64) int { return cmp.Compare(p.row(), row) })
		replaced, ok := b.replaced(changed[:n], m.dim)
		if !ok {
			return nil, false
		}
		next.blocks = append(next.blocks, replaced)
		changed = changed[n:]
	}
	next.extend(changed)
	return next, true
}

// replaced returns the block with some points replaced by others with the same rows: itself when there are none.
func (b *block) replaced(changed []place, dim int) (*block, bool) {
	if len(changed) == 0 {
		return b, true
	}
	out := newBlock(b.len(), dim)
	for i, row := range b.rows {
		if len(changed) > 0 && changed[0].row() == row {
			out.addFrom(changed[0].block, changed[0].i, dim)
			changed = changed[1:]
			continue
		}
		out.addFrom(b, i, dim)
	}
	return out, len(changed) == 0
}

// extend adds points behind the last, filling up a copy of the last block first.
func (m *matrix) extend(points []place) {
	for len(points) > 0 {
		var head *block
		if n := len(m.blocks); n > 0 && m.blocks[n-1].len() < blockPoints {
			head = m.blocks[n-1]
			m.blocks = m.blocks[:n-1]
		} else {
			head = newBlock(0, m.dim)
		}
		take := min(len(points), blockPoints-head.len())
		out := newBlock(head.len()+take, m.dim)
		for i := range head.rows {
			out.addFrom(head, i, m.dim)
		}
		for _, p := range points[:take] {
			out.addFrom(p.block, p.i, m.dim)
		}
		m.blocks, points = append(m.blocks, out), points[take:]
	}
}
