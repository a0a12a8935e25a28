package kuzu

import (
	"slices"
	"strings"
)

// setNodes sets the columns of nodes that change, together those of nodes in which the same ones do.
func (w writeSession) setNodes(n *nodeWrites) error {
	for _, group := range groupSets(n.sets) {
		columns := group[0].columns
		if !w.batch.pays(len(group), w.index.count(n.table.kind), setsPerStatement) {
			for _, set := range group {
				if err := w.one(n.table.setNode(columns), set.params()); err != nil {
					return err
				}
			}
			continue
		}
		rows := make([][]any, len(group))
		for i, set := range group {
			rows[i] = append([]any{set.id}, set.values...)
		}
		if err := w.many(n.table.setNodes(columns), withID(columns), rows, setsPerBatch); err != nil {
			return err
		}
	}
	return nil
}

// groupSets returns the sets by their columns, in the order in which the first of each came.
func groupSets(sets []nodeSet) (groups [][]nodeSet) {
	at := make(map[string]int)
	for _, set := range sets {
		names := make([]string, len(set.columns))
		for i, c := range set.columns {
			names[i] = c.name
		}
		key := strings.Join(names, " ")
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], set)
	}
	return groups
}

// withID returns the columns with that of the node's number before them.
func withID(columns []column) []column { return slices.Concat([]column{{"id", integer}}, columns) }

// setEdges sets weight and detail of edges.
func (w writeSession) setEdges(e *edgeWrites) error {
	scanned := w.index.count(e.table.from) + w.index.edges[e.table]
	if w.batch.pays(len(e.sets), scanned, edgesPerStatement) {
		return w.many(e.table.setEdges(), e.table.columns, e.sets, setsPerBatch)
	}
	for _, row := range e.sets {
		if err := w.one(e.table.setEdge(), rowParams(e.table.columns, row, colRelSpace)); err != nil {
			return err
		}
	}
	return nil
}
