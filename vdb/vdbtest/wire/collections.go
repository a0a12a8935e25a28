package wire

import (
	"context"
	"maps"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// collectionsService creates, describes and drops collections.
type collectionsService struct {
	pb.UnimplementedCollectionsServer
	s *Server
}

// Create makes a collection; one that exists is AlreadyExists.
func (svc collectionsService) Create(_ context.Context, req *pb.CreateCollection) (*pb.CollectionOperationResponse, error) {
	st := &svc.s.store
	st.Lock()
	defer st.Unlock()
	name := req.GetCollectionName()
	if name == "" || len(name) > 255 {
		return nil, status.Errorf(codes.InvalidArgument,
			"Validation error in body: [collection_name: value %q invalid, must be from 1 to 255 characters]", name)
	}
	if st.collections[name] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
	}
	dense, err := denseParams(req.GetVectorsConfig())
	if err != nil {
		return nil, err
	}
	st.collections[name] = &collection{
		config: &pb.CollectionParams{
			ShardNumber: 1, VectorsConfig: req.GetVectorsConfig(), SparseVectorsConfig: req.GetSparseVectorsConfig(),
			ReplicationFactor: pb.PtrOf(uint32(1)), WriteConsistencyFactor: pb.PtrOf(uint32(1)), OnDiskPayload: true,
		},
		dense:  dense,
		sparse: req.GetSparseVectorsConfig().GetMap(),
		schema: map[string]*pb.PayloadSchemaInfo{},
		points: map[pointKey]*point{},
	}
	return &pb.CollectionOperationResponse{Result: true}, nil
}

// denseParams checks the vectors of a new collection.
func denseParams(cfg *pb.VectorsConfig) (map[string]*pb.VectorParams, error) {
	dense := map[string]*pb.VectorParams{}
	switch cfg := cfg.GetConfig().(type) {
	case *pb.VectorsConfig_Params:
		dense[""] = cfg.Params
	case *pb.VectorsConfig_ParamsMap:
		maps.Copy(dense, cfg.ParamsMap.GetMap())
	}
	for name, params := range dense {
		if n := params.GetSize(); n < 1 || n > 65536 {
			return nil, status.Errorf(codes.InvalidArgument,
				"Validation error in body: [vectors_config.%s.size: value %d invalid, must be from 1 to 65536]", name, n)
		}
		if params.GetDistance() == pb.Distance_UnknownDistance {
			return nil, status.Error(codes.InvalidArgument, "Unknown distance")
		}
	}
	return dense, nil
}

// Delete drops a collection; the answer says whether there was one.
func (svc collectionsService) Delete(_ context.Context, req *pb.DeleteCollection) (*pb.CollectionOperationResponse, error) {
	st := &svc.s.store
	st.Lock()
	defer st.Unlock()
	_, existed := st.collections[req.GetCollectionName()]
	delete(st.collections, req.GetCollectionName())
	return &pb.CollectionOperationResponse{Result: existed}, nil
}

// CollectionExists answers without an error either way.
func (svc collectionsService) CollectionExists(_ context.Context, req *pb.CollectionExistsRequest) (*pb.CollectionExistsResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	return &pb.CollectionExistsResponse{Result: &pb.CollectionExists{Exists: st.collections[req.GetCollectionName()] != nil}}, nil
}

// List returns the collections by name.
func (svc collectionsService) List(context.Context, *pb.ListCollectionsRequest) (*pb.ListCollectionsResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	resp := &pb.ListCollectionsResponse{}
	for _, name := range slices.Sorted(maps.Keys(st.collections)) {
		resp.Collections = append(resp.Collections, &pb.CollectionDescription{Name: name})
	}
	return resp, nil
}

// Get describes a collection.
func (svc collectionsService) Get(_ context.Context, req *pb.GetCollectionInfoRequest) (*pb.GetCollectionInfoResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	schema := make(map[string]*pb.PayloadSchemaInfo, len(c.schema))
	for field, info := range c.schema {
		info = proto.CloneOf(info)
		info.Points = pb.PtrOf(c.countWith(field))
		schema[field] = info
	}
	return &pb.GetCollectionInfoResponse{Result: &pb.CollectionInfo{
		Status:              pb.CollectionStatus_Green,
		OptimizerStatus:     &pb.OptimizerStatus{Ok: true},
		SegmentsCount:       1,
		Config:              &pb.CollectionConfig{Params: c.config},
		PayloadSchema:       schema,
		PointsCount:         pb.PtrOf(uint64(len(c.points))),
		IndexedVectorsCount: pb.PtrOf(uint64(0)),
	}}, nil
}

// countWith returns how many points have a value at a field.
func (c *collection) countWith(field string) uint64 {
	path, err := parsePath(field)
	if err != nil {
		return 0 // no such path can be in the schema: CreateFieldIndex parses it
	}
	var n uint64
	for _, p := range c.points {
		if !allEmpty(valuesAt(p.payload, path)) {
			n++
		}
	}
	return n
}
