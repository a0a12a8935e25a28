package qdrant

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/vdb"
)

// Hybrid implements [vdb.Store]: it is not supported, for the collection has no sparse vectors this driver knows of.
func (s *Store) Hybrid(ctx context.Context, q vdb.HybridQuery) (vdb.HybridMatches, error) {
	end, err := s.begin(ctx, "hybrid search")
	if err != nil {
		return vdb.HybridMatches{}, err
	}
	defer end()
	if err := q.Validate(0); err != nil {
		return vdb.HybridMatches{}, err
	}
	return vdb.HybridMatches{}, fmt.Errorf("hybrid search: qdrant collection %q: %w", s.cfg.Collection, vdb.ErrUnsupported)
}
