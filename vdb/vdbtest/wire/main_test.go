package wire

import (
	"errors"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial returns a client of the server that is closed when the test ends.
func dial(t testing.TB, s *Server, change func(*pb.Config)) *pb.Client {
	t.Helper()
	host, port := splitAddr(t, s.Addr())
	cfg := &pb.Config{Host: host, Port: port, PoolSize: 1, SkipCompatibilityCheck: true}
	if change != nil {
		change(cfg)
	}
	c, err := pb.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	return c
}

// newCollection makes a collection with an unnamed vector.
func newCollection(t testing.TB, c *pb.Client, name string, size uint64, d pb.Distance) {
	t.Helper()
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: name, VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: size, Distance: d}),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, c *pb.Client, collection string, points ...*pb.PointStruct) {
	t.Helper()
	_, err := c.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: collection, Points: points, Wait: pb.PtrOf(true)})
	if err != nil {
		t.Fatal(err)
	}
}

func pt(id *pb.PointId, payload map[string]any, vector ...float32) *pb.PointStruct {
	return &pb.PointStruct{Id: id, Payload: pb.NewValueMap(payload), Vectors: pb.NewVectorsDense(vector)}
}

// wantStatus checks a refusal by its code and whole text.
func wantStatus(t testing.TB, err error, code codes.Code, text string) {
	t.Helper()
	var se interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &se) {
		t.Errorf("got error %v, want status %s %q", err, code, text)
		return
	}
	if st := se.GRPCStatus(); st.Code() != code || st.Message() != text {
		t.Errorf("got %s %q, want %s %q", st.Code(), st.Message(), code, text)
	}
}

// idText writes a point id for comparisons.
func idText(id *pb.PointId) string {
	if id.GetUuid() != "" {
		return id.GetUuid()
	}
	return id.String()
}
