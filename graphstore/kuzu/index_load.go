package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// loadIndex reads the numbers of all spaces and nodes, and counts the edges.
func loadIndex(s *session, sizes pageSizes) (*index, error) {
	x := newIndex()
	byNo := make(map[int64]graphstore.Space)
	err := eachSpace(s, func(no int64, space graphstore.Space) {
		byNo[no] = space
		x.addSpaceLocked(space, no)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range nodeTables() {
		if err := x.loadNodes(s, t, sizes, byNo); err != nil {
			return nil, err
		}
	}
	for _, t := range relTables() {
		n, err := s.count(t.countEdges(), nil)
		if err != nil {
			return nil, err
		}
		x.edges[t] = int(n)
	}
	return x, nil
}

func (x *index) loadNodes(s *session, t *nodeTable, sizes pageSizes, byNo map[int64]graphstore.Space) error {
	head := t.columns[:nodeHead]
	extent, err := extentOf(s, t, nil)
	if err != nil {
		return err
	}
	query := fmt.Sprintf("MATCH (n:%s) WHERE %s RETURN %s", t.name, inPage("n", false), packed("n", head))
	var row []any
	for _, p := range extent.pages(sizes.nodes) {
		err := s.query(query, p.params(nil), func(pack []any) (err error) {
			if row, err = unpack(head, pack, row); err != nil {
				return err
			}
			id, no, key := row[colID].(int64), row[colSpace].(int64), row[colKey].(string)
			space, known := byNo[no]
			if !known {
				return fmt.Errorf("%s %d: space %d is not in the file", t.name, id, no)
			}
			x.addLocked(nodeChange{space: space, key: nodeKey{t.kind, key}, id: id})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
