package qdrant

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/vdb"
)

// Keyword implements [vdb.Store]: it is not supported, for the collection has no sparse vectors this driver knows of.
func (s *Store) Keyword(ctx context.Context, q vdb.KeywordQuery) ([]vdb.Match, error) {
	end, err := s.begin(ctx, "keyword")
	if err != nil {
		return nil, err
	}
	defer end()
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("keyword: qdrant collection %q: %w", s.cfg.Collection, vdb.ErrUnsupported)
}
