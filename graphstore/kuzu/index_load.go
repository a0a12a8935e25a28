package kuzu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/graphstore"
)

// loadIndex reads the numbers of all spaces, nodes and texts, and counts edges and references. It is what an Open takes
// longest for: the maps of the index are made in the right size, and while Kuzu reads on.
func loadIndex(s *session, sizes pageSizes) (*index, error) {
	l := &indexLoader{index: newIndex(), scanner: scanner{ctx: context.Background(), session: s, sizes: sizes},
		byNo: newNumbered[*loadedSpace](), byText: newNumbered[*textRef]()}
	if err := l.loadSpaces(); err != nil {
		return nil, err
	}
	if err := l.loadTexts(); err != nil {
		return nil, err
	}
	var mapping conc.WaitGroup
	defer mapping.Wait()
	mapping.Go(l.mapTexts)
	extents, err := l.loadNodes()
	if err != nil {
		return nil, err
	}
	var twice error
	mapping.Go(func() { twice = l.mapNodes() })
	for _, t := range relTables() {
		if err := l.countEdges(t, extents[t.from]); err != nil {
			return nil, err
		}
	}
	mapping.Wait()
	return l.index, twice
}

// indexLoader fills an index that nobody else has yet.
type indexLoader struct {
	*index
	scanner
	loaded []*loadedSpace
	byNo   *numbered[*loadedSpace]
	byText *numbered[*textRef]
}

// loadedSpace is a space of the index with what is going to be in its maps.
type loadedSpace struct {
	*spaceNodes
	space graphstore.Space
	texts []*textRef
	nodes []loadedNode
}

type loadedNode struct {
	nodeKey
	id int64
}

func (l *indexLoader) loadSpaces() error {
	err := eachSpace(l.session, func(no int64, space graphstore.Space) {
		l.addSpaceLocked(space, no)
		s := &loadedSpace{spaceNodes: l.spaces[space], space: space}
		l.loaded = append(l.loaded, s)
		l.byNo.set(no, s)
	})
	if err == nil && len(l.loaded) != len(l.spaces) {
		err = damaged("%d spaces have the names of %d", len(l.loaded), len(l.spaces))
	}
	return err
}

func (l *indexLoader) space(no int64) (*loadedSpace, error) {
	space := l.byNo.get(no)
	if space == nil {
		return nil, damaged("space %d is not in the file", no)
	}
	return space, nil
}

func (l *indexLoader) loadTexts() error {
	var failed error
	texts := newTextReader(func(ids []int64, no int64, text string) {
		space, err := l.space(no)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("text %d: %w", ids[0], err))
			return
		}
		entry := &textRef{textRow: textRow{slices.Clone(ids), space.space, text}}
		space.texts = append(space.texts, entry)
		l.byText.set(ids[0], entry)
		l.next = max(l.next, slices.Max(ids)+1)
	})
	_, err := l.readNodes(textTable, texts.add)
	return errors.Join(err, texts.finish(), failed)
}

// mapTexts makes the maps of texts.
func (l *indexLoader) mapTexts() {
	n := 0
	for _, s := range l.loaded {
		n += len(s.texts)
	}
	l.texts = make(map[int64]*textRef, n)
	for _, s := range l.loaded {
		s.spaceNodes.texts = make(map[string]*textRef, len(s.texts))
		for _, t := range s.texts {
			l.texts[t.ids[0]], s.spaceNodes.texts[t.text] = t, t
		}
	}
}

func (l *indexLoader) loadNodes() (map[graphstore.NodeKind]extent, error) {
	extents := make(map[graphstore.NodeKind]extent)
	for _, t := range nodeTables() {
		indexed := t.indexed()
		x, err := l.readNodes(indexed, func(r *rowReader) error { return l.addNode(indexed, r) })
		if err != nil {
			return nil, err
		}
		extents[t.kind] = x
	}
	return extents, nil
}

// indexed returns the table with the columns that the index needs only.
func (t *nodeTable) indexed() *nodeTable {
	return &nodeTable{table: table{t.name, append(t.columns[:nodeHead:nodeHead], t.refs()...)}, kind: t.kind}
}

func (l *indexLoader) addNode(t *nodeTable, r *rowReader) error {
	id, no := next[int64](r), next[int64](r)
	key := nodeKey{t.kind, strings.Clone(next[string](r))}
	space, err := l.space(no)
	if err != nil {
		return fmt.Errorf("%s %d: %w", t.name, id, err)
	}
	space.nodes = append(space.nodes, loadedNode{key, id})
	l.counts[t.kind]++
	l.next = max(l.next, id+1)
	return l.referAll(r, t.columns[nodeHead:])
}

// mapNodes makes the maps of nodes.
func (l *indexLoader) mapNodes() error {
	for _, s := range l.loaded {
		nodes := make(map[nodeKey]int64, len(s.nodes))
		for _, n := range s.nodes {
			nodes[n.nodeKey] = n.id
		}
		if len(nodes) != len(s.nodes) {
			return damaged("space %d: %d nodes have the keys of %d", s.no, len(s.nodes), len(nodes))
		}
		s.spaceNodes.nodes = nodes
	}
	return nil
}

// countEdges counts the edges of a table, in Kuzu, and what they refer to.
func (l *indexLoader) countEdges(t *relTable, sources extent) error {
	n, err := l.session.count(t.countEdges(), nil)
	if err != nil {
		return err
	}
	l.edges[t] = int(n)
	refs := t.refs()
	return l.readRefs(t, sources, n, func(r *rowReader) error { return l.referAll(r, refs) })
}

// referAll counts the references of what the reader has left.
func (l *indexLoader) referAll(r *rowReader, refs []column) error {
	for range refs {
		if err := l.refer(next[int64](r)); err != nil {
			return err
		}
	}
	return r.err
}

// refer counts a reference. Numbers that are not positive are no text's.
func (l *indexLoader) refer(id int64) error {
	if id <= 0 {
		return nil
	}
	t := l.byText.get(id)
	if t == nil {
		return damaged("text %d is not in the file", id)
	}
	t.refs++
	return nil
}
