package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
)

func TestCollectionInfo(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName:      "named",
		VectorsConfig:       pb.NewVectorsConfigMap(map[string]*pb.VectorParams{"dense": {Size: 2, Distance: pb.Distance_Cosine}}),
		SparseVectorsConfig: pb.NewSparseVectorsConfig(map[string]*pb.SparseVectorParams{"bm25": {Modifier: pb.Modifier_Idf.Enum()}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateFieldIndex(t.Context(), &pb.CreateFieldIndexCollection{
		CollectionName: "named", FieldName: "meta.user", FieldType: pb.FieldType_FieldTypeKeyword.Enum(), Wait: pb.PtrOf(true),
		FieldIndexParams: pb.NewPayloadIndexParamsKeyword(&pb.KeywordIndexParams{IsTenant: pb.PtrOf(true)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "named",
		&pb.PointStruct{Id: pb.NewIDNum(1), Payload: pb.NewValueMap(map[string]any{"meta": map[string]any{"user": "u"}}),
			Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"dense": pb.NewVectorDense([]float32{1, 0}), "bm25": pb.NewVectorSparse([]uint32{7}, []float32{2})})},
		&pb.PointStruct{Id: pb.NewIDNum(2), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"bm25": pb.NewVectorSparse([]uint32{7}, []float32{2})})})

	info, err := c.GetCollectionInfo(t.Context(), "named")
	if err != nil {
		t.Fatal(err)
	}
	params := info.GetConfig().GetParams()
	dense := params.GetVectorsConfig().GetParamsMap().GetMap()["dense"]
	schema := info.GetPayloadSchema()["meta.user"]
	got := []any{info.GetPointsCount(), dense.GetSize(), dense.GetDistance().String(), len(params.GetSparseVectorsConfig().GetMap()),
		schema.GetDataType().String(), schema.GetParams().GetKeywordIndexParams().GetIsTenant(), schema.GetPoints()}
	want := []any{uint64(2), uint64(2), "Cosine", 1, "Keyword", true, uint64(1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	// A point without the searched vector is never found by it.
	found, err := c.Query(t.Context(), &pb.QueryPoints{CollectionName: "named", Query: pb.NewQuery(0, 1), Using: pb.PtrOf("dense")})
	if err != nil || len(found) != 1 || found[0].GetId().GetNum() != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := c.DeleteFieldIndex(t.Context(), &pb.DeleteFieldIndexCollection{CollectionName: "named", FieldName: "meta.user"}); err != nil {
		t.Fatal(err)
	}
	if info, err = c.GetCollectionInfo(t.Context(), "named"); err != nil || len(info.GetPayloadSchema()) != 0 {
		t.Errorf("schema %v, %v", info.GetPayloadSchema(), err)
	}
}

func TestCollectionsComeAndGo(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	for _, name := range []string{"b", "a"} {
		newCollection(t, c, name, 1, pb.Distance_Dot)
	}
	if err := c.DeleteCollection(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	names, err := c.ListCollections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, want := range map[string]bool{"a": true, "b": false} {
		if exists, err := c.CollectionExists(t.Context(), name); err != nil || exists != want {
			t.Errorf("%s exists: %v, %v", name, exists, err)
		}
	}
	bad := &pb.CreateCollection{CollectionName: "c", VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 0, Distance: pb.Distance_Dot})}
	if err := c.CreateCollection(t.Context(), bad); err == nil {
		t.Error("a collection of vectors without numbers was created")
	}
}

// The pitfall of the client that reads old answers: the values of a sparse vector come out as if dense.
func TestFlatVectors(t *testing.T) {
	c := dial(t, Start(t, Options{FlatVectors: true}), nil)
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName:      "x",
		VectorsConfig:       pb.NewVectorsConfigMap(map[string]*pb.VectorParams{"dense": {Size: 2, Distance: pb.Distance_Dot}}),
		SparseVectorsConfig: pb.NewSparseVectorsConfig(map[string]*pb.SparseVectorParams{"bm25": {}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "x", &pb.PointStruct{Id: pb.NewIDNum(1), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{
		"dense": pb.NewVectorDense([]float32{1, 2}), "bm25": pb.NewVectorSparse([]uint32{7, 9}, []float32{3, 4})})})
	got, err := c.Get(t.Context(), &pb.GetPoints{CollectionName: "x", Ids: []*pb.PointId{pb.NewIDNum(1)}, WithVectors: pb.NewWithVectors(true)})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	vectors := got[0].GetVectors().GetVectors().GetVectors()
	if diff := cmp.Diff([]float32{1, 2}, vectors["dense"].GetDenseVector().GetData()); diff != "" {
		t.Errorf("dense (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float32{3, 4}, vectors["bm25"].GetDenseVector().GetData()); diff != "" {
		t.Errorf("the sparse values read as dense (-want +got):\n%s", diff)
	}
}
