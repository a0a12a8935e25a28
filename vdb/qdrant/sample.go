package qdrant

import (
	"context"
	"fmt"
	"maps"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// MaxSample is the most points of a [Store.Sample].
const MaxSample = 1000

// middleID is the middle of the UUIDs. Those of one kind begin with a time or are random, so one half of a sample comes from
// the beginning and the other from here.
const middleID = "80000000-0000-0000-0000-000000000000"

// Sample describes the collection and returns up to n of its points, 1 to [MaxSample], as they are: the first half in the
// order of ids, the rest from the middle of the UUIDs on, or where the first half ends if there are too few. It takes
// collections that a search would refuse, and creates none.
func (s *Store) Sample(ctx context.Context, n int) (vdb.Sample, error) {
	end, err := s.begin(ctx, "sample")
	if err != nil {
		return vdb.Sample{}, err
	}
	defer end()
	if n < 1 || n > MaxSample {
		return vdb.Sample{}, fmt.Errorf("sample: %w: %d points: want 1 to %d", vdb.ErrBadQuery, n, MaxSample)
	}
	info, err := s.describe(ctx)
	if err != nil {
		return vdb.Sample{}, fmt.Errorf("sample: %w", err)
	}
	out := vdb.Sample{Collection: s.cfg.Collection, Vectors: vectorShapes(info.GetConfig().GetParams())}
	if out.Total, err = s.count(ctx, nil); err != nil {
		return vdb.Sample{}, fmt.Errorf("sample: %w", err)
	}
	points, err := s.samplePoints(ctx, n, widest(out.Vectors))
	if err != nil {
		return vdb.Sample{}, fmt.Errorf("sample: %w", err)
	}
	for _, p := range points {
		out.Points = append(out.Points, sampled(p))
	}
	return out, nil
}

// samplePoints reads the points of a sample, each once.
func (s *Store) samplePoints(ctx context.Context, n, dim int) ([]*pb.RetrievedPoint, error) {
	read := func(offset *pb.PointId, limit int) ([]*pb.RetrievedPoint, *pb.PointId, error) {
		return s.scroll(ctx, &pb.ScrollPoints{
			CollectionName: s.cfg.Collection, Offset: offset,
			WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true),
		}, limit, dim)
	}
	points, next, err := read(nil, (n+1)/2)
	if err != nil || next == nil || len(points) >= n {
		return points, err
	}
	middle, _, err := read(pb.NewIDUUID(middleID), n-len(points))
	if err != nil {
		return nil, err
	}
	points = distinct(points, middle)
	if len(points) == n {
		return points, nil
	}
	more, _, err := read(next, n)
	if err != nil {
		return nil, err
	}
	points = distinct(points, more)
	return points[:min(n, len(points))], nil
}

// distinct appends those of more that are not among the points.
func distinct(points, more []*pb.RetrievedPoint) []*pb.RetrievedPoint {
	known := map[pointID]bool{}
	for _, p := range points {
		id, _ := pointIDOf(p.GetId())
		known[id] = true
	}
	for _, p := range more {
		if id, _ := pointIDOf(p.GetId()); !known[id] {
			points = append(points, p)
		}
	}
	return points
}

func sampled(p *pb.RetrievedPoint) vdb.RawPoint {
	id, _ := pointIDOf(p.GetId())
	out := vdb.RawPoint{ID: id.String(), Payload: decodeObject(p.GetPayload())}
	if p.GetVectors().GetVector() != nil {
		out.Vectors = []string{""}
	}
	if named := p.GetVectors().GetVectors().GetVectors(); named != nil {
		out.Vectors = slices.Sorted(maps.Keys(named))
	}
	return out
}
