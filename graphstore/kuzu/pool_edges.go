package kuzu

import (
	"context"
	"fmt"

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
		for no := range pool {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := session.query(relatedTable.readEdges(true), params{"id": no}, func(row []any) error {
				e, src, dst, err := decodeEdge(row)
				if err != nil {
					return fmt.Errorf("edge %d to %d: %w", src, dst, err)
				}
				target, inside := pool[dst]
				if inside {
					e.Source, e.Target = pool[src], target
					edges = append(edges, e)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return edges, err
}
