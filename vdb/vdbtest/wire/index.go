package wire

import (
	"context"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// CreateFieldIndex records an index in the collection's schema. It changes no answer.
func (svc pointsService) CreateFieldIndex(_ context.Context, req *pb.CreateFieldIndexCollection) (*pb.PointsOperationResponse, error) {
	if _, err := parsePath(req.GetFieldName()); err != nil {
		return nil, err
	}
	dataType, err := schemaType(req)
	if err != nil {
		return nil, err
	}
	return svc.changeSchema(req.GetCollectionName(), req.GetWait(), func(c *collection) {
		c.schema[req.GetFieldName()] = &pb.PayloadSchemaInfo{DataType: dataType, Params: req.GetFieldIndexParams()}
	})
}

// DeleteFieldIndex removes an index from the collection's schema.
func (svc pointsService) DeleteFieldIndex(_ context.Context, req *pb.DeleteFieldIndexCollection) (*pb.PointsOperationResponse, error) {
	return svc.changeSchema(req.GetCollectionName(), req.GetWait(), func(c *collection) { delete(c.schema, req.GetFieldName()) })
}

func (svc pointsService) changeSchema(name string, wait bool, change func(*collection)) (*pb.PointsOperationResponse, error) {
	st := &svc.s.store
	st.Lock()
	defer st.Unlock()
	c, err := st.collectionLocked(name)
	if err != nil {
		return nil, err
	}
	c.ops++
	change(c)
	return c.updated(wait), nil
}

func schemaType(req *pb.CreateFieldIndexCollection) (pb.PayloadSchemaType, error) {
	types := map[pb.FieldType]pb.PayloadSchemaType{
		pb.FieldType_FieldTypeKeyword:  pb.PayloadSchemaType_Keyword,
		pb.FieldType_FieldTypeInteger:  pb.PayloadSchemaType_Integer,
		pb.FieldType_FieldTypeFloat:    pb.PayloadSchemaType_Float,
		pb.FieldType_FieldTypeGeo:      pb.PayloadSchemaType_Geo,
		pb.FieldType_FieldTypeText:     pb.PayloadSchemaType_Text,
		pb.FieldType_FieldTypeBool:     pb.PayloadSchemaType_Bool,
		pb.FieldType_FieldTypeDatetime: pb.PayloadSchemaType_Datetime,
		pb.FieldType_FieldTypeUuid:     pb.PayloadSchemaType_Uuid,
	}
	dataType, ok := types[req.GetFieldType()]
	if !ok || req.FieldType == nil {
		return 0, status.Error(codes.InvalidArgument, "cannot convert field_type")
	}
	return dataType, nil
}
