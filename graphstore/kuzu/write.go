package kuzu

import (
	"fmt"
	"slices"
)

// writeSession writes plans. Each write asks the test hook first.
type writeSession struct {
	*session
	hook  func(query string) error
	batch batchRule
}

// write runs the statements of the plan in an open transaction: edges go before their nodes, nodes come before theirs.
func (w writeSession) write(p *plan) error {
	for _, e := range p.edges {
		for _, id := range e.deletes {
			if err := w.one(e.table.deleteEdge(), id.params()); err != nil {
				return err
			}
		}
	}
	if err := w.writeNodes(p); err != nil {
		return err
	}
	for _, e := range p.edges {
		if err := w.createEdges(e); err != nil {
			return err
		}
		for _, row := range e.sets {
			if err := w.one(e.table.setEdge(), rowParams(e.table.columns, row, colRelSpace)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w writeSession) writeNodes(p *plan) error {
	for _, n := range p.nodes {
		for _, id := range n.deletes {
			if err := w.one(n.table.deleteNode(), params{"id": id}); err != nil {
				return err
			}
		}
	}
	for _, no := range p.goneSpaces {
		if err := w.one("MATCH (s:Space {no: $no}) DELETE s RETURN count(*)", params{"no": no}); err != nil {
			return err
		}
	}
	for _, s := range p.newSpaces {
		if err := w.one("CREATE (s:Space {no: $no, user_id: $user_id}) RETURN count(*)", params{"no": s.no, "user_id": s.space.UserID()}); err != nil {
			return err
		}
	}
	for _, n := range p.nodes {
		if err := w.createNodes(n); err != nil {
			return err
		}
		for _, set := range n.sets {
			if err := w.one(n.table.setNode(set.columns), set.values); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w writeSession) createNodes(n *nodeWrites) error {
	if w.batch.pays(len(n.creates)) { // creating matches nothing
		return w.many(n.table.createNodes(), n.table.columns, n.creates)
	}
	return w.each(n.table.createNode(), n.table.columns, n.creates)
}

func (w writeSession) createEdges(e *edgeWrites) error {
	if w.batch.pays(len(e.creates), e.table.from, e.table.to) {
		return w.many(e.table.createEdges(), e.table.columns, e.creates)
	}
	return w.each(e.table.createEdge(), e.table.columns, e.creates)
}

func (w writeSession) each(query string, columns []column, rows [][]any) error {
	for _, row := range rows {
		if err := w.one(query, rowParams(columns, row)); err != nil {
			return err
		}
	}
	return nil
}

func (w writeSession) many(query string, columns []column, rows [][]any) error {
	for chunk := range slices.Chunk(rows, rowsPerBatch) {
		p := params{"n": int64(len(chunk))}
		for i, c := range columns {
			list := make([]any, len(chunk))
			for j, row := range chunk {
				list[j] = row[i]
			}
			p[c.name] = list
		}
		if err := w.expect(int64(len(chunk)), query, p); err != nil {
			return err
		}
	}
	return nil
}

func (w writeSession) one(query string, p params) error { return w.expect(1, query, p) }

// expect fails unless the statement writes this many records: a match that finds nothing is no error to Kuzu.
func (w writeSession) expect(want int64, query string, p params) error {
	if w.hook != nil {
		if err := w.hook(query); err != nil {
			return err
		}
	}
	got, err := w.count(query, p)
	if err == nil && got != want {
		err = fmt.Errorf("%s: wrote %d records, want %d", query, got, want)
	}
	return err
}

// rowParams returns a row as parameters, without some of the columns.
func rowParams(columns []column, row []any, without ...int) params {
	p := make(params, len(columns))
	for i, c := range columns {
		if !slices.Contains(without, i) {
			p[c.name] = row[i]
		}
	}
	return p
}

func (id edgeID) params() params {
	return params{"src": id.src, "dst": id.dst, "type": id.typ, "asserter_kind": id.by, "asserter_id": id.bID}
}
