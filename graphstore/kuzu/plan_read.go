package kuzu

import "slices"

// storedNode is a node as the file has it.
type storedNode struct {
	row      []any
	position int64
}

// readNodes returns the nodes, all of which exist, by their numbers.
func (p *planner) readNodes(t *nodeTable, ids []int64) (map[int64]storedNode, error) {
	nodes := make(map[int64]storedNode, len(ids))
	if p.batch.pays(len(ids), p.index.count(t.kind), rowsPerStatement) {
		for chunk := range slices.Chunk(ids, nodesPerRead) {
			err := p.session.query(t.readNodes(), params{"ids": anyList(chunk)}, func(pack []any) error {
				last := len(pack) - 1
				position, err := cell[int64](pack, last)
				if err != nil {
					return err
				}
				row, err := unpack(t.columns, pack[:last], nil)
				if err != nil {
					return damaged("%s: %w", t.name, err)
				}
				nodes[row[colID].(int64)] = storedNode{row, position}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	} else {
		for _, id := range ids {
			err := p.session.query(t.readNode(), params{"id": id}, func(row []any) error {
				last := len(row) - 1
				position, err := cell[int64](row, last)
				nodes[id] = storedNode{slices.Clone(row[:last]), position}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if len(nodes) != len(ids) {
		return nil, damaged("%s: %d of %d nodes that the index has are in the file", t.name, len(nodes), len(ids))
	}
	return nodes, nil
}

// readEdges yields the edges of the nodes, out of them or into them. The row is overwritten by the next.
func (p *planner) readEdges(t *relTable, out bool, ids []int64, each func(row []any) error) error {
	end := t.to
	if out {
		end = t.from
	}
	if !p.batch.pays(len(ids), p.index.count(end)+p.index.edges[t], edgesPerStatement) {
		for _, id := range ids {
			if err := p.session.query(t.readEdges(out), params{"id": id}, each); err != nil {
				return err
			}
		}
		return nil
	}
	var row []any
	for chunk := range slices.Chunk(ids, readsPerBatch) {
		err := p.session.query(t.readEdgesOfMany(out), params{"ids": anyList(chunk)}, func(pack []any) (err error) {
			if row, err = unpack(t.columns, pack, row); err != nil {
				return damaged("%s: %w", t.name, err)
			}
			return each(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func anyList(ids []int64) []any {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return list
}
