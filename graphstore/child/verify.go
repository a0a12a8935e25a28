package child

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

type verifier interface {
	Verify(ctx context.Context) error
}

// Verify has the child's store read everything and compare it with the head, without sending it here; by its method of this
// name, or by a LoadAll. What [graphstore.ErrDamaged] and the death of the child lead to is as for LoadAll.
func (s *Store) Verify(ctx context.Context) error {
	err := s.call(ctx, func(p *process) error {
		p.loads.Add(1)
		_, err := p.ask(ctx, methodVerify, nil)
		if _, lost := err.(*lostError); lost { //nolint:errorlint // as in call
			return err // and in the eyes of who looks into the death, the load goes on
		}
		p.loads.Add(-1)
		return err
	})
	if err == nil {
		s.loadDeaths.Store(0)
	}
	return err
}

func (s *service) verify(ctx context.Context, _ *decoder, _ *encoder) error {
	store, err := s.opened()
	if err != nil {
		return err
	}
	if able, is := store.(verifier); is {
		return able.Verify(ctx)
	}
	return store.LoadAll(ctx, func(graphstore.Change) error { return nil })
}
