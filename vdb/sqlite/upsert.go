package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// BatchPoints is the number of points up to which one Upsert is one transaction. A larger call is several, in the order
// of the slice, so that other writers get their turn.
const BatchPoints = 5000

// Upsert implements [vdb.Store]. All points are checked before the first is stored; a call of more than [BatchPoints] that
// fails later, on the disk or by its context, has stored whole batches. Text that is not UTF-8 or holds a NUL is refused.
func (s *Store) Upsert(ctx context.Context, points []vdb.Point) error {
	leave, err := s.enter(ctx, "upsert")
	if err != nil {
		return err
	}
	defer leave()
	dim, err := s.dimension(ctx)
	if err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	records, err := newRecords(points, dim)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(records, BatchPoints) {
		if err := s.write(ctx, func(w *writing) error { return w.upsert(batch) }); err != nil {
			return fmt.Errorf("upsert: %w", err)
		}
		s.dim.Store(int64(len(points[0].Vector)))
	}
	return nil
}

// record is a point with its payload made ready for the file.
type record struct {
	point  *vdb.Point
	values []any
}

// newRecords checks the points. An unknown dimension, 0, is that of the first point.
func newRecords(points []vdb.Point, dim int) ([]record, error) {
	records := make([]record, len(points))
	for i := range points {
		p := &points[i]
		if err := p.Validate(dim); err != nil {
			return nil, err
		}
		if dim = len(p.Vector); dim > MaxDimension {
			return nil, fmt.Errorf("%w: point %s: vector has %d dimensions: want at most %d", vdb.ErrBadPoint, graphstore.Shorten(p.ID), dim, MaxDimension)
		}
		values, err := payloadValues(p.Payload)
		if err != nil {
			return nil, fmt.Errorf("%w: point %s: %w", vdb.ErrBadPoint, graphstore.Shorten(p.ID), err)
		}
		records[i] = record{p, values}
	}
	return records, nil
}

func (w *writing) upsert(batch []record) error {
	if err := w.fixDimension(len(batch[0].point.Vector)); err != nil {
		return err
	}
	for _, r := range batch {
		if err := w.put(r); err != nil {
			return fmt.Errorf("point %s: %w", graphstore.Shorten(r.point.ID), err)
		}
	}
	return nil
}

// fixDimension records the dimension of the first points, or compares: another process may have been faster.
func (w *writing) fixDimension(dim int) error {
	have, err := readMeta(w.ctx, w.tx, metaDimension)
	switch {
	case err != nil:
		return err
	case have == 0:
		return writeMeta(w.ctx, w.tx, metaDimension, int64(dim))
	case have != int64(dim):
		return fmt.Errorf("%w: %w", vdb.ErrBadPoint, &vdb.DimensionError{Got: dim, Want: int(have)})
	}
	return nil
}

func (w *writing) put(r record) error {
	user, err := w.user(r.point.Space, true)
	if err != nil {
		return err
	}
	row, found, err := w.find(user, r.point.ID)
	if err != nil {
		return err
	}
	if found {
		err = errors.Join(w.exec(w.s.setFact, append(r.values, user.rev, row)...), w.exec(w.s.deleteWords, row))
	} else {
		if row, err = user.nextRow(); err == nil {
			err = w.exec(w.s.addFact, append(r.values, user.rev, row, user.no, r.point.ID)...)
		}
	}
	if err != nil {
		return err
	}
	unit, norm := normalise(r.point.Vector)
	if err := w.exec(w.s.putVector, row, norm, encodeVector(unit)); err != nil {
		return err
	}
	tokens := vdb.Tokenize(r.point.Payload.Content)
	if len(tokens) == 0 {
		return nil
	}
	return w.exec(w.s.addWords, row, userToken(user.no), strings.Join(tokens, " "))
}

// find returns the row of a point.
func (w *writing) find(user *writtenUser, id string) (row int64, found bool, err error) {
	err = queryRow(w.ctx, w.tx, w.s.find, user.no, id).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return row, err == nil, err
}
