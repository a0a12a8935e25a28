package kuzu

import (
	"context"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// PoolEdges returns the edges whose ends are both among the facts with these ids, in no promised order; ids that are not in
// the space count for nothing. It asks for each fact's edges by primary key, the fastest exact way there is in Kuzu.
//
// It is for diagnosis only, to compare what is in the file with what is in memory and to measure the difference in time:
// a search must never wait for it.
func (s *Store) PoolEdges(ctx context.Context, space graphstore.Space, ids []string) ([]graphstore.Edge, error) {
	if space.IsZero() {
		return nil, graphstore.ErrNoSpace
	}
	var edges []graphstore.Edge
	err := s.read(ctx, func(session *session) error {
		pool := make(map[int64]string, len(ids))
		for _, id := range ids {
			if no, ok := s.index.node(space, nodeKey{graphstore.KindFact, id}); ok {
				pool[no] = id
			}
		}
		var rows [][]any
		for no := range pool {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := session.query(relatedTable.readEdges(true), params{"id": no}, func(row []any) error {
				if _, inside := pool[row[colDst].(int64)]; inside {
					rows = append(rows, slices.Clone(row))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		texts, err := textsOf(session, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			r := &rowReader{row: row, texts: func(id int64) (string, bool) { return texts[id], true }}
			e, err := decodeEdge(r, func(id int64) string { return pool[id] })
			if err != nil {
				return damaged("edge %d to %d: %w", row[colSrc], row[colDst], err)
			}
			edges = append(edges, e)
		}
		return nil
	})
	return edges, err
}

// textsOf reads the texts that the rows of edges refer to.
func textsOf(s *session, rows [][]any) (map[int64]string, error) {
	texts := make(map[int64]string)
	for _, row := range rows {
		relatedTable.eachRef(row, func(id int64) { texts[id] = "" })
	}
	for id := range texts {
		for part := id; part != 0; {
			at := part
			part = 0
			found := false
			err := s.query(textTable.readNode(), params{"id": at}, func(row []any) error {
				found = true
				r := &rowReader{row: row, i: colKey}
				texts[id] += next[string](r)
				_, part = next[int64](r), next[int64](r)
				return r.err
			})
			if err != nil {
				return nil, err
			}
			if !found {
				return nil, damaged("text %d is not in the file", at)
			}
		}
	}
	return texts, nil
}
