package kuzu

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// planNodes plans the changes of one table's nodes, which are all the given ones: new ones are created, of those that exist the columns that differ
// are set.
func (p *planner) planNodes(t *nodeTable, changes []graphstore.Change) error {
	w := &nodeWrites{table: t}
	p.plan.nodes = append(p.plan.nodes, w)
	for _, c := range changes {
		if c.Op == graphstore.Put {
			p.planPut(w, c)
		} else {
			p.planDelete(w, c)
		}
	}
	return p.compareNodes(w)
}

func (p *planner) planPut(w *nodeWrites, c graphstore.Change) {
	k := nodeKeyOf(c.Key())
	id, exists := p.index.node(c.Space, k)
	if !exists {
		id = p.nextNumber()
		p.plan.index = append(p.plan.index, nodeChange{space: c.Space, key: k, id: id})
	}
	p.nodes[spaceNode{c.Space, k}] = nodeAfter{id: id, fresh: !exists}
	no := p.spaceNo(c.Space)
	row := append([]any{id, no, k.key}, w.table.encode(c, func(text string) int64 { return p.number(c.Space, text) })...)
	p.refer(&w.table.table, row, +1)
	if exists {
		p.puts[w.table].add(id, put{c, row})
		return
	}
	w.creates = append(w.creates, row)
	p.plan.digest.Add(c)
}

func (p *planner) planDelete(w *nodeWrites, c graphstore.Change) {
	k := nodeKeyOf(c.Key())
	id, exists := p.index.node(c.Space, k)
	p.nodes[spaceNode{c.Space, k}] = nodeAfter{id: id, gone: true}
	if !exists {
		return
	}
	p.gone[w.table][id] = c
	w.deletes = append(w.deletes, id)
	p.plan.index = append(p.plan.index, nodeChange{space: c.Space, key: k, id: id, gone: true})
}

// compareNodes reads the nodes that exist, keeps the columns in which they differ from their puts, and counts what they
// no longer refer to.
func (p *planner) compareNodes(w *nodeWrites) error {
	puts := p.puts[w.table]
	stored, err := p.readNodes(w.table, slices.Concat(puts.keys, w.deletes))
	if err != nil {
		return err
	}
	for _, node := range stored {
		p.refer(&w.table.table, node.row, -1)
	}
	for _, id := range puts.keys {
		want := puts.puts[id]
		set := nodeSet{id: id, position: stored[id].position}
		for i, c := range w.table.columns {
			if v := want.row[i]; v != stored[id].row[i] {
				set.columns = append(set.columns, c)
				set.values = append(set.values, v)
			}
		}
		if len(set.columns) == 0 {
			continue
		}
		w.sets = append(w.sets, set)
		if err := p.removeNode(w.table, want.change, stored[id].row); err != nil {
			return err
		}
		p.plan.digest.Add(want.change)
	}
	for _, id := range w.deletes {
		if err := p.removeNode(w.table, p.gone[w.table][id], stored[id].row); err != nil {
			return err
		}
	}
	return nil
}

// removeNode takes the stored record with the key of the change out of the digest.
func (p *planner) removeNode(t *nodeTable, c graphstore.Change, row []any) error {
	old, err := t.decode(nodeKeyOf(c.Key()).key, &rowReader{row: row, i: nodeHead, texts: p.index.textOf})
	if err != nil {
		return damaged("%s %d: %w", t.name, row[colID], err)
	}
	old.Space = c.Space
	p.plan.digest.Remove(old)
	return nil
}
