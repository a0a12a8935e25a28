package qdrant

import (
	"context"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kithgraph/kith/vdb"
)

// wantedIndexes are the fields that searches are filtered by. The index on the user is the tenant index: the server keeps
// the points of one user together. Content is left out: keyword search is not done by this driver.
var wantedIndexes = []struct {
	field string
	kind  pb.FieldType
}{
	{vdb.FieldUserID, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldAgentID, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldState, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldVersion, pb.FieldType_FieldTypeInteger},
	{vdb.FieldEpisodeID, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldBatchID, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldSourceID, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldTags, pb.FieldType_FieldTypeKeyword},
	{vdb.FieldMemoryAt, pb.FieldType_FieldTypeDatetime},
	{vdb.FieldCreatedAt, pb.FieldType_FieldTypeDatetime},
	{vdb.FieldValidFrom, pb.FieldType_FieldTypeDatetime},
	{vdb.FieldValidTo, pb.FieldType_FieldTypeDatetime},
}

// create makes the collection if info is nil, adds the indexes that are missing, and describes the result. Every step may
// be repeated, and lost to another process that does the same.
func (s *Store) create(ctx context.Context, info *pb.CollectionInfo) (*pb.CollectionInfo, error) {
	if info == nil {
		if err := s.createCollection(ctx); err != nil {
			return nil, fmt.Errorf("create collection %q: %w", s.cfg.Collection, err)
		}
	}
	created := info == nil
	for _, index := range wantedIndexes {
		key := s.fields.at(index.field).String()
		if info.GetPayloadSchema()[key] != nil {
			continue
		}
		created = true
		if err := s.createIndex(ctx, key, index.kind, index.field == vdb.FieldUserID); err != nil {
			return nil, fmt.Errorf("create index on %s: %w", key, err)
		}
	}
	if !created {
		return info, nil
	}
	return s.describe(ctx)
}

func (s *Store) createCollection(ctx context.Context) error {
	params := &pb.VectorParams{Size: uint64(s.cfg.Dimension), Distance: pb.Distance_Cosine}
	config := pb.NewVectorsConfig(params)
	if s.cfg.VectorName != "" {
		config = pb.NewVectorsConfigMap(map[string]*pb.VectorParams{s.cfg.VectorName: params})
	}
	req := &pb.CreateCollection{CollectionName: s.cfg.Collection, VectorsConfig: config}
	if s.cfg.Keyword != KeywordOff {
		req.SparseVectorsConfig = pb.NewSparseVectorsConfig(map[string]*pb.SparseVectorParams{
			s.cfg.SparseVector: {Modifier: pb.Modifier_Idf.Enum()},
		})
	}
	_, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (any, error) {
		err := s.client.CreateCollection(ctx, req)
		if status.Code(err) == codes.AlreadyExists {
			return nil, nil
		}
		return nil, err
	})
	return err
}

func (s *Store) createIndex(ctx context.Context, key string, kind pb.FieldType, tenant bool) error {
	req := &pb.CreateFieldIndexCollection{
		CollectionName: s.cfg.Collection, FieldName: key, FieldType: kind.Enum(), Wait: pb.PtrOf(true),
	}
	if tenant {
		req.FieldIndexParams = pb.NewPayloadIndexParamsKeyword(&pb.KeywordIndexParams{IsTenant: pb.PtrOf(true)})
	}
	_, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (any, error) {
		return s.client.CreateFieldIndex(ctx, req)
	})
	return err
}
