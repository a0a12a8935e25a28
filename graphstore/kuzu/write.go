package kuzu

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// writeSession writes plans. Each write asks the test hook first.
type writeSession struct {
	*session
	hook  func(query string) error
	batch batchRule
	index *index // as it was before the transaction
}

// write runs the statements of the plan in an open transaction: edges go before their nodes, nodes come before theirs.
func (w writeSession) write(p *plan) error {
	for _, e := range p.edges {
		if err := w.deleteEdges(e); err != nil {
			return err
		}
	}
	if err := w.writeNodes(p); err != nil {
		return err
	}
	for _, e := range p.edges {
		if err := w.createEdges(e); err != nil {
			return err
		}
		if err := w.setEdges(e); err != nil {
			return err
		}
	}
	return w.writeHead(p.head.before, p.head.after)
}

func (w writeSession) writeNodes(p *plan) error {
	for _, n := range p.nodes {
		if err := w.deleteNodes(n.table, n.deletes, w.index.count(n.table.kind)); err != nil {
			return err
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
	if err := w.writeTexts(p); err != nil {
		return err
	}
	for _, n := range p.nodes {
		if err := w.createRows(n.table, n.creates); err != nil {
			return err
		}
		if err := w.setNodes(n); err != nil {
			return err
		}
	}
	return nil
}

func (w writeSession) deleteEdges(e *edgeWrites) error {
	rows := make([][]any, len(e.deletes))
	for i, id := range e.deletes {
		rows[i] = id.row()
	}
	scanned := w.index.count(e.table.from) + w.index.edges[e.table]
	if w.batch.pays(len(rows), scanned, edgesPerStatement) {
		return w.many(e.table.deleteEdges(), identity(), rows, deletesPerBatch)
	}
	return w.each(e.table.deleteEdge(), identity(), rows)
}

func (w writeSession) writeTexts(p *plan) error {
	var gone []int64
	for _, id := range p.goneTexts {
		gone = append(gone, w.index.texts[id].ids...)
	}
	if err := w.deleteNodes(textTable, gone, len(w.index.texts)); err != nil {
		return err
	}
	spaces := make(map[graphstore.Space]int64)
	for _, s := range p.newSpaces {
		spaces[s.space] = s.no
	}
	var rows [][]any
	for _, t := range p.newTexts {
		no, fresh := spaces[t.space]
		if !fresh {
			no, _ = w.index.space(t.space)
		}
		rows = append(rows, textRows(t.text, t.ids, no)...)
	}
	return w.createRows(textTable, rows)
}

func (w writeSession) deleteNodes(t *nodeTable, ids []int64, scanned int) error {
	if !w.batch.pays(len(ids), scanned, keysPerStatement) {
		for _, id := range ids {
			if err := w.one(t.deleteNode(), params{"id": id}); err != nil {
				return err
			}
		}
		return nil
	}
	for ids := range slices.Chunk(ids, deletesPerBatch) {
		if err := w.expect(int64(len(ids)), t.deleteNodes(), params{"ids": anyList(ids)}); err != nil {
			return err
		}
	}
	return nil
}

func (w writeSession) createRows(t *nodeTable, rows [][]any) error {
	if w.batch.pays(len(rows), 0, keysPerStatement) {
		return w.manyNodes(t, rows)
	}
	return w.each(t.createNode(), t.columns, rows)
}

func (w writeSession) createEdges(e *edgeWrites) error {
	scanned := w.index.count(e.table.from) + w.index.count(e.table.to)
	if w.batch.pays(len(e.creates), scanned, keysPerStatement) {
		return w.many(e.table.createEdges(), e.table.columns, e.creates, edgesPerBatch)
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

func (w writeSession) manyNodes(t *nodeTable, rows [][]any) error {
	for chunk := range slices.Chunk(rows, rowsPerBatch) {
		p := params{"n": int64(len(chunk))}
		for i, c := range t.columns {
			list := make([]any, len(chunk))
			for j, row := range chunk {
				list[j] = row[i]
			}
			p[c.name] = list
		}
		if err := w.expect(int64(len(chunk)), t.createNodes(), p); err != nil {
			return err
		}
	}
	return nil
}

func (w writeSession) many(query string, columns []column, rows [][]any, size int) error {
	for chunk := range slices.Chunk(rows, size) {
		p, exact := rowsParams(columns, chunk)
		if !exact {
			return damaged("%s: a number beyond 2^53", query) // all of these were counted up from 1
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
		err = damaged("%s: wrote %d records, want %d", query, got, want)
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
