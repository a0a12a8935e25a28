package wire

import (
	"context"
	"maps"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Upsert inserts points and replaces existing ones as a whole; all of them or, when one does not fit the collection, none.
func (svc pointsService) Upsert(_ context.Context, req *pb.UpsertPoints) (*pb.PointsOperationResponse, error) {
	st := &svc.s.store
	st.Lock()
	defer st.Unlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	keys := make([]pointKey, len(req.GetPoints()))
	for i, p := range req.GetPoints() {
		if p.GetId() == nil {
			return nil, status.Error(codes.InvalidArgument, "Empty ID is not allowed")
		}
		if keys[i], err = parsePointID(p.GetId()); err != nil {
			return nil, err
		}
	}
	mayReplace, mayInsert, err := svc.s.upsertRules(req)
	if err != nil {
		return nil, err
	}
	points := make([]*point, len(keys))
	for i, p := range req.GetPoints() {
		vectors, err := c.readVectors(p.GetVectors(), svc.s.embedStored)
		if err != nil {
			if !req.GetWait() {
				return c.updated(false), nil // acknowledged before it is looked at
			}
			return nil, err
		}
		points[i] = &point{key: keys[i], payload: p.GetPayload(), vectors: vectors}
	}
	c.ops++
	for _, p := range points {
		old := c.points[p.key]
		if old == nil && mayInsert || old != nil && mayReplace(old) {
			c.put(p)
		}
	}
	return c.updated(req.GetWait()), nil
}

// upsertRules says which stored points an upsert may replace, and whether it may insert. What the imitated version does
// not know yet is ignored.
func (s *Server) upsertRules(req *pb.UpsertPoints) (mayReplace predicate, mayInsert bool, err error) {
	mode := pb.UpdateMode_Upsert
	if s.atLeast(17) {
		mode = req.GetUpdateMode()
	}
	always := func(*point) bool { return true }
	switch {
	case mode == pb.UpdateMode_InsertOnly:
		return func(*point) bool { return false }, true, nil
	case req.UpdateFilter != nil && s.atLeast(16):
		mayReplace, err = compileFilter(req.UpdateFilter)
		return mayReplace, mode == pb.UpdateMode_Upsert, err
	default:
		return always, mode == pb.UpdateMode_Upsert, nil
	}
}

// Delete removes points by id or filter; what does not exist does nothing.
func (svc pointsService) Delete(_ context.Context, req *pb.DeletePoints) (*pb.PointsOperationResponse, error) {
	return svc.update(req.GetCollectionName(), req.GetPoints(), req.GetWait(), (*collection).remove)
}

// SetPayload merges fields into the payload of points, at a path of it if the request names one. A null value is stored as
// null.
func (svc pointsService) SetPayload(_ context.Context, req *pb.SetPayloadPoints) (*pb.PointsOperationResponse, error) {
	if req.GetKey() != "" {
		return nil, status.Error(codes.Unimplemented, "wire: payload is set at the top level only")
	}
	return svc.update(req.GetCollectionName(), req.GetPointsSelector(), req.GetWait(), func(c *collection, key pointKey) {
		p := *c.points[key]
		merged := maps.Clone(p.payload)
		if merged == nil {
			merged = map[string]*pb.Value{}
		}
		maps.Copy(merged, req.GetPayload())
		p.payload = merged
		c.put(&p)
	})
}

func (svc pointsService) update(name string, sel *pb.PointsSelector, wait bool, apply func(*collection, pointKey)) (*pb.PointsOperationResponse, error) {
	st := &svc.s.store
	st.Lock()
	defer st.Unlock()
	c, err := st.collectionLocked(name)
	if err != nil {
		return nil, err
	}
	keys, err := c.selectKeys(sel)
	if err != nil {
		return nil, err
	}
	c.ops++
	for _, key := range keys {
		apply(c, key)
	}
	return c.updated(wait), nil
}
