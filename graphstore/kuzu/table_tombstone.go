package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// tombstoneTable keeps what stays of retracted sources and forgotten users. The key says which it is.
var tombstoneTable = withTombstones(newNodeTable("Tombstone", graphstore.KindTombstone, column{"up_to", integer}))

func withTombstones(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, _ func(string) int64) []any { return []any{int64(c.Tombstone.At)} }
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		c := graphstore.DeleteKey(graphstore.Space{}, graphstore.Key{Kind: graphstore.KindTombstone, Node: key})
		if c.Key().Node != key {
			return c, fmt.Errorf("key %s: of no tombstone", graphstore.Shorten(key))
		}
		c.Tombstone.At = r.instant()
		return c, r.err
	}
	return &t
}
