package qdrant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// batches is a server that keeps the batches of queries that it is asked.
type batches struct {
	*wire.Server
	mu   sync.Mutex
	seen []*pb.QueryBatchPoints
}

func newBatches(t *testing.T) *batches {
	t.Helper()
	b := &batches{}
	b.Server = wire.Start(t, wire.Options{Observe: func(_ string, req any) {
		if req, ok := req.(*pb.QueryBatchPoints); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.seen = append(b.seen, proto.CloneOf(req))
		}
	}})
	return b
}

// sizes returns how many queries the batches since the last call had.
func (b *batches) sizes() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sizes []int
	for _, req := range b.seen {
		sizes = append(sizes, len(req.GetQueryPoints()))
	}
	b.seen = nil
	return sizes
}

// asSearch compares the answers with those of one search each.
func asSearch(t *testing.T, st *Store, queries []vdb.Query) {
	t.Helper()
	got, err := st.SearchMany(t.Context(), queries)
	if err != nil || len(got) != len(queries) {
		t.Fatalf("%d answers to %d queries, %v", len(got), len(queries), err)
	}
	for i, q := range queries {
		want, err := st.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got[i], cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })); diff != "" {
			t.Fatalf("query %d (-Search +SearchMany):\n%s", i, diff)
		}
	}
}

// Many queries, also of several users, are one request, in which each is confined to its own user, and where no payloads
// are wanted the server is asked for no more of them than says whose point it is and which fact.
func TestSearchManyIsOneCall(t *testing.T) {
	srv := newBatches(t)
	st := open(t, Config{
		URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 8, Fields: map[string]string{vdb.FieldUserID: `meta."the user"`},
	})
	users := []graphstore.Space{space(t, "user-a"), space(t, "user-b")}
	queries := make([]vdb.Query, 60)
	for i := range queries {
		queries[i] = vdb.Query{Space: users[i%2], Vector: vdbtest.Vector(uint64(i), 8), Limit: 5, NoPayload: i >= 30}
	}
	for i, u := range users {
		upsert(t, st, vdbtest.Points(uint64(i), u, 40, 8)...)
	}
	single := srv.Calls("Query")
	if _, err := st.SearchMany(t.Context(), queries); err != nil {
		t.Fatal(err)
	}
	if n := srv.Calls("Query") - single; n != 0 {
		t.Errorf("%d single queries", n)
	}
	if len(srv.seen) != 1 || len(srv.seen[0].GetQueryPoints()) != 60 {
		t.Fatalf("%d batches, the first of %d queries; want one of 60", len(srv.seen), len(srv.seen[0].GetQueryPoints()))
	}
	for i, q := range srv.seen[0].GetQueryPoints() {
		text, err := proto.Marshal(q.GetFilter())
		own, other := users[i%2].UserID(), users[1-i%2].UserID()
		if err != nil || !strings.Contains(string(text), own) || strings.Contains(string(text), other) {
			t.Errorf("filter %d is not that of %s: %v", i, own, q.GetFilter())
		}
		want := []string{`meta."the user"`, "kith_id"}
		if got := q.GetWithPayload().GetInclude().GetFields(); i >= 30 && !slices.Equal(got, want) {
			t.Errorf("query %d asks for the payload fields %q, want %q", i, got, want)
		}
	}
	asSearch(t, st, queries)
}

// Requests are divided by their size and number, answers by theirs, and the results are the same.
func TestSearchManyInParts(t *testing.T) {
	const dim = 384
	srv := newBatches(t)
	cfg := Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim}
	st := open(t, cfg)
	u := space(t, "u")
	points := vdbtest.Points(1, u, 60, dim)
	for i := range points {
		points[i].Payload.Content = strings.Repeat("x", 3000) // more than is assumed
	}
	upsert(t, st, points...)
	queries := make([]vdb.Query, 300)
	for i := range queries {
		queries[i] = vdb.Query{Space: u, Vector: vdbtest.Vector(uint64(i), dim), Limit: 1, NoPayload: true}
	}
	asSearch(t, st, queries)
	if got, want := srv.sizes(), []int{128, 128, 44}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}

	// An answer of 17 points of 3 KB is 51 KB: of the largest that there may be, one fits.
	cfg.MaxMessageBytes = MinMessageBytes
	small := open(t, cfg)
	for i := range queries {
		queries[i].NoPayload = false
	}
	asSearch(t, small, queries[:5])
	if got, want := srv.sizes(), []int{1, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}
	cfg.MaxMessageBytes = 3 * MinMessageBytes // two are assumed to fit into half of it, as 17*2 KB; three do, and so the halving is not needed
	asSearch(t, open(t, cfg), queries[:5])
	if got, want := srv.sizes(), []int{2, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}

	// Contents of 12 KB: an answer to one query has 204 KB, more than assumed, so that two do not fit.
	for i := range points {
		points[i].Payload.Content = strings.Repeat("x", 12_000)
	}
	upsert(t, st, points...)
	cfg.MaxMessageBytes = 5 * MinMessageBytes
	asSearch(t, open(t, cfg), queries[:4])
	if got, want := srv.sizes(), []int{4, 2, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}
	_, err := small.SearchMany(t.Context(), queries[:4])
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "max_message_bytes") {
		t.Errorf("an answer to one query that is too large: got %v", err)
	}
	for i := range queries {
		queries[i].NoPayload = true // and then it is not
	}
	asSearch(t, small, queries[:4])
}

