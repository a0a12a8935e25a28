package kuzu

import (
	"context"
	"errors"
	"fmt"

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
	ctx     context.Context //nolint:containedctx // lives as long as the call
	session *session
	sizes   pageSizes
	yield   func(graphstore.Change) error
	one     *int64 // the space's number; nil: all spaces
	spaces  map[int64]graphstore.Space
	keys    map[int64]string // of the nodes by number, for the ends of edges
	texts   map[int64]string // by number, for what rows refer to
	row     []any
}

func newLoader(ctx context.Context, s *session, sizes pageSizes, yield func(graphstore.Change) error) *loader {
	return &loader{ctx: ctx, session: s, sizes: sizes, yield: yield, spaces: make(map[int64]graphstore.Space),
		keys: make(map[int64]string), texts: make(map[int64]string)}
}

func (l *loader) textOf(id int64) (text string, ok bool) {
	text, ok = l.texts[id]
	return text, ok
}

func (l *loader) run() error {
	texts := newTextReader(func(ids []int64, _ int64, text string) { l.texts[ids[0]] = text })
	if _, err := l.table(textTable, texts.add); err != nil {
		return err
	}
	if err := texts.finish(); err != nil {
		return err
	}
	extents := make(map[*nodeTable]extent)
	for _, t := range nodeTables() {
		x, err := l.table(t, func(row []any) error { return l.node(t, row) })
		if err != nil {
			return err
		}
		extents[t] = x
	}
	for _, t := range relTables() {
		sources := extents[nodeTableOf(t.from)].pages(l.sizes.sources)
		if err := l.pages(sources, t.columns, t.pageOfEdges(l.one != nil), l.edge); err != nil {
			return err
		}
	}
	return nil
}

// table reads a node table and returns its extent.
func (l *loader) table(t *nodeTable, each func(row []any) error) (extent, error) {
	x, err := extentOf(l.session, t, l.one)
	if err != nil {
		return x, err
	}
	return x, l.pages(x.pages(l.sizes.nodes), t.columns, t.pageOfNodes(l.one != nil), each)
}

// pages runs the query for each page and hands on the rows.
func (l *loader) pages(pages []page, columns []column, query string, each func(row []any) error) error {
	for _, p := range pages {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		err := l.session.query(query, p.params(l.one), func(pack []any) (err error) {
			if l.row, err = unpack(columns, pack, l.row); err != nil {
				return damaged("%w", err)
			}
			return each(l.row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) node(t *nodeTable, row []any) error {
	id, no, key := row[colID].(int64), row[colSpace].(int64), row[colKey].(string)
	c, err := t.decode(key, &rowReader{row: row, i: nodeHead, texts: l.textOf})
	if err != nil {
		return damaged("%s %d: %w", t.name, id, err)
	}
	l.keys[id] = key
	return l.emit(c, no)
}

func (l *loader) edge(row []any) error {
	e, err := decodeEdge(row, l.keys, l.textOf)
	if err != nil {
		return damaged("edge %d to %d: %w", row[colSrc], row[colDst], err)
	}
	return l.emit(graphstore.Change{Edge: &e}, row[colRelSpace].(int64))
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
