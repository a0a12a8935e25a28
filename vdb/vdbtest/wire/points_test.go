package wire

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	uuidA = "00000000-0000-0000-0000-00000000000a"
	uuidB = "10000000-0000-0000-0000-000000000000"
)

func TestScrollOrderAndOffsets(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 1, pb.Distance_Dot)
	// Integers by value, not by text, then UUIDs by value.
	want := []*pb.PointId{pb.NewIDNum(2), pb.NewIDNum(10), pb.NewIDNum(math.MaxUint64), pb.NewIDUUID(uuidA), pb.NewIDUUID(uuidB)}
	for _, i := range []int{4, 1, 3, 0, 2} {
		put(t, c, "x", pt(want[i], map[string]any{"even": i%2 == 0}, 1))
	}
	scroll := func(offset *pb.PointId, limit uint32, f *pb.Filter) ([]string, *pb.PointId) {
		points, next, err := c.ScrollAndOffset(t.Context(), &pb.ScrollPoints{CollectionName: "x", Limit: &limit, Offset: offset, Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range points {
			ids = append(ids, idText(p.GetId()))
		}
		return ids, next
	}
	texts := func(ids ...*pb.PointId) (out []string) {
		for _, id := range ids {
			out = append(out, idText(id))
		}
		return out
	}
	for _, tc := range []struct {
		offset *pb.PointId
		limit  uint32
		filter *pb.Filter
		want   []*pb.PointId
		next   *pb.PointId
	}{
		{nil, 10, nil, want, nil},
		{nil, 5, nil, want, nil}, // the last point fills the page: no next page
		{nil, 2, nil, want[:2], want[2]},
		{want[2], 2, nil, want[2:4], want[4]}, // the offset is inclusive
		{want[4], 2, nil, want[4:], nil},
		{pb.NewIDNum(3), 2, nil, want[1:3], want[3]}, // an offset that is no point
		{nil, 2, &pb.Filter{Must: []*pb.Condition{pb.NewMatchBool("even", true)}}, []*pb.PointId{want[0], want[2]}, want[4]},
	} {
		ids, next := scroll(tc.offset, tc.limit, tc.filter)
		if diff := cmp.Diff(texts(tc.want...), ids); diff != "" {
			t.Errorf("offset %v limit %d (-want +got):\n%s", tc.offset, tc.limit, diff)
		}
		if idText(next) != idText(tc.next) {
			t.Errorf("offset %v limit %d: next %v, want %v", tc.offset, tc.limit, next, tc.next)
		}
	}
	_, err := c.Scroll(t.Context(), &pb.ScrollPoints{CollectionName: "x", Limit: pb.PtrOf(uint32(0))})
	wantStatus(t, err, codes.InvalidArgument, "Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
}

func TestRefusals(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 3, pb.Distance_Cosine)
	query := func(q *pb.QueryPoints) error {
		_, err := c.Query(t.Context(), q)
		return err
	}
	upsert := func(collection string, p *pb.PointStruct) error {
		_, err := c.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: collection, Points: []*pb.PointStruct{p}, Wait: pb.PtrOf(true)})
		return err
	}
	wantStatus(t, query(&pb.QueryPoints{CollectionName: "y", Query: pb.NewQuery(1, 0, 0)}), codes.NotFound, "Not found: Collection `y` doesn't exist!")
	wantStatus(t, upsert("y", pt(pb.NewIDNum(1), nil, 1, 0, 0)), codes.NotFound, "Not found: Collection `y` doesn't exist!")
	wantStatus(t, query(&pb.QueryPoints{CollectionName: "x", Query: pb.NewQuery(1, 0)}), codes.InvalidArgument,
		"Wrong input: Vector dimension error: expected dim: 3, got 2")
	wantStatus(t, upsert("x", pt(pb.NewIDNum(1), nil, 1)), codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: 3, got 1")
	wantStatus(t, query(&pb.QueryPoints{CollectionName: "x", Query: pb.NewQuery(1, 0, 0), Using: pb.PtrOf("dense")}), codes.InvalidArgument,
		"Wrong input: Not existing vector name error: dense")
	wantStatus(t, upsert("x", &pb.PointStruct{Id: pb.NewIDNum(1), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{"dense": pb.NewVector(1)})}),
		codes.InvalidArgument, "Wrong input: Not existing vector name error: dense")
	wantStatus(t, upsert("x", pt(pb.NewIDUUID("doc1"), nil, 1, 0, 0)), codes.InvalidArgument, "Unable to parse UUID: doc1")
	wantStatus(t, upsert("x", pt(pb.NewID("123"), nil, 1, 0, 0)), codes.InvalidArgument, "Unable to parse UUID: 123")
	wantStatus(t, query(&pb.QueryPoints{CollectionName: "x", Query: pb.NewQuery(1, 0, 0), Limit: pb.PtrOf(uint64(0))}), codes.InvalidArgument,
		"Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{CollectionName: "x"})
	wantStatus(t, err, codes.AlreadyExists, "Wrong input: Collection `x` already exists!")
	if err := query(&pb.QueryPoints{CollectionName: "x", Query: pb.NewQueryFusion(pb.Fusion_RRF)}); status.Code(err) != codes.Unimplemented {
		t.Errorf("fusion: got %v, want Unimplemented", err)
	}
}

