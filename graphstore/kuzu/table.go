package kuzu

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// columnKind is how a column is stored: whole numbers (times among them, in microseconds), text, references to texts, or
// real numbers. Kuzu's own times, lists and nulls are not used: the binding wraps the first, cannot pass the second empty
// and types the third by chance.
//
// A text column holds names out of a short list, or is written once and never set. Anything else goes into the table of
// texts and is referred to, because Kuzu never gives the memory of a column's different texts back: one changed text per
// checkpoint copies all texts of 131,072 rows to the end of the file, and so does one new edge. (Measured: 20,000 rows of
// 100 bytes grow by 12 MB per checkpoint; 400,000 edges with an id as text take 1 GB instead of 72 MB.)
type columnKind uint8

const (
	integer columnKind = iota
	text
	ref // the number of a text; 0 for the empty one
	real
)

var columnTypes = [...]string{integer: "INT64", text: "STRING", ref: "INT64", real: "DOUBLE"}

type column struct {
	name string
	kind columnKind
}

// table is a node or relationship table. Its rows are []any in the order of its columns: int64, string or float64.
type table struct {
	name    string
	columns []column
}

// nodeTable keeps one kind of record that is no edge. Its first three columns are the number of the node (primary key), the
// number of its space, and its key in the space; the others follow.
type nodeTable struct {
	table
	kind   graphstore.NodeKind
	encode func(c graphstore.Change, number func(text string) int64) []any // the values after the first three
	decode func(key string, r *rowReader) (graphstore.Change, error)       // the inverse, with a space and op that do not count
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
	shared   bool // the table of this name also keeps edges between other kinds
}

// nodeTables and relTables are the schema of the graph's records. Another kind of node or edge is one more entry here,
// and a step in schemaSteps.
func nodeTables() []*nodeTable {
	return []*nodeTable{memoryTable, entityTable, topicTable, schemaTable, refTable, mergeTable, tombstoneTable}
}

func relTables() []*relTable {
	return []*relTable{relatedTable, mentionsTable, taggedTable, derivedFromTable, derivedFromRefTable}
}

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

// rowReader takes the values of a row one by one, in the order of the columns, and keeps the first error.
type rowReader struct {
	row   []any
	cells *cells // instead of row; what is taken of it is overwritten by the next row
	i     int
	texts func(id int64) (text string, ok bool) // what references stand for
	err   error
}

func next[T int64 | float64 | string](r *rowReader) (v T) {
	if r.err != nil {
		return v
	}
	i := r.i
	r.i++
	if r.cells != nil {
		switch v := any(&v).(type) {
		case *int64:
			*v = r.cells.numbers[i]
		case *float64:
			*v = r.cells.reals[i]
		case *string:
			*v = r.cells.texts[i]
		}
		return v
	}
	if i >= len(r.row) {
		r.err = fmt.Errorf("row of %d columns is too short", len(r.row))
		return v
	}
	v, r.err = cell[T](r.row, i)
	return v
}

// clone takes a text of the row's own.
func (r *rowReader) clone() string { return strings.Clone(next[string](r)) }

// text takes a reference and returns what it stands for.
func (r *rowReader) text() string { return r.textOf(next[int64](r)) }

// textOf returns what a reference stands for.
func (r *rowReader) textOf(id int64) string {
	if r.err != nil || id == 0 {
		return ""
	}
	s, ok := r.texts(id)
	if !ok {
		r.err = fmt.Errorf("text %d is not in the file", id)
	}
	return s
}

// instant takes a time.
func (r *rowReader) instant() graphstore.Instant { return graphstore.Instant(next[int64](r)) }

// eachRef calls fn with the number of each text that the row refers to.
func (t *table) eachRef(row []any, fn func(id int64)) {
	for i, c := range t.columns {
		if id, ok := row[i].(int64); ok && c.kind == ref && id > 0 {
			fn(id)
		}
	}
}
