package kuzu

import "github.com/kithgraph/kith/graphstore"

// schemaTable keeps schemas.
var schemaTable = withSchemas(newNodeTable("Schema", graphstore.KindSchema,
	append([]column{{"level", ref}, {"title", ref}, {"deleted", integer}}, stampColumns()...)...))

func withSchemas(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, number func(string) int64) []any {
		s := c.Schema
		return append([]any{number(s.Level), number(s.Title), bit(s.Deleted)}, stampValues(s.Stamp, number)...)
	}
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		s := graphstore.Schema{ID: key, Level: r.text(), Title: r.text(), Deleted: r.bit(), Stamp: r.stamp()}
		return graphstore.Change{Schema: &s}, r.err
	}
	return &t
}

// refTable keeps the points of the vector store that stand as evidence in the place of facts: nothing but their ids.
var refTable = withRefs(newNodeTable("VdbRef", graphstore.KindRef))

func withRefs(t nodeTable) *nodeTable {
	t.encode = func(graphstore.Change, func(string) int64) []any { return nil }
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		return graphstore.Change{Ref: &graphstore.Ref{ID: key}}, r.err
	}
	return &t
}

// The evidence of schemas is one table with two kinds of target, so that a query finds either by one name.
var (
	derivedFromTable    = &relTable{table{"DERIVED_FROM", relColumns()}, graphstore.KindSchema, graphstore.KindFact, true}
	derivedFromRefTable = &relTable{table{"DERIVED_FROM", relColumns()}, graphstore.KindSchema, graphstore.KindRef, true}
)
