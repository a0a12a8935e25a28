package wire

import (
	"slices"
	"sync"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// store holds the collections; the lock guards them and everything in them.
type store struct {
	sync.RWMutex
	collections map[string]*collection
}

// collection is a named set of points. keys holds the points' ids in scroll order.
type collection struct {
	config *pb.CollectionParams
	dense  map[string]*pb.VectorParams // by vector name, "" for the unnamed vector
	sparse map[string]*pb.SparseVectorParams
	schema map[string]*pb.PayloadSchemaInfo
	points map[pointKey]*point
	keys   []pointKey
	ops    uint64 // update operations so far
}

// point is stored data and never changed, only replaced, so answers may refer to it after the lock is released.
type point struct {
	key     pointKey
	payload map[string]*pb.Value
	vectors map[string]*pb.VectorOutput
	version uint64
}

// collectionLocked returns a collection or the server's NotFound.
func (s *store) collectionLocked(name string) (*collection, error) {
	c, ok := s.collections[name]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
	}
	return c, nil
}

func (c *collection) put(p *point) {
	if _, ok := c.points[p.key]; !ok {
		at, _ := slices.BinarySearchFunc(c.keys, p.key, compareKeys)
		c.keys = slices.Insert(c.keys, at, p.key)
	}
	p.version = c.ops
	c.points[p.key] = p
}

func (c *collection) remove(key pointKey) {
	if _, ok := c.points[key]; !ok {
		return
	}
	at, _ := slices.BinarySearchFunc(c.keys, key, compareKeys)
	c.keys = slices.Delete(c.keys, at, at+1)
	delete(c.points, key)
}

// selectKeys returns the ids of the existing points that a selector names, in scroll order.
func (c *collection) selectKeys(sel *pb.PointsSelector) ([]pointKey, error) {
	var wanted predicate
	switch sel := sel.GetPointsSelectorOneOf().(type) {
	case *pb.PointsSelector_Points:
		set, err := parsePointIDs(sel.Points.GetIds())
		if err != nil {
			return nil, err
		}
		wanted = func(p *point) bool { return set[p.key] }
	case *pb.PointsSelector_Filter:
		holds, err := compileFilter(sel.Filter)
		if err != nil {
			return nil, err
		}
		wanted = holds
	default:
		return nil, status.Error(codes.InvalidArgument, "Malformed PointsSelector type")
	}
	var keys []pointKey
	for _, key := range c.keys {
		if wanted(c.points[key]) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// updated counts an operation and writes its acknowledgement.
func (c *collection) updated(wait bool) *pb.PointsOperationResponse {
	state := pb.UpdateStatus_Acknowledged
	if wait {
		state = pb.UpdateStatus_Completed
	}
	return &pb.PointsOperationResponse{Result: &pb.UpdateResult{OperationId: pb.PtrOf(c.ops), Status: state}}
}
