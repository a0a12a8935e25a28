package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Get implements [vdb.Store]. When vectors are asked for, points without the searched vector are left out.
func (s *Store) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	if space.IsZero() {
		return nil, fmt.Errorf("get: %w", graphstore.ErrNoSpace)
	}
	end, err := s.begin(ctx, "get")
	if err != nil {
		return nil, err
	}
	defer end()
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	found := make(map[string]vdb.Point, len(ids))
	for chunk := range slices.Chunk(ids, idsPerCall) {
		points, err := s.own(ctx, sh, space, chunk, pb.NewWithPayload(true), withVectors)
		if err == nil {
			err = s.collect(found, points, sh, space, withVectors)
		}
		if err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
	}
	return inOrder(ids, found), nil
}

// collect adds the facts among the points. Of a fact stored twice the one under its direct id counts, which the memory
// system itself writes.
func (s *Store) collect(
	found map[string]vdb.Point, points []*pb.RetrievedPoint, sh *shape, space graphstore.Space, withVectors bool,
) error {
	for _, p := range points {
		fact, ok, err := s.decodeFact(p, sh, space, withVectors)
		switch {
		case errors.Is(err, errNoVector):
			s.warnUnreadable(err.Error())
			continue
		case err != nil:
			return err
		}
		if _, twice := found[fact.ID]; ok && (!twice || isDirect(p, fact.ID)) {
			found[fact.ID] = fact
		}
	}
	return nil
}

// own reads the user's points under the ids of the facts. It scrolls with a filter because a read by point id has none.
func (s *Store) own(
	ctx context.Context, sh *shape, space graphstore.Space, ids []string, payload *pb.WithPayloadSelector, withVectors bool,
) ([]*pb.RetrievedPoint, error) {
	candidates := allCandidates(space, ids)
	points, _, err := s.scroll(ctx, &pb.ScrollPoints{
		CollectionName: s.cfg.Collection,
		Filter:         &pb.Filter{Must: []*pb.Condition{sh.user(space), hasIDs(candidates)}},
		WithPayload:    payload,
		WithVectors:    s.withVectors(withVectors),
	}, len(candidates), sh.dim)
	return points, err
}

func isDirect(p *pb.RetrievedPoint, fact string) bool {
	id, ok := pointIDOf(p.GetId())
	return ok && id.String() == fact
}

// inOrder returns the points that were found in the order of the ids, each once.
func inOrder(ids []string, found map[string]vdb.Point) []vdb.Point {
	var points []vdb.Point
	for _, id := range ids {
		if p, ok := found[id]; ok {
			points = append(points, p)
			delete(found, id)
		}
	}
	return points
}
