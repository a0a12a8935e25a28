package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// relColumns are the columns of every relationship table. The numbers of both ends stand on the edge, so that reading it
// does not touch the end node; the space too, for people who query the file.
func relColumns() []column {
	return []column{{"src", integer}, {"dst", integer}, {"space", integer}, {"type", text}, {"asserter_kind", text},
		{"asserter_id", text}, {"weight", real}, {"detail", text}}
}

const (
	colSrc = iota
	colDst
	colRelSpace
	colType
	colAsserterKind
	colAsserterID
	colWeight
	colDetail
)

// The relationship tables: one per pair of ends with the type as a column, which reads faster than one per type.
var (
	relatedTable  = &relTable{table{"RELATED", relColumns()}, graphstore.KindFact, graphstore.KindFact}
	mentionsTable = &relTable{table{"MENTIONS", relColumns()}, graphstore.KindFact, graphstore.KindEntity}
	taggedTable   = &relTable{table{"TAGGED_WITH", relColumns()}, graphstore.KindFact, graphstore.KindTopic}
)

// edgeID is an edge's identity in the file.
type edgeID struct {
	src, dst     int64
	typ, by, bID string
}

func edgeIDOf(e graphstore.Edge, src, dst int64) edgeID {
	return edgeID{src, dst, e.Type.String(), e.Asserter.Kind.String(), e.Asserter.ID}
}

func edgeIDOfRow(row []any) (edgeID, error) {
	r := &rowReader{row: row}
	id := edgeID{src: next[int64](r), dst: next[int64](r)}
	_ = next[int64](r) // space
	id.typ, id.by, id.bID = next[string](r), next[string](r), next[string](r)
	return id, r.err
}

// identity are the columns of an edge's identity; row is in their order.
func identity() []column {
	all := relColumns()
	return []column{all[colSrc], all[colDst], all[colType], all[colAsserterKind], all[colAsserterID]}
}

func (id edgeID) row() []any { return []any{id.src, id.dst, id.typ, id.by, id.bID} }

// encodeEdge returns the row of an edge.
func encodeEdge(e graphstore.Edge, src, dst, space int64) []any {
	id := edgeIDOf(e, src, dst)
	return []any{src, dst, space, id.typ, id.by, id.bID, e.Weight, e.Detail}
}

// decodeEdge returns the edge of a row without its ends, and the numbers of these.
func decodeEdge(row []any) (e graphstore.Edge, src, dst int64, err error) {
	id, err := edgeIDOfRow(row)
	if err != nil {
		return e, 0, 0, err
	}
	r := &rowReader{row: row, i: colWeight}
	e.Weight, e.Detail, e.Asserter.ID = next[float64](r), next[string](r), id.bID
	if r.err != nil {
		return e, 0, 0, r.err
	}
	if err := e.Type.UnmarshalText([]byte(id.typ)); err != nil {
		return e, 0, 0, err
	}
	e.Asserter.Kind, err = parseAsserterKind(id.by)
	return e, id.src, id.dst, err
}

func parseAsserterKind(name string) (graphstore.AsserterKind, error) {
	for k := graphstore.ByFact; k <= graphstore.BySpine; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("asserter kind %s: unknown name", graphstore.Shorten(name))
}
