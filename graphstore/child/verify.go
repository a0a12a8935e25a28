package child

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

// Verify has the child's store read everything by a LoadAll, which compares it with the head, without sending it here. What
// [graphstore.ErrDamaged] and the death of the child lead to is as for LoadAll.
func (s *Store) Verify(ctx context.Context) error {
	err := s.call(ctx, func(p *process) error {
		return p.whileLoading(func() error {
			_, err := p.ask(ctx, methodVerify, nil)
			return err
		})
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
	return store.LoadAll(ctx, func(graphstore.Change) error { return nil })
}
