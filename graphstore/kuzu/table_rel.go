package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// relColumns are the columns of every relationship table. The numbers of both ends stand on the edge, so that reading it
// does not touch the end node; the space too, for people who query the file.
func relColumns() []column {
	return []column{{"src", integer}, {"dst", integer}, {"space", integer}, {"type", text}, {"asserter_kind", text},
		{"asserter", ref}, {"weight", real}, {"detail", ref}}
}

const (
	colSrc = iota
	colDst
	colRelSpace
	colType
	colAsserterKind
	colAsserter
	colWeight
	colDetail
)

// The relationship tables: one per pair of ends with the type as a column, which reads faster than one per type.
var (
	relatedTable  = &relTable{table{"RELATED", relColumns()}, graphstore.KindFact, graphstore.KindFact, false}
	mentionsTable = &relTable{table{"MENTIONS", relColumns()}, graphstore.KindFact, graphstore.KindEntity, false}
	taggedTable   = &relTable{table{"TAGGED_WITH", relColumns()}, graphstore.KindFact, graphstore.KindTopic, false}
)

// An asserter that is an end of its edge, as most facts that assert are, needs no text.
const (
	assertedBySource = -1
	assertedByTarget = -2
)

// edgeID is an edge's identity in the file.
type edgeID struct {
	src, dst int64
	typ, by  string
	asserter int64 // the number of its text, or one of the constants
}

// identity are the columns of an edge's identity; edgeID.row is in their order.
func identity() []column {
	all := relColumns()
	return []column{all[colSrc], all[colDst], all[colType], all[colAsserterKind], all[colAsserter]}
}

func (id edgeID) row() []any { return []any{id.src, id.dst, id.typ, id.by, id.asserter} }

func edgeIDOfRow(row []any) (edgeID, error) {
	r := &rowReader{row: row}
	return r.edgeID(), r.err
}

// edgeID takes what comes before the weight.
func (r *rowReader) edgeID() edgeID {
	id := edgeID{src: next[int64](r), dst: next[int64](r)}
	_ = next[int64](r) // space
	id.typ, id.by, id.asserter = next[string](r), next[string](r), next[int64](r)
	return id
}

// edgeIDOf returns the identity of an edge between these nodes. number returns the number of the asserter's text, or false
// if the file has no such text, and so no such edge.
func edgeIDOf(e graphstore.Edge, src, dst int64, number func(string) (int64, bool)) (id edgeID, ok bool) {
	id = edgeID{src: src, dst: dst, typ: e.Type.String(), by: e.Asserter.Kind.String()}
	switch e.Asserter.ID {
	case e.Source:
		id.asserter = assertedBySource
	case e.Target:
		id.asserter = assertedByTarget
	default:
		id.asserter, ok = number(e.Asserter.ID)
		return id, ok
	}
	return id, true
}

// edgeRow returns the row of an edge.
func edgeRow(id edgeID, space int64, weight float64, detail int64) []any {
	return []any{id.src, id.dst, space, id.typ, id.by, id.asserter, weight, detail}
}

// decodeEdge returns the edge of a row. keyOf returns the key of the node with a number, empty if there is none.
func decodeEdge(r *rowReader, keyOf func(id int64) string) (e graphstore.Edge, err error) {
	id := r.edgeID()
	if r.err != nil {
		return e, r.err
	}
	e.Source, e.Target = keyOf(id.src), keyOf(id.dst)
	if e.Source == "" || e.Target == "" {
		return e, fmt.Errorf("an end is not in the file")
	}
	switch id.asserter {
	case assertedBySource:
		e.Asserter.ID = e.Source
	case assertedByTarget:
		e.Asserter.ID = e.Target
	default:
		e.Asserter.ID = r.textOf(id.asserter)
	}
	e.Weight, e.Detail = next[float64](r), r.text()
	if r.err != nil {
		return e, r.err
	}
	if err := e.Type.UnmarshalText([]byte(id.typ)); err != nil {
		return e, err
	}
	e.Asserter.Kind, err = parseAsserterKind(id.by)
	return e, err
}

func parseAsserterKind(name string) (graphstore.AsserterKind, error) {
	for k := graphstore.ByFact; k <= graphstore.BySchema; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("asserter kind %s: unknown name", graphstore.Shorten(name))
}
