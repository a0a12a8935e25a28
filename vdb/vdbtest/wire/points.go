package wire

import (
	"context"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pointsService reads and writes points.
type pointsService struct {
	pb.UnimplementedPointsServer
	s *Server
}

// Get returns the existing ones of the points in the order asked for, each once, without a filter.
func (svc pointsService) Get(_ context.Context, req *pb.GetPoints) (*pb.GetResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	resp := &pb.GetResponse{}
	seen := map[pointKey]bool{}
	for _, id := range req.GetIds() {
		key, err := parsePointID(id)
		if err != nil {
			return nil, err
		}
		p := c.points[key]
		if p == nil || seen[key] {
			continue
		}
		seen[key] = true
		r, err := svc.s.retrieved(c, p, req.GetWithPayload(), req.GetWithVectors())
		if err != nil {
			return nil, err
		}
		resp.Result = append(resp.Result, r)
	}
	return resp, nil
}

// Count counts the points that pass a filter, exactly whatever was asked.
func (svc pointsService) Count(_ context.Context, req *pb.CountPoints) (*pb.CountResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	holds, err := compileFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	var n uint64
	for _, key := range c.candidates(req.GetFilter()) {
		if holds(c.points[key]) {
			n++
		}
	}
	return &pb.CountResponse{Result: &pb.CountResult{Count: n}}, nil
}

// Scroll returns a page in id order from the offset on, and the id that the next page starts with.
func (svc pointsService) Scroll(_ context.Context, req *pb.ScrollPoints) (*pb.ScrollResponse, error) {
	if req.OrderBy != nil {
		return nil, status.Error(codes.Unimplemented, "wire: scrolls are in id order only")
	}
	limit := uint32(10)
	if req.Limit != nil {
		limit = req.GetLimit()
	}
	if limit == 0 {
		return nil, errLimit
	}
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	page, next, err := c.page(req.GetFilter(), req.GetOffset(), int(limit))
	if err != nil {
		return nil, err
	}
	resp := &pb.ScrollResponse{NextPageOffset: next}
	for _, p := range page {
		r, err := svc.s.retrieved(c, p, req.GetWithPayload(), req.GetWithVectors())
		if err != nil {
			return nil, err
		}
		resp.Result = append(resp.Result, r)
	}
	return resp, nil
}

// page walks the ids from the offset on until limit points have passed, and one more to know where the next page starts.
func (c *collection) page(f *pb.Filter, offset *pb.PointId, limit int) ([]*point, *pb.PointId, error) {
	holds, err := compileFilter(f)
	if err != nil {
		return nil, nil, err
	}
	var from pointKey
	if offset != nil {
		if from, err = parsePointID(offset); err != nil {
			return nil, nil, err
		}
	}
	var page []*point
	keys := c.candidates(f)
	first, _ := slices.BinarySearchFunc(keys, from, compareKeys)
	for _, key := range keys[first:] {
		p := c.points[key]
		if !holds(p) {
			continue
		}
		if len(page) == limit {
			return page, key.proto(), nil
		}
		page = append(page, p)
	}
	return page, nil, nil
}

var errLimit = status.Error(codes.InvalidArgument, "Validation error in body: [limit: value 0 invalid, must be 1 or larger]")

func (s *Server) retrieved(c *collection, p *point, pay *pb.WithPayloadSelector, vec *pb.WithVectorsSelector) (*pb.RetrievedPoint, error) {
	payload, err := selectPayload(p.payload, pay)
	if err != nil {
		return nil, err
	}
	vectors, err := s.writeVectors(c, p, vec)
	return &pb.RetrievedPoint{Id: p.key.proto(), Payload: payload, Vectors: vectors}, err
}
