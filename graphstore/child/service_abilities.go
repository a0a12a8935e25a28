package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// What a store in a child may be able to do beyond the contract.
type (
	backuper interface {
		Backup(ctx context.Context, path string) (graphstore.Head, graphstore.Stats, error)
	}
	checkpointer interface {
		Checkpoint(ctx context.Context) error
	}
	leaker interface{ Leaked() int64 }
)

// ability returns the store as one that has the method named, or an error that says which it lacks.
func ability[A any](s *service, method string) (A, error) {
	var none A
	store, err := s.opened()
	if err != nil {
		return none, err
	}
	able, is := store.(A)
	if !is {
		return none, fmt.Errorf("store %T has no method %s: %w", store, method, errors.ErrUnsupported)
	}
	return able, nil
}

func (s *service) head(ctx context.Context, _ *decoder, out *encoder) error {
	store, err := s.opened()
	if err != nil {
		return err
	}
	h, err := store.Head(ctx)
	if err != nil {
		return err
	}
	out.head(h)
	return nil
}

func (s *service) backup(ctx context.Context, in *decoder, out *encoder) error {
	path := in.text()
	if in.err != nil {
		return in.err
	}
	store, err := ability[backuper](s, "Backup")
	if err != nil {
		return err
	}
	h, st, err := store.Backup(ctx, path)
	if err != nil {
		return err
	}
	out.head(h)
	out.stats(st)
	return nil
}

func (s *service) checkpoint(ctx context.Context, _ *decoder, _ *encoder) error {
	store, err := ability[checkpointer](s, "Checkpoint")
	if err != nil {
		return err
	}
	return store.Checkpoint(ctx)
}

func (s *service) leaked(_ context.Context, _ *decoder, out *encoder) error {
	store, err := ability[leaker](s, "Leaked")
	if err != nil {
		return err
	}
	out.varint(store.Leaked())
	return nil
}
