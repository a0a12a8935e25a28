package kuzu

import "slices"

// readNodes returns the rows of the nodes, all of which exist.
func (p *planner) readNodes(t *nodeTable, ids []int64) (map[int64][]any, error) {
	rows := make(map[int64][]any, len(ids))
	if p.batch.pays(len(ids), p.index.count(t.kind), rowsPerStatement) {
		for chunk := range slices.Chunk(ids, readsPerBatch) {
			err := p.session.query(t.readNodes(), params{"ids": anyList(chunk)}, func(pack []any) error {
				row, err := unpack(t.columns, pack, nil)
				if err != nil {
					return damaged("%s: %w", t.name, err)
				}
				rows[row[colID].(int64)] = row
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	} else {
		for _, id := range ids {
			err := p.session.query(t.readNode(), params{"id": id}, func(row []any) error {
				rows[id] = slices.Clone(row)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if len(rows) != len(ids) {
		return nil, damaged("%s: %d of %d nodes that the index has are in the file", t.name, len(rows), len(ids))
	}
	return rows, nil
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