func TestScoresByDistance(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	for d, want := range map[pb.Distance]struct {
		ids    []uint64
		scores []float32
	}{
		// The query is (3, 4), of length 5; the points are 1 = (3, 4), 2 = (6, 8), 3 = (4, -3).
		pb.Distance_Cosine:    {[]uint64{2, 1, 3}, []float32{1, 1, 0}}, // 3 is at a right angle; equal scores by descending id
		pb.Distance_Dot:       {[]uint64{2, 1, 3}, []float32{50, 25, 0}},
		pb.Distance_Euclid:    {[]uint64{1, 2, 3}, []float32{0, 5, float32(math.Sqrt(1 + 49))}},
		pb.Distance_Manhattan: {[]uint64{1, 2, 3}, []float32{0, 7, 8}},
	} {
		name := d.String()
		newCollection(t, c, name, 2, d)
		put(t, c, name, pt(pb.NewIDNum(1), nil, 3, 4), pt(pb.NewIDNum(2), nil, 6, 8), pt(pb.NewIDNum(3), nil, 4, -3))
		got, err := c.Query(t.Context(), &pb.QueryPoints{CollectionName: name, Query: pb.NewQuery(3, 4)})
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for i, p := range got {
			if p.GetId().GetNum() != want.ids[i] || math.Abs(float64(p.GetScore()-want.scores[i])) > 1e-6 {
				t.Errorf("%s: place %d is %d with %v, want %d with %v", name, i, p.GetId().GetNum(), p.GetScore(), want.ids[i], want.scores[i])
			}
		}
		// The threshold is strict: the best score itself does not pass it.
		best := got[0].GetScore()
		got, err = c.Query(t.Context(), &pb.QueryPoints{CollectionName: name, Query: pb.NewQuery(3, 4), ScoreThreshold: &best})
		if err != nil || len(got) != 0 {
			t.Errorf("%s: %d points pass the best score, %v", name, len(got), err)
		}
	}
}

func TestCosineVectorsAreStoredNormalised(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 2, pb.Distance_Cosine)
	put(t, c, "x", pt(pb.NewIDNum(1), nil, 3, 4))
	got, err := c.Get(t.Context(), &pb.GetPoints{CollectionName: "x", Ids: []*pb.PointId{pb.NewIDNum(1)}, WithVectors: pb.NewWithVectors(true)})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	data := got[0].GetVectors().GetVector().GetDense().GetData()
	if diff := cmp.Diff([]float32{0.6, 0.8}, data); diff != "" { // (3, 4) / 5
		t.Errorf("vector (-want +got):\n%s", diff)
	}
}

func TestQueryBatchLimitOffset(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 1, pb.Distance_Dot)
	for i := range 20 {
		put(t, c, "x", pt(pb.NewIDNum(uint64(i)), nil, float32(i)))
	}
	got, err := c.QueryBatch(t.Context(), &pb.QueryBatchPoints{CollectionName: "x", QueryPoints: []*pb.QueryPoints{
		{Query: pb.NewQuery(1)}, // 10 by default
		{Query: pb.NewQuery(1), Limit: pb.PtrOf(uint64(2)), Offset: pb.PtrOf(uint64(3))},
		{Limit: pb.PtrOf(uint64(2))}, // no query: id order
	}})
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	var ids [][]uint64
	for _, r := range got {
		var some []uint64
		for _, p := range r.GetResult() {
			some = append(some, p.GetId().GetNum())
		}
		ids = append(ids, some)
	}
	want := [][]uint64{{19, 18, 17, 16, 15, 14, 13, 12, 11, 10}, {16, 15}, {0, 1}}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestPayloadSelectors(t *testing.T) {
	payload := pb.NewValueMap(map[string]any{"a": 1, "m": map[string]any{"x": 1, "y": 2, "z": map[string]any{"k": 1, "l": 2}}, "list": []any{1}})
	for name, tc := range map[string]struct {
		sel  *pb.WithPayloadSelector
		want map[string]any
	}{
		"none by default": {nil, nil},
		"none":            {pb.NewWithPayload(false), nil},
		"include":         {pb.NewWithPayloadInclude("a", "missing"), map[string]any{"a": 1}},
		"include nested":  {pb.NewWithPayloadInclude("m.x", "m.z.l"), map[string]any{"m": map[string]any{"x": 1, "z": map[string]any{"l": 2}}}},
		"exclude":         {pb.NewWithPayloadExclude("m", "list"), map[string]any{"a": 1}},
		"exclude nested":  {pb.NewWithPayloadExclude("m.z", "m.x", "a"), map[string]any{"m": map[string]any{"y": 2}, "list": []any{1}}},
	} {
		got, err := selectPayload(payload, tc.sel)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(plain(pb.NewValueMap(tc.want)), plain(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// plain makes payloads comparable.
func plain(fields map[string]*pb.Value) map[string]string {
	out := map[string]string{}
	for k, v := range fields {
		if inner := v.GetStructValue(); inner != nil {
			for k2, v2 := range plain(inner.GetFields()) {
				out[k+"."+k2] = v2
			}
			continue
		}
		out[k] = v.String()
	}
	return out
}
