package qdrant

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// One call to the server, and the user in the filter at every level of each of its queries.
func TestHybridIsOneCall(t *testing.T) {
	var mu sync.Mutex
	var batches []*pb.QueryBatchPoints
	srv := wire.Start(t, wire.Options{Observe: func(_ string, req any) {
		if req, ok := req.(*pb.QueryBatchPoints); ok {
			mu.Lock()
			defer mu.Unlock()
			batches = append(batches, proto.CloneOf(req))
		}
	}})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2})
	u := space(t, "the-user")
	points := make([]vdb.Point, 40)
	for i := range points {
		points[i] = fact(u, fmt.Sprint(i+1), "coffee "+strings.Repeat("x ", i)) // another score each
		points[i].Vector = []float32{1, float32(i)}
	}
	upsert(t, st, points...)
	count := func() string {
		return fmt.Sprintf("%d batches, %d queries, %d scrolls, %d gets", srv.Calls("QueryBatch"), srv.Calls("Query"), srv.Calls("Scroll"), srv.Calls("Get"))
	}
	scrolls, gets := srv.Calls("Scroll"), srv.Calls("Get") // of the upsert
	got, err := st.Hybrid(t.Context(), vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}, Text: "coffee"})
	if err != nil || len(got.Dense) != 5 || len(got.Keyword) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	if want := fmt.Sprintf("1 batches, 0 queries, %d scrolls, %d gets", scrolls, gets); count() != want {
		t.Errorf("%s, want %s", count(), want)
	}
	mu.Lock()
	defer mu.Unlock()
	filters := make([]*pb.Filter, 0, 4)
	for _, q := range batches[0].GetQueryPoints() {
		filters = append(filters, q.GetFilter())
		for _, p := range q.GetPrefetch() {
			filters = append(filters, p.GetFilter())
		}
	}
	if len(filters) != 4 {
		t.Fatalf("%d filters, want those of three queries and one prefetch", len(filters))
	}
	for i, f := range filters {
		text, err := proto.Marshal(f)
		if err != nil || !strings.Contains(string(text), "the-user") {
			t.Errorf("filter %d is without the user: %v", i, f)
		}
	}
}

// The best of all shards are among the best of each: of every shard as many are asked for.
func TestCosinesOfSeveralShards(t *testing.T) {
	_, st, q := started(t, wire.Options{}, Config{})
	near := st.nearQuery(q, nil, nil, 21, false)
	worded := st.wordQuery(clientWords{}.query("x"), nil, 21)
	cosines := st.cosineQuery(&shape{shards: 3}, near, worded)
	if got := cosines.GetLimit(); got != 3*21 {
		t.Errorf("limit %d, want 3*21", got)
	}
	if got := cosines.GetPrefetch()[0].GetLimit(); got != 21 {
		t.Errorf("limit of the prefetch %d, want 21", got)
	}
}

// A point may lack either vector: another writer's without words, or without a dense one.
func TestHybridOfIncompletePoints(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	raw := rawClient(t, srv.Addr())
	bareNamed(t, raw, "facts", 2)
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", VectorName: "dense"})
	u := space(t, "u")
	words := clientWords{}.document("coffee")
	dense := pb.NewVectorDense([]float32{3, 4})
	payload := func(content string) map[string]*pb.Value {
		return pb.NewValueMap(map[string]any{"user_id": "u", "content": content})
	}
	writeRaw(t, raw,
		&pb.PointStruct{Id: pb.NewIDNum(1), Payload: payload("coffee"), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"dense": dense, "bm25": words})},
		&pb.PointStruct{Id: pb.NewIDNum(2), Payload: payload("coffee, but not its words"), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"dense": dense})},
		&pb.PointStruct{Id: pb.NewIDNum(3), Payload: payload("coffee"), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"bm25": words})},
	)
	got, err := st.Hybrid(t.Context(), vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}, Text: "coffee"})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(matches []vdb.Match) (out string) {
		for _, m := range matches {
			out += m.ID + " "
		}
		return out
	}
	if ids(got.Dense) != "1 2 " || ids(got.Keyword) != "1 3 " {
		t.Errorf("dense %s, keyword %s, want 1 2 and 1 3", ids(got.Dense), ids(got.Keyword))
	}
	if len(got.Cosines) != 2 || math.Abs(got.Cosines[0]-0.6) > 1e-6 || !math.IsNaN(got.Cosines[1]) {
		t.Errorf("cosines %v, want 3/5 and NaN", got.Cosines)
	}
}

// A failure is an error, not half an answer.
func TestHybridFailures(t *testing.T) {
	srv, st, q := started(t, wire.Options{}, Config{RetryAttempts: 1})
	ask := func() (vdb.HybridMatches, error) {
		return st.Hybrid(t.Context(), vdb.HybridQuery{Query: q, Text: "x"})
	}
	for code, want := range map[codes.Code]error{codes.Unavailable: vdb.ErrUnavailable, codes.NotFound: vdb.ErrNoCollection, codes.Unimplemented: vdb.ErrUnsupported} {
		srv.Inject(wire.Fault{Method: "QueryBatch", Times: 1, Code: code})
		got, err := ask()
		if !errors.Is(err, want) || len(got.Dense)+len(got.Keyword) != 0 {
			t.Errorf("%s: got %v, %v", code, got, err)
		}
	}
	if got, err := ask(); err != nil || len(got.Dense) != 1 || len(got.Keyword) != 1 {
		t.Errorf("healed: %v, %v", got, err)
	}
}
