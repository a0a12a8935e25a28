package live_test

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// slowLoads is a store whose Load, while slow is set, has read everything when it says so on read, and yields it when
// finish is closed.
type slowLoads struct {
	*graphstoretest.Memory
	slow         atomic.Bool
	read, finish chan struct{}
}

func (s *slowLoads) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	if !s.slow.Load() {
		return s.Memory.Load(ctx, space, yield)
	}
	var old []graphstore.Change
	if err := s.Memory.Load(ctx, space, func(c graphstore.Change) error { old = append(old, c); return nil }); err != nil {
		return err
	}
	s.read <- struct{}{}
	<-s.finish
	for _, c := range old {
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

// loses is a store that does not yield one record it has.
type loses struct {
	*graphstoretest.Memory
	record graphstore.Key
}

func (s *loses) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	return s.Memory.LoadAll(ctx, func(c graphstore.Change) error {
		if c.Key() == s.record {
			return nil
		}
		return yield(c)
	})
}

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
