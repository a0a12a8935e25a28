package wire

import (
	"fmt"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// Point is a point for [Server.Fill], in no words of the protocol.
type Point struct {
	ID      any            // a uint64, or a UUID as a string
	Payload map[string]any // JSON types as vdb.Payload.Extra has them
	Vectors map[string]any // by name, "" for the unnamed one: a []float32, a map[uint32]float32 if sparse, or nothing
}

// Fill makes a collection and stores the points in it, as another program does that writes to the server. A vector of the
// collection has its kind, dimension and distance, or for a sparse one the modifier Idf or none.
func (s *Server) Fill(t testing.TB, collection string, vectors []vdb.VectorShape, points ...Point) {
	t.Helper()
	_, err := collectionsService{s: s}.Create(t.Context(), createRequest(collection, vectors))
	if err != nil {
		t.Fatalf("create collection %s: %v", collection, err)
	}
	req := &pb.UpsertPoints{CollectionName: collection, Wait: pb.PtrOf(true)}
	for _, p := range points {
		stored, err := p.proto()
		if err != nil {
			t.Fatalf("point %v: %v", p.ID, err)
		}
		req.Points = append(req.Points, stored)
	}
	if _, err := (pointsService{s: s}).Upsert(t.Context(), req); err != nil {
		t.Fatalf("fill collection %s: %v", collection, err)
	}
}

func createRequest(collection string, vectors []vdb.VectorShape) *pb.CreateCollection {
	req := &pb.CreateCollection{CollectionName: collection}
	dense, sparse := map[string]*pb.VectorParams{}, map[string]*pb.SparseVectorParams{}
	for _, v := range vectors {
		if v.Kind == vdb.VectorSparse {
			sparse[v.Name] = &pb.SparseVectorParams{}
			if v.Distance == pb.Modifier_Idf.String() {
				sparse[v.Name].Modifier = pb.Modifier_Idf.Enum()
			}
			continue
		}
		dense[v.Name] = &pb.VectorParams{Size: uint64(v.Dimension), Distance: pb.Distance(pb.Distance_value[v.Distance])}
		if v.Kind == vdb.VectorMulti {
			dense[v.Name].MultivectorConfig = &pb.MultiVectorConfig{}
		}
	}
	if unnamed := dense[""]; unnamed != nil && len(dense) == 1 {
		req.VectorsConfig = pb.NewVectorsConfig(unnamed)
	} else {
		req.VectorsConfig = pb.NewVectorsConfigMap(dense)
	}
	if len(sparse) > 0 {
		req.SparseVectorsConfig = pb.NewSparseVectorsConfig(sparse)
	}
	return req
}

func (p Point) proto() (*pb.PointStruct, error) {
	out := &pb.PointStruct{}
	switch id := p.ID.(type) {
	case uint64:
		out.Id = pb.NewIDNum(id)
	case string:
		out.Id = pb.NewIDUUID(id)
	default:
		return nil, fmt.Errorf("id is a %T: want a uint64 or a string", p.ID)
	}
	payload, err := pb.TryValueMap(p.Payload)
	if err != nil {
		return nil, err
	}
	out.Payload = payload
	named := map[string]*pb.Vector{}
	for name, v := range p.Vectors {
		switch v := v.(type) {
		case []float32:
			named[name] = pb.NewVectorDense(v)
		case map[uint32]float32:
			var indices []uint32
			var values []float32
			for i, x := range v {
				indices, values = append(indices, i), append(values, x)
			}
			named[name] = pb.NewVectorSparse(indices, values)
		default:
			return nil, fmt.Errorf("vector %q is a %T: want a []float32 or a map[uint32]float32", name, v)
		}
	}
	out.Vectors = pb.NewVectorsMap(named)
	return out, nil
}
