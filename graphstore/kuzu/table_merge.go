package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// mergeTable keeps the merge log. Its rows are nodes without edges. The two entities, which are the key, stand in columns of
// their own for people who query the file.
var mergeTable = withMerges(newNodeTable("MergeLog", graphstore.KindMerge,
	append([]column{{"merged", text}, {"kept", text}, {"step", ref}, {"undone", integer}, {"evidence", ref},
		{"merged_name", ref}, {"kept_name", ref}}, stampColumns()...)...))

func withMerges(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, number func(string) int64) []any {
		m := c.Merge
		row := []any{m.Merged, m.Kept, number(string(m.Step)), bit(m.Undone), number(m.Evidence), number(m.MergedName), number(m.KeptName)}
		return append(row, stampValues(m.Stamp, number)...)
	}
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		m := graphstore.Merge{Merged: r.clone(), Kept: r.clone(), Step: graphstore.Step(r.text()), Undone: r.bit(), Evidence: r.text(),
			MergedName: r.text(), KeptName: r.text(), Stamp: r.stamp()}
		if k := nodeKeyOf(m.Key()).key; r.err == nil && k != key {
			r.err = fmt.Errorf("key %s: want %s", graphstore.Shorten(key), graphstore.Shorten(k))
		}
		return graphstore.Change{Merge: &m}, r.err
	}
	return &t
}

// keySeparator stands between the parts of a key: ids have no control characters.
const keySeparator = "\t"

// nodeKeyOf returns the name of the node that keeps the record with this key, which is no edge's.
func nodeKeyOf(k graphstore.Key) nodeKey {
	if k.Target != "" {
		return nodeKey{k.Kind, k.Node + keySeparator + k.Target}
	}
	return nodeKey{k.Kind, k.Node}
}
