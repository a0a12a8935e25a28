package kuzu

// Most rows of one statement. The i-th item of a list is found by counting, so a statement that uses many lists for each
// row soon costs more than two of half the size; a delete uses them once.
const (
	rowsPerBatch    = 256
	deletesPerBatch = 1024
)

// What is scanned in the time of one statement for one row, measured with libkuzu 0.11.3.
const (
	rowsPerStatement  = 2000
	edgesPerStatement = 600 // by a delete, which looks at more columns
)

// batchRule decides between one statement per row, which uses the primary key, and one for many rows, which scans the
// tables that it matches.
type batchRule struct{ force bool }

// pays reports whether n rows are better written or read together in statements that scan this many rows.
func (b batchRule) pays(n, scanned int) bool { return b.paysAt(n, scanned, rowsPerStatement) }

func (b batchRule) paysAt(n, scanned, perStatement int) bool {
	if b.force {
		return n > 1
	}
	return n >= 4+scanned/perStatement
}
