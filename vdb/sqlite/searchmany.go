package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// SearchMany implements [vdb.Store]. The answers are exact. Queries of one space and filter share one pass over the user's points.
func (s *Store) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	leave, err := s.enter(ctx, "search many")
	if err != nil {
		return nil, err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return nil, fmt.Errorf("search many: %w", err)
	}
	if err := vdb.ValidateMany(queries, dim); err != nil {
		return nil, err
	}
	spaces, err := bySpace(queries)
	if err != nil {
		return nil, err
	}
	out := make([][]vdb.Match, len(queries))
	if dim == 0 { // without a dimension there is no point
		return out, nil
	}
	for _, a := range spaces {
		if err := s.searchSpace(ctx, dim, a, queries, out); err != nil {
			return nil, wrap(ctx, "search many", err)
		}
	}
	return out, nil
}

// asked is which of several queries are of one space, by filter.
type asked struct {
	space   graphstore.Space
	filters []askedFilter
}

type askedFilter struct {
	is       vdb.Filter
	compiled filter
	at       []int // the queries
}

// bySpace sorts queries by space and filter.
func bySpace(queries []vdb.Query) ([]*asked, error) {
	var spaces []*asked
	known := map[graphstore.Space]*asked{}
	for i, q := range queries {
		a := known[q.Space]
		if a == nil {
			a = &asked{space: q.Space}
			known[q.Space] = a
			spaces = append(spaces, a)
		}
		if err := a.add(i, q.Filter); err != nil {
			return nil, fmt.Errorf("queries[%d]: %w", i, err)
		}
	}
	return spaces, nil
}

// add adds a query. Filters that mean the same and are written in two ways count as two.
func (a *asked) add(i int, is vdb.Filter) error {
	for j := range a.filters {
		if f := &a.filters[j]; reflect.DeepEqual(f.is, is) {
			f.at = append(f.at, i)
			return nil
		}
	}
	compiled, err := newFilter(is)
	a.filters = append(a.filters, askedFilter{is: is, compiled: compiled, at: []int{i}})
	return err
}

// searchSpace sets the answers to the queries of one space. The points are scored outside of any transaction, since that
// may take long and connections are few; when the user was written to before the payloads were read, everything is done again in
// one transaction.
func (s *Store) searchSpace(ctx context.Context, dim int, a *asked, queries []vdb.Query, out [][]vdb.Match) error {
	var m *matrix
	err := s.snapshot(ctx, func(tx *sql.Tx) (err error) {
		m, err = s.matrixIn(ctx, tx, a.space, dim)
		return err
	})
	if err != nil || m == nil {
		return err
	}
	fresh, err := s.searchMatrixMany(ctx, nil, m, a, queries, out)
	if err != nil || fresh {
		return err
	}
	return s.snapshot(ctx, func(tx *sql.Tx) error {
		m, err := s.matrixIn(ctx, tx, a.space, dim)
		if err != nil || m == nil {
			return err
		}
		_, err = s.searchMatrixMany(ctx, tx, m, a, queries, out)
		return err
	})
}

// searchMatrixMany is searchMatrix for many queries. Where nothing but the matrix was looked at, it is the state of the user
// whatever was written meanwhile.
func (s *Store) searchMatrixMany(ctx context.Context, tx *sql.Tx, m *matrix, a *asked, queries []vdb.Query, out [][]vdb.Match) (bool, error) {
	found, read, err := s.hitsMany(ctx, tx, m, a, queries)
	if err != nil {
		return false, err
	}
	wanted := wantedOnce(queries, found)
	var fill filling
	if read || len(wanted) > 0 {
		if fill, err = s.readPayloads(ctx, tx, m, wanted); err != nil || fill.rev != m.rev {
			return false, err
		}
	}
	for i, hits := range found {
		if out[i], err = fill.answer(queries[i], hits, m.dim); err != nil {
			return false, err
		}
	}
	return true, nil
}

// hitsMany returns the hits by query, and whether the file was read for them.
func (s *Store) hitsMany(ctx context.Context, tx *sql.Tx, m *matrix, a *asked, queries []vdb.Query) (found map[int][]hit, read bool, err error) {
	found = map[int][]hit{}
	for _, f := range a.filters {
		read = read || len(f.compiled.contents) > 0
		take, err := s.accepts(ctx, tx, m, f.compiled)
		if err != nil {
			return nil, read, err
		}
		some := make([]vdb.Query, len(f.at))
		for j, i := range f.at {
			some[j] = queries[i]
		}
		hits, err := m.nearestMany(ctx, s.helpers, some, take)
		if err != nil {
			return nil, read, err
		}
		for j, i := range f.at {
			found[i] = hits[j]
		}
	}
	return found, read, nil
}

// wantedOnce returns the hits whose payloads any of the queries wants, each point once.
func wantedOnce(queries []vdb.Query, found map[int][]hit) []hit {
	var wanted []hit
	seen := map[int64]bool{}
	for i, hits := range found {
		for _, h := range payloadHits(queries[i], hits) {
			if !seen[h.row()] {
				seen[h.row()] = true
				wanted = append(wanted, h)
			}
		}
	}
	return wanted
}
