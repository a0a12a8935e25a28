package qdrant

import (
	"context"
	"errors"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// assumedPointBytes is what a point without its vector is taken to need in an answer.
const assumedPointBytes = 2 << 10

// scroll reads up to limit points from the offset on and the id that the next page begins with, nil at the end. It asks
// for as many at a time as half of an answer of the largest size should hold, and for half as many whenever that was too
// much.
func (s *Store) scroll(ctx context.Context, req *pb.ScrollPoints, limit, dim int) ([]*pb.RetrievedPoint, *pb.PointId, error) {
	perPoint := assumedPointBytes
	if req.GetWithVectors().GetInclude() != nil || req.GetWithVectors().GetEnable() {
		perPoint += 4 * dim
	}
	size := max(1, s.cfg.MaxMessageBytes/2/perPoint)
	var points []*pb.RetrievedPoint
	for {
		size = min(size, limit-len(points))
		req.Limit = pb.PtrOf(uint32(size))
		page, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (*pb.ScrollResponse, error) {
			return s.client.GetPointsClient().Scroll(ctx, req)
		})
		if errors.Is(err, errTooLarge) && size > 1 {
			size /= 2
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		points = append(points, page.GetResult()...)
		req.Offset = page.GetNextPageOffset()
		if req.Offset == nil || len(points) >= limit {
			return points, req.Offset, nil
		}
	}
}
