package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Delete implements [vdb.Store]; the whole call is one transaction.
func (s *Store) Delete(ctx context.Context, space graphstore.Space, ids []string) error {
	if space.IsZero() {
		return fmt.Errorf("delete: %w", graphstore.ErrNoSpace)
	}
	leave, err := s.enter(ctx, "delete")
	if err != nil {
		return err
	}
	defer leave()
	if len(ids) == 0 {
		return nil
	}
	if err := s.write(ctx, func(w *writing) error { return w.delete(space, ids) }); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

func (w *writing) delete(space graphstore.Space, ids []string) error {
	user, err := w.user(space, false)
	if err != nil || user == nil {
		return err
	}
	for _, id := range ids {
		row, found, err := w.find(user, id)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		err = errors.Join(w.exec(w.s.deleteFact, row), w.exec(w.s.deleteVector, row), w.exec(w.s.deleteWords, row))
		if err != nil {
			return fmt.Errorf("point %s: %w", graphstore.Shorten(id), err)
		}
		user.points--
		user.deletedRev, user.changed = user.rev, true
	}
	return nil
}
