package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// columnKind is how a column is stored: whole numbers (times among them, in microseconds), text, or real numbers. Kuzu's
// own times, lists and nulls are not used: the binding wraps the first, cannot pass the second empty and types the third
// by chance.
type columnKind uint8

const (
	integer columnKind = iota
	text
	real
)

var columnTypes = [...]string{integer: "INT64", text: "STRING", real: "DOUBLE"}

type column struct {
	name string
	kind columnKind
}

// table is a node or relationship table. Its rows are []any in the order of its columns: int64, string or float64.
type table struct {
	name    string
	columns []column
}

// nodeTable keeps one kind of node. Its first three columns are the number of the node (primary key), the number of its
// space, and its key in the space; the others follow.
type nodeTable struct {
	table
	kind   graphstore.NodeKind
	encode func(graphstore.Change) []any                        // the values after the first three
	decode func(key string, v []any) (graphstore.Change, error) // the inverse, without space and op
}

const (
	colID = iota
	colSpace
	colKey
	nodeHead // where the columns of the kind begin
)

func newNodeTable(name string, kind graphstore.NodeKind, columns ...column) nodeTable {
	head := []column{{"id", integer}, {"space", integer}, {"key", text}}
	return nodeTable{table: table{name, append(head, columns...)}, kind: kind}
}

// relTable keeps edges between two kinds of node. Columns: see relColumns.
type relTable struct {
	table
	from, to graphstore.NodeKind
}

// nodeTables and relTables are the schema of the graph's records. Another kind of node or edge is one more entry here,
// and a step in schemaSteps.
func nodeTables() []*nodeTable { return []*nodeTable{memoryTable, entityTable, topicTable} }

func relTables() []*relTable { return []*relTable{relatedTable, mentionsTable, taggedTable} }

// nodeTableOf returns the table of a kind.
func nodeTableOf(kind graphstore.NodeKind) *nodeTable {
	for _, t := range nodeTables() {
		if t.kind == kind {
			return t
		}
	}
	return nil
}

// relTableOf returns the table of an edge's type.
func relTableOf(typ graphstore.RelationType) *relTable {
	from, to := typ.Ends()
	for _, t := range relTables() {
		if t.from == from && t.to == to {
			return t
		}
	}
	return nil
}

// reader takes the values of a row one by one and keeps the first error.
type rowReader struct {
	row []any
	i   int
	err error
}

func next[T int64 | float64 | string](r *rowReader) T {
	var zero T
	if r.err != nil {
		return zero
	}
	if r.i >= len(r.row) {
		r.err = fmt.Errorf("row of %d columns is too short", len(r.row))
		return zero
	}
	v, err := cell[T](r.row, r.i)
	r.i++
	r.err = err
	return v
}
