package kuzu

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// errNotOpen reports reads between a replacement of the engine that failed and the write that mends it.
var errNotOpen = errors.New("graph file is closed until a write can open it")

// read runs fn in a read transaction, with the gate held shared: no checkpoint and no replacement happen meanwhile.
func (s *Store) read(ctx context.Context, fn func(*session) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.engine == nil {
		_, why := s.head.get()
		return fmt.Errorf("%w: %w", errNotOpen, why)
	}
	return s.engine.read(ctx, fn)
}

// Load implements [graphstore.Store]. The consistent state is that of one read transaction. A slow yield holds checkpoints
// up, and with them at last writes.
func (s *Store) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	if space.IsZero() {
		return graphstore.ErrNoSpace
	}
	return s.read(ctx, func(session *session) error {
		// A space that is deleted and made again between this look and the transaction has another number: the load
		// then yields the state between the two, nothing.
		no, ok := s.index.space(space)
		if !ok {
			return nil
		}
		l := newLoader(ctx, session, s.cfg.pageSizes(), yield)
		l.one, l.spaces[no] = &no, space
		return l.run()
	})
}

// LoadAll implements [graphstore.Store], like Load. It ends with [graphstore.ErrDamaged] when what it yielded is not what the
// head says, so what is made of it must not be used before it returns nil.
func (s *Store) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	return s.read(ctx, func(session *session) error {
		head, err := readHead(session, s.id)
		if err != nil {
			return err
		}
		var got graphstore.Digest
		err = loadAll(ctx, session, s.cfg.pageSizes(), func(c graphstore.Change) error {
			got.Add(c)
			return yield(c)
		})
		if err == nil && got != head.head.Digest {
			err = damaged("the records have digest %s, the head says %s", got, head.head.Digest)
		}
		return err
	})
}

// loadAll yields every record that the session sees.
func loadAll(ctx context.Context, s *session, sizes pageSizes, yield func(graphstore.Change) error) error {
	l := newLoader(ctx, s, sizes, yield)
	if err := eachSpace(s, func(no int64, space graphstore.Space) { l.spaces[no] = space }); err != nil {
		return err
	}
	return l.run()
}

// eachSpace reads the spaces of the file.
func eachSpace(s *session, each func(no int64, space graphstore.Space)) error {
	return s.query("MATCH (s:Space) RETURN s.no, s.user_id", nil, func(row []any) error {
		r := &rowReader{row: row}
		no, user := next[int64](r), next[string](r)
		if r.err != nil {
			return r.err
		}
		space, err := graphstore.NewSpace(user)
		if err != nil {
			return damaged("space %d: %v", no, err)
		}
		each(no, space)
		return nil
	})
}

// loader reads the records of one space or of all.
type loader struct {
	scanner
	yield  func(graphstore.Change) error
	spaces map[int64]graphstore.Space
	keys   *numbered[string] // of the nodes, for the ends of edges
	texts  *numbered[string] // that rows refer to
}

func newLoader(ctx context.Context, s *session, sizes pageSizes, yield func(graphstore.Change) error) *loader {
	return &loader{scanner: scanner{ctx: ctx, session: s, sizes: sizes}, yield: yield, spaces: make(map[int64]graphstore.Space),
		keys: newNumbered[string](), texts: newNumbered[string]()}
}

func (l *loader) textOf(id int64) (text string, ok bool) {
	text = l.texts.get(id)
	return text, text != ""
}

func (l *loader) run() error {
	texts := newTextReader(func(ids []int64, _ int64, text string) { l.texts.set(ids[0], text) })
	if _, err := l.readNodes(textTable, texts.add); err != nil {
		return err
	}
	if err := texts.finish(); err != nil {
		return err
	}
	extents := make(map[*nodeTable]extent)
	for _, t := range nodeTables() {
		x, err := l.readNodes(t, func(r *rowReader) error { return l.node(t, r) })
		if err != nil {
			return err
		}
		extents[t] = x
	}
	for _, t := range relTables() {
		if err := l.readEdges(t, extents[nodeTableOf(t.from)], l.edge); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) node(t *nodeTable, r *rowReader) error {
	id, no, key := next[int64](r), next[int64](r), strings.Clone(next[string](r))
	r.texts = l.textOf
	c, err := t.decode(key, r)
	if err != nil {
		return damaged("%s %d: %w", t.name, id, err)
	}
	l.keys.set(id, key)
	return l.emit(c, no)
}

func (l *loader) edge(r *rowReader) error {
	r.texts = l.textOf
	e, err := decodeEdge(r, l.keys.get)
	if err != nil {
		return damaged("edge %d to %d: %w", r.cells.numbers[colSrc], r.cells.numbers[colDst], err)
	}
	return l.emit(graphstore.Change{Edge: &e}, r.cells.numbers[colRelSpace])
}

func (l *loader) emit(c graphstore.Change, no int64) error {
	space, ok := l.spaces[no]
	if !ok {
		return damaged("%s: space %d is not in the file", c.Key(), no)
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	c.Space, c.Op = space, graphstore.Put
	return l.yield(c)
}
