package kuzu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// loadIndex reads the numbers of all spaces, nodes and texts, and counts edges and references.
func loadIndex(s *session, sizes pageSizes) (*index, error) {
	l := &indexLoader{index: newIndex(), session: s, sizes: sizes, byNo: make(map[int64]graphstore.Space)}
	err := eachSpace(s, func(no int64, space graphstore.Space) {
		l.byNo[no] = space
		l.addSpaceLocked(space, no)
	})
	if err != nil {
		return nil, err
	}
	if len(l.byNo) != len(l.spaces) {
		return nil, damaged("%d spaces have the names of %d", len(l.byNo), len(l.spaces))
	}
	if err := l.loadTexts(); err != nil {
		return nil, err
	}
	for _, t := range nodeTables() {
		indexed := t.indexed()
		if err := l.pages(indexed, func(row []any) error { return l.addNode(indexed, row) }); err != nil {
			return nil, err
		}
	}
	for _, t := range relTables() {
		if err := l.countEdges(t); err != nil {
			return nil, err
		}
	}
	return l.index, nil
}

// indexLoader fills an index that nobody else has yet.
type indexLoader struct {
	*index
	session *session
	sizes   pageSizes
	byNo    map[int64]graphstore.Space
}

// indexed returns the table with the columns that the index needs only.
func (t *nodeTable) indexed() *nodeTable {
	columns := slices.Clone(t.columns[:nodeHead])
	for _, c := range t.columns[nodeHead:] {
		if c.kind == ref {
			columns = append(columns, c)
		}
	}
	return &nodeTable{table: table{t.name, columns}, kind: t.kind}
}

// pages hands on the rows of a table.
func (l *indexLoader) pages(t *nodeTable, each func(row []any) error) error {
	extent, err := extentOf(l.session, t, nil)
	if err != nil {
		return err
	}
	var row []any
	for _, p := range extent.pages(l.sizes.nodes) {
		err := l.session.query(t.pageOfNodes(false), p.params(nil), func(pack []any) (err error) {
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

func (l *indexLoader) space(no int64) (graphstore.Space, error) {
	space, ok := l.byNo[no]
	if !ok {
		return space, damaged("space %d is not in the file", no)
	}
	return space, nil
}

func (l *indexLoader) loadTexts() error {
	var failed error
	r := newTextReader(func(ids []int64, no int64, text string) {
		space, err := l.space(no)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("text %d: %w", ids[0], err))
			return
		}
		l.addTextLocked(textRow{ids, space, text})
	})
	return errors.Join(l.pages(textTable, r.add), r.finish(), failed)
}

func (l *indexLoader) addNode(t *nodeTable, row []any) error {
	space, err := l.space(row[colSpace].(int64))
	if err != nil {
		return fmt.Errorf("%s %d: %w", t.name, row[colID], err)
	}
	key := nodeKey{t.kind, row[colKey].(string)}
	if other, twice := l.spaces[space].nodes[key]; twice {
		return damaged("%s: nodes %d and %d are the same", t.name, other, row[colID])
	}
	l.addLocked(nodeChange{space: space, key: key, id: row[colID].(int64)})
	t.eachRef(row, func(id int64) { err = errors.Join(err, l.refer(id, 1)) })
	return err
}

func (l *indexLoader) refer(id int64, times int) error {
	t, ok := l.texts[id]
	if !ok {
		return damaged("text %d is not in the file", id)
	}
	t.refs += times
	return nil
}

// countEdges counts the edges of a table and the references of each of its columns, in Kuzu.
func (l *indexLoader) countEdges(t *relTable) error {
	n, err := l.session.count(t.countEdges(), nil)
	if err != nil {
		return err
	}
	l.edges[t] = int(n)
	for _, c := range t.columns {
		if c.kind != ref {
			continue
		}
		err := l.session.query(t.countRefs(c), nil, func(row []any) error {
			r := &rowReader{row: row}
			id, times := next[int64](r), next[int64](r)
			return cmp.Or(r.err, l.refer(id, int(times)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
