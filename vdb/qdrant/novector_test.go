package qdrant

import (
	"testing"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// In a collection of several vectors a point need not have the searched one. A scroll returns it without; a read by id, where vectors are
// asked for, leaves it out.
func TestPointWithoutTheSearchedVector(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	raw := rawClient(t, srv.Addr())
	bareNamed(t, raw, "facts", 2)
	var points []*pb.PointStruct
	for id, name := range map[uint64]string{1: "dense", 2: "other"} {
		p := rawPoint(id, map[string]any{"user_id": "u"})
		p.Vectors = pb.NewVectorsMap(map[string]*pb.Vector{name: pb.NewVectorDense([]float32{1, 0})})
		points = append(points, p)
	}
	writeRaw(t, raw, points...)
	st, u := open(t, Config{URL: srv.Addr(), Collection: "facts", VectorName: "dense"}), space(t, "u")
	for _, tc := range []struct {
		vectors bool
		got     int
	}{{false, 2}, {true, 1}} {
		page, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 10, WithVectors: tc.vectors})
		if err != nil || len(page.Points) != 2 || len(page.Skipped) != 0 || page.Points[1].ID != "2" || page.Points[1].Vector != nil {
			t.Errorf("scroll, vectors %v: %+v, %v", tc.vectors, page, err)
		}
		got, err := st.Get(t.Context(), u, []string{"1", "2"}, tc.vectors)
		if err != nil || len(got) != tc.got || got[0].ID != "1" || (got[0].Vector != nil) != tc.vectors {
			t.Errorf("get, vectors %v: %+v, %v", tc.vectors, got, err)
		}
	}
}
