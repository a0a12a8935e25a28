package kuzu

import (
	"context"
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// intake checks and numbers the records of a build as they come and stages their rows. It keeps the numbers of all nodes
// and texts and the identities of all edges, nothing else of a record.
type intake struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call
	stage  *stage
	digest *digester
	spaces map[graphstore.Space]*buildSpace
	name   graphstore.Space // of the space that the last record is in
	last   *buildSpace
	row    []any
	stats  graphstore.Stats
	numbers
	records int
	failed  error // the first
	texts   referrer
}

func newIntake(ctx context.Context, s *stage) *intake {
	in := &intake{ctx: ctx, stage: s, digest: newDigester(), spaces: make(map[graphstore.Space]*buildSpace)}
	in.texts = referrer{numbers: &in.numbers, rows: s.of[&textTable.table].rows}
	return in
}

// take takes a record. After an error it takes no other.
func (in *intake) take(c graphstore.Change) error {
	if in.failed != nil {
		return in.failed
	}
	err := in.ctx.Err()
	if err == nil {
		err = in.record(c)
	}
	if err != nil {
		in.failed = fmt.Errorf("record %d: %w", in.records, err)
		return in.failed
	}
	in.digest.add(c)
	in.records++
	return nil
}

func (in *intake) record(c graphstore.Change) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Op != graphstore.Put {
		return fmt.Errorf("%w: %s: only records can be built from, not deletes", graphstore.ErrBadChange, c.Key())
	}
	if c.Edge != nil {
		return in.edge(c.Space, *c.Edge)
	}
	return in.node(c)
}

// lostNumber becomes another one when Kuzu 0.11.3 packs a column, unless all others in it are like it: it takes the
// absolute value of the smallest number, and this one has none.
const lostNumber = int64(math.MinInt64)

// node numbers a node in the order of its coming: what comes together is read together later.
func (in *intake) node(c graphstore.Change) error {
	space, err := in.space(c.Space)
	if err != nil {
		return err
	}
	k := c.Key()
	node := nodeKeyOf(k)
	if _, dup := space.nodes[k.Kind][node.key]; dup {
		return twice(k)
	}
	id, err := in.next()
	if err != nil {
		return err
	}
	if space.nodes[k.Kind] == nil {
		space.nodes[k.Kind] = make(map[string]int64)
	}
	space.nodes[k.Kind][node.key] = id
	*countOf(&in.stats, k.Kind)++
	t := nodeTableOf(k.Kind)
	in.texts.of(space)
	row := append(append(in.row[:0], id, space.no, node.key), t.encode(c, in.texts.number)...)
	in.row = row
	if in.texts.err != nil {
		return in.texts.err
	}
	for i, v := range row {
		if n, ok := v.(int64); ok && n == lostNumber {
			return fmt.Errorf("%w: %s: %s %d: Kuzu does not keep this number", graphstore.ErrBadChange, k, t.columns[i].name, n)
		}
	}
	return in.stage.add(&t.table, row)
}

// known returns a space that was numbered, nil for another.
func (in *intake) known(s graphstore.Space) *buildSpace {
	if in.last == nil || s != in.name {
		in.name, in.last = s, in.spaces[s]
	}
	return in.last
}

// space returns a space, numbered if it is new.
func (in *intake) space(s graphstore.Space) (*buildSpace, error) {
	if space := in.known(s); space != nil {
		return space, nil
	}
	no, err := in.next()
	if err != nil {
		return nil, err
	}
	space := newBuildSpace(no)
	in.spaces[s] = space
	in.stats.Spaces++
	return space, in.stage.add(spaceTable, []any{no, s.UserID()})
}

func (in *intake) edge(s graphstore.Space, e graphstore.Edge) error {
	space := in.known(s)
	if space == nil {
		return dangling(e.Key(), "no node of %s came before it", s)
	}
	t := relTableOf(e.Type)
	src, ok := space.nodes[t.from][e.Source]
	if !ok {
		return dangling(e.Key(), "no %s %s came before it", t.from, graphstore.Shorten(e.Source))
	}
	dst, ok := space.nodes[t.to][e.Target]
	if !ok {
		return dangling(e.Key(), "no %s %s came before it", t.to, graphstore.Shorten(e.Target))
	}
	in.texts.of(space)
	id, _ := edgeIDOf(e, src, dst, in.texts.known)
	detail := in.texts.number(e.Detail)
	if in.texts.err != nil {
		return in.texts.err
	}
	bits := bitsOf(e, id)
	before := len(space.edges)
	if space.edges[bits] = struct{}{}; len(space.edges) == before {
		return twice(e.Key())
	}
	in.stats.Edges++
	return stageEdge(in.stage.of[&t.table].rows, id, space.no, e.Weight, detail)
}

// stageEdge writes what edgeRow returns: a row of values in interfaces would cost more than all the rest.
func stageEdge(w *parquetWriter, id edgeID, space int64, weight float64, detail int64) error {
	w.integer(colSrc, id.src)
	w.integer(colDst, id.dst)
	w.integer(colRelSpace, space)
	w.text(colType, id.typ)
	w.text(colAsserterKind, id.by)
	w.integer(colAsserter, id.asserter)
	w.real(colWeight, weight)
	w.integer(colDetail, detail)
	return w.endRow()
}

func twice(k graphstore.Key) error {
	return fmt.Errorf("%w: %s comes twice", graphstore.ErrBadChange, k)
}

// referrer returns the numbers of the texts of one record after the other, and keeps the first error.
type referrer struct {
	numbers *numbers
	rows    *parquetWriter
	space   *buildSpace
	parts   []string
	err     error
}

// of begins a record of the space.
func (r *referrer) of(space *buildSpace) { r.space = space }

func (r *referrer) known(text string) (int64, bool) { return r.number(text), true }

func (r *referrer) number(s string) int64 {
	if s == "" || r.err != nil {
		return 0
	}
	k := textKey(s)
	if id, ok := r.space.texts[k]; ok {
		return id
	}
	first := int64(0)
	r.parts = appendParts(r.parts[:0], s)
	for i, part := range r.parts {
		var id, rest int64
		if id, r.err = r.numbers.next(); r.err != nil {
			return 0
		}
		if i == 0 {
			first = id
		}
		if i+1 < len(r.parts) {
			rest = id + 1 // the number that comes next
		}
		if r.err = stageText(r.rows, textPart{id, r.space.no, part, int64(i), rest}); r.err != nil {
			return 0
		}
	}
	r.space.texts[k] = first
	return first
}

// stageText writes a row of what textRows returns.
func stageText(w *parquetWriter, p textPart) error {
	w.integer(colID, p.id)
	w.integer(colSpace, p.space)
	w.text(colKey, p.text)
	w.integer(colPart, p.part)
	w.integer(colRest, p.rest)
	return w.endRow()
}
