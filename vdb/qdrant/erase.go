package qdrant

import (
	"context"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Count implements [vdb.Store]. Points of the user that are no facts count too.
func (s *Store) Count(ctx context.Context, space graphstore.Space) (int64, error) {
	if space.IsZero() {
		return 0, fmt.Errorf("count: %w", graphstore.ErrNoSpace)
	}
	end, err := s.begin(ctx, "count")
	if err != nil {
		return 0, err
	}
	defer end()
	n, err := s.countOf(ctx, space)
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

func (s *Store) countOf(ctx context.Context, space graphstore.Space) (int64, error) {
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return 0, err
	}
	return s.count(ctx, &pb.Filter{Must: []*pb.Condition{sh.user(space)}})
}

// Erase implements [vdb.Store]: it has the server delete by the user. When the server takes the bytes out of its segments
// is the server's: with its optimizer's next run.
func (s *Store) Erase(ctx context.Context, space graphstore.Space) (int64, error) {
	if space.IsZero() {
		return 0, fmt.Errorf("erase: %w", graphstore.ErrNoSpace)
	}
	end, err := s.begin(ctx, "erase")
	if err != nil {
		return 0, err
	}
	defer end()
	n, err := s.countOf(ctx, space)
	if err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	if err := s.deleteWhere(ctx, &pb.Filter{Must: []*pb.Condition{sh.user(space)}}); err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	return n, nil
}

// deleteWhere removes the points that pass the filter.
func (s *Store) deleteWhere(ctx context.Context, filter *pb.Filter) error {
	result, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (*pb.UpdateResult, error) {
		return s.client.Delete(ctx, &pb.DeletePoints{
			CollectionName: s.cfg.Collection, Wait: pb.PtrOf(true), Points: pb.NewPointsSelectorFilter(filter),
		})
	})
	if err != nil {
		return err
	}
	return completed(result)
}
