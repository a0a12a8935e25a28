package qdrant

import (
	"context"
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Delete implements [vdb.Store]. Facts stored under both of their point ids lose both points.
func (s *Store) Delete(ctx context.Context, space graphstore.Space, ids []string) error {
	if space.IsZero() {
		return fmt.Errorf("delete: %w", graphstore.ErrNoSpace)
	}
	end, err := s.begin(ctx, "delete")
	if err != nil {
		return err
	}
	defer end()
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	for chunk := range slices.Chunk(ids, idsPerCall) {
		located, err := s.locate(ctx, sh, space, chunk)
		if err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		var doomed []pointID
		for _, id := range chunk {
			doomed = append(doomed, located[id]...)
		}
		if err := s.deletePoints(ctx, sh, space, doomed); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	return nil
}

// locate returns the point ids of the user's facts, including facts not asked for that are stored under the ids of
// others.
func (s *Store) locate(ctx context.Context, sh *shape, space graphstore.Space, ids []string) (map[string][]pointID, error) {
	points, err := s.own(ctx, sh, space, ids, pb.NewWithPayloadInclude(idField), false)
	if err != nil {
		return nil, err
	}
	located := make(map[string][]pointID, len(points))
	for _, p := range points {
		id, ok := pointIDOf(p.GetId())
		if !ok {
			continue
		}
		fact := id.factID(space, p.GetPayload()[idField].GetStringValue())
		located[fact] = append(located[fact], id)
	}
	return located, nil
}

// deletePoints removes points if they are the user's.
func (s *Store) deletePoints(ctx context.Context, sh *shape, space graphstore.Space, ids []pointID) error {
	if len(ids) == 0 {
		return nil
	}
	return s.deleteWhere(ctx, &pb.Filter{Must: []*pb.Condition{sh.user(space), hasIDs(ids)}})
}

// completed reports an update that the server has accepted and not finished.
func completed(result *pb.UpdateResult) error {
	if state := result.GetStatus(); state != pb.UpdateStatus_Completed {
		return fmt.Errorf("%w: the update is not applied yet (%s)", vdb.ErrUnavailable, state)
	}
	return nil
}