// A request of long vectors has no more bytes than its bound: of 32 KiB and some each, 95 fit into 3 MiB, 96 do not. Answers that
// have vectors are taken to be larger by these.
func TestSearchManyOfLongVectors(t *testing.T) {
	const dim = 8192
	srv := newBatches(t)
	cfg := Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim}
	st := open(t, cfg)
	u := space(t, "u")
	upsert(t, st, vdbtest.Points(1, u, 20, dim)...)
	queries := make([]vdb.Query, 100)
	for i := range queries {
		queries[i] = vdb.Query{Space: u, Vector: vdbtest.Vector(uint64(i), dim), Limit: 1, NoPayload: true}
	}
	if _, err := st.SearchMany(t.Context(), queries); err != nil {
		t.Fatal(err)
	}
	for i, req := range srv.seen {
		if n := proto.Size(req); n > maxBatchBytes+1<<10 { // the names of the collection and of the parts
			t.Errorf("request %d of %d queries has %d bytes", i, len(req.GetQueryPoints()), n)
		}
	}
	if got, want := srv.sizes(), []int{95, 5}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}

	cfg.MaxMessageBytes = 2 << 20 // half of it holds one answer of 17 points of 33 KB, and without vectors any number of 17 of 256 bytes
	small := open(t, cfg)
	for _, tc := range []struct {
		vectors bool
		want    []int
	}{{true, []int{1, 1, 1, 1}}, {false, []int{4}}} {
		for i := range queries {
			queries[i].WithVectors = tc.vectors
		}
		asSearch(t, small, queries[:4])
		if got := srv.sizes(); !slices.Equal(got, tc.want) {
			t.Errorf("vectors %v: batches of %v, want %v", tc.vectors, got, tc.want)
		}
	}
}

// A query whose limit cuts points of equal score is asked again, and no other is.
func TestSearchManyAsksAgainForTies(t *testing.T) {
	srv := newBatches(t)
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2})
	alike, apart := space(t, "alike"), space(t, "apart")
	var points []vdb.Point
	for i := range 100 {
		points = append(points, fact(alike, fmt.Sprintf("a%02d", i), ""), fact(apart, fmt.Sprintf("b%02d", i), ""))
		points[2*i+1].Vector = []float32{1, float32(i)}
	}
	upsert(t, st, points...)
	queries := make([]vdb.Query, 10)
	for i := range queries {
		queries[i] = vdb.Query{Space: apart, Vector: []float32{1, float32(i)}, Limit: 4}
		if i == 3 || i == 8 {
			queries[i].Space = alike
		}
	}
	asSearch(t, st, queries)
	// 4+16, 40 and 80 of the 100 that are alike are not all, 160 are.
	if got, want := srv.sizes(), []int{10, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}
}

// A large batch is repeated as a small one is when the server is away for a moment. gRPC by itself would repeat none above
// 256 KiB; 128 vectors of 1,536 numbers are 768 KiB.
func TestSearchManyIsRepeated(t *testing.T) {
	const dim = 1536
	srv := newBatches(t)
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim})
	u := space(t, "u")
	upsert(t, st, vdbtest.Points(1, u, 20, dim)...)
	queries := make([]vdb.Query, maxBatchQueries)
	for i := range queries {
		queries[i] = vdb.Query{Space: u, Vector: vdbtest.Vector(uint64(i), dim), Limit: 3, NoPayload: true}
	}
	srv.Inject(wire.Fault{Method: "QueryBatch", Times: 2, Code: codes.Unavailable, Message: "restarting"})
	before := srv.Calls("QueryBatch")
	if _, err := st.SearchMany(t.Context(), queries); err != nil {
		t.Fatal(err)
	}
	if n := srv.Calls("QueryBatch") - before; n != 3 {
		t.Errorf("%d calls, want 2 refused and 1 answered", n)
	}
	srv.Inject(wire.Fault{Method: "QueryBatch", Code: codes.Unavailable, Message: "gone"})
	if got, err := st.SearchMany(t.Context(), queries); !errors.Is(err, vdb.ErrUnavailable) || got != nil {
		t.Errorf("got %d answers, %v; want ErrUnavailable", len(got), err)
	}
}
