package kuzu

// Most rows of one statement. Statements that create nodes copy their lists for each row; the others scan tables once
// each, so that larger ones cost less, and are bounded by what Kuzu holds in memory for them.
const (
	rowsPerBatch    = 256
	edgesPerBatch   = 8192
	setsPerBatch    = 4096
	deletesPerBatch = 8192
	nodesPerRead    = 4096
	readsPerBatch   = 1024 // nodes whose edges are read: some have thousands
)

// How many rows a statement for many rows scans in the time of one statement for one row, by what it looks at; measured with
// libkuzu 0.11.3 on tables of 1,000 to 200,000 nodes and up to 700,000 edges.
const (
	rowsPerStatement  = 2_000  // whole rows of nodes
	edgesPerStatement = 5_000  // nodes and their edges
	setsPerStatement  = 5_000  // keys of nodes, for statements that set what they find
	keysPerStatement  = 12_000 // keys of nodes only
)

// batchRule decides between one statement per row, which uses the primary key, and one for many rows, which scans the
// tables that it matches.
type batchRule struct{ force bool }

// pays reports whether n rows are better written or read together in statements that scan this many rows.
func (b batchRule) pays(n, scanned, perStatement int) bool {
	if b.force {
		return n > 1
	}
	return n >= 4+scanned/perStatement
}
