package qdrant

import (
	"context"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// Info implements [vdb.Store]. It asks the server afresh, so it also notices a collection that was replaced. The points
// are counted exactly, those without a user id included.
func (s *Store) Info(ctx context.Context) (vdb.Info, error) {
	end, err := s.begin(ctx, "info")
	if err != nil {
		return vdb.Info{}, err
	}
	defer end()
	sh, err := s.askShape(ctx)
	if err != nil {
		return vdb.Info{}, fmt.Errorf("info: %w", err)
	}
	n, err := s.count(ctx, nil)
	if err != nil {
		return vdb.Info{}, fmt.Errorf("info: %w", err)
	}
	return vdb.Info{Driver: driverName, Collection: s.cfg.Collection, Dimension: sh.dim, Points: n, Keyword: sh.noKeyword == nil}, nil
}

func (s *Store) count(ctx context.Context, filter *pb.Filter) (int64, error) {
	n, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (uint64, error) {
		return s.client.Count(ctx, &pb.CountPoints{CollectionName: s.cfg.Collection, Filter: filter, Exact: pb.PtrOf(true)})
	})
	return int64(n), err
}
