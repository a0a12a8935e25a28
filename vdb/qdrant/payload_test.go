package qdrant

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

func sameSpace(a, b graphstore.Space) bool { return a == b }

// foreign stores points as another writer does, and returns a driver on their collection.
func foreign(t *testing.T, cfg Config, points ...*pb.PointStruct) (*Store, *pb.Client) {
	t.Helper()
	srv := wire.Start(t, wire.Options{})
	cfg.URL, cfg.Collection = srv.Addr(), "facts"
	raw := rawClient(t, srv.Addr())
	err := raw.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: "facts", VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine}),
	})
	if err != nil {
		t.Fatal(err)
	}
	writeRaw(t, raw, points...)
	return open(t, cfg), raw
}

func writeRaw(t *testing.T, raw *pb.Client, points ...*pb.PointStruct) {
	t.Helper()
	if len(points) == 0 {
		return
	}
	if _, err := raw.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: "facts", Points: points, Wait: pb.PtrOf(true)}); err != nil {
		t.Fatal(err)
	}
}

func rawPoint(num uint64, payload map[string]any) *pb.PointStruct {
	return &pb.PointStruct{Id: pb.NewIDNum(num), Payload: pb.NewValueMap(payload), Vectors: pb.NewVectorsDense([]float32{1, 0})}
}

func TestReadsWhatOthersWrite(t *testing.T) {
	u := space(t, "u")
	seven := space(t, "7")
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		payload map[string]any
		want    vdb.Point
	}{
		"one tag":        {map[string]any{"user_id": "u", "tags": "work"}, vdb.Point{Space: u, Payload: vdb.Payload{Tags: []string{"work"}}}},
		"integer user":   {map[string]any{"user_id": 7}, vdb.Point{Space: seven}},
		"integer texts":  {map[string]any{"user_id": "u", "agent_id": 3, "tags": []any{1, "x"}}, vdb.Point{Space: u, Payload: vdb.Payload{AgentID: "3", Tags: []string{"1", "x"}}}},
		"version texts":  {map[string]any{"user_id": "u", "version": "12"}, vdb.Point{Space: u, Payload: vdb.Payload{Version: 12}}},
		"whole fraction": {map[string]any{"user_id": "u", "version": 12.0}, vdb.Point{Space: u, Payload: vdb.Payload{Version: 12}}},
		"seconds":        {map[string]any{"user_id": "u", "memory_at": 1767225600}, vdb.Point{Space: u, Payload: vdb.Payload{MemoryAt: day}}},
		"nulls":          {map[string]any{"user_id": "u", "tags": nil, "content": nil, "memory_at": nil, "state": nil}, vdb.Point{Space: u}},
		"of no sense": {map[string]any{"user_id": "u", "content": []any{"x"}, "version": "new", "memory_at": true, "tags": true},
			vdb.Point{Space: u}},
		"kith_id of its own": {map[string]any{"user_id": "u", "kith_id": "x"}, vdb.Point{Space: u}},
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := foreign(t, Config{}, rawPoint(1, tc.payload))
			tc.want.ID = "1"
			found, err := st.Search(t.Context(), vdb.Query{Space: tc.want.Space, Vector: []float32{1, 0}, Limit: 5})
			if err != nil || len(found) != 1 {
				t.Fatalf("found %v, %v", found, err)
			}
			if diff := cmp.Diff(tc.want, found[0].Point, cmp.Comparer(sameSpace)); diff != "" {
				t.Errorf("point (-want +got):\n%s", diff)
			}
		})
	}
}

// What is read is also what is filtered by, in each of the types, with and without an index to know the type from.
func TestFiltersWhatOthersWrite(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	texts := map[string]any{"user_id": "7", "memory_at": "2026-01-01T00:00:00Z", "agent_id": "3", "tags": "work", "state": "active"}
	numbers := map[string]any{"user_id": 7, "memory_at": 1767225600, "agent_id": 3, "tags": []any{"work"}, "state": ""}
	millis := map[string]any{"user_id": "7", "memory_at": int64(1767225600000), "agent_id": "3", "tags": []any{"x", "work"}, "state": nil}
	other := map[string]any{"user_id": "7", "memory_at": int64(1767225601), "agent_id": "4", "tags": []any{"x"}, "state": "superseded"}
	st, raw := foreign(t, Config{}, rawPoint(1, texts), rawPoint(2, numbers), rawPoint(3, millis), rawPoint(4, other))
	check := func(what string, st *Store, want ...string) {
		t.Helper()
		for name, f := range map[string]vdb.Filter{
			"agent": {Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"3"}}}},
			"tags":  {Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"work"}}}},
			"state": {Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{"active"}}}},
			"time":  {Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: at, To: at.Add(time.Microsecond)}}},
			"until": {Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, To: at.Add(time.Second)}}},
		} {
			found, err := st.Search(t.Context(), vdb.Query{Space: space(t, "7"), Vector: []float32{1, 0}, Filter: f, Limit: 9})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, m := range found {
				ids = append(ids, m.ID)
			}
			if diff := cmp.Diff(want, ids); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", what, name, diff)
			}
		}
	}
	check("no index", st, "1", "2", "3")

	// With indexes of the texts' types only texts count, so that the index serves.
	for field, kind := range map[string]pb.FieldType{
		"user_id": pb.FieldType_FieldTypeKeyword, "agent_id": pb.FieldType_FieldTypeKeyword, "memory_at": pb.FieldType_FieldTypeDatetime,
	} {
		_, err := raw.CreateFieldIndex(t.Context(), &pb.CreateFieldIndexCollection{CollectionName: "facts", FieldName: field, FieldType: kind.Enum()})
		if err != nil {
			t.Fatal(err)
		}
	}
	indexed := open(t, Config{URL: st.cfg.URL, Collection: "facts"})
	found, err := indexed.Search(t.Context(), vdb.Query{Space: space(t, "7"), Vector: []float32{1, 0}, Limit: 9,
		Filter: vdb.Filter{Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: at}}}})
	if err != nil || len(found) != 1 || found[0].ID != "1" {
		t.Errorf("with indexes found %v, %v; want the texts", found, err)
	}
}

func TestScrollDescribesWhatIsNoFact(t *testing.T) {
	st, _ := foreign(t, Config{Fields: map[string]string{vdb.FieldUserID: "meta.user"}},
		rawPoint(1, map[string]any{"meta": map[string]any{"user": "u"}}),
		rawPoint(2, map[string]any{"user": "u"}),
		rawPoint(3, map[string]any{"meta": map[string]any{"user": []any{"u", "v"}}}),
		rawPoint(4, map[string]any{"meta": map[string]any{"user": ""}}),
		rawPoint(5, map[string]any{"meta": map[string]any{"user": 1.5}}),
		rawPoint(6, map[string]any{"meta": map[string]any{"user": "v", "lang": "en"}}))
	page, err := st.Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := []vdb.Point{{Space: space(t, "u"), ID: "1"},
		{Space: space(t, "v"), ID: "6", Payload: vdb.Payload{Extra: map[string]any{"meta": map[string]any{"lang": "en"}}}}}
	if diff := cmp.Diff(want, page.Points, cmp.Comparer(sameSpace)); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	for i, say := range []string{"point 2: no user id at meta.user", "point 3: user id is a list", "point 4: ", "point 5: user id is a fraction"} {
		if i >= len(page.Skipped) || !strings.Contains(page.Skipped[i], say) {
			t.Errorf("skipped %q, want %q at place %d", page.Skipped, say, i)
		}
	}
	// A point of two users matches the filter of each and is a fact of neither.
	for _, user := range []string{"u", "v"} {
		found, err := st.Search(t.Context(), vdb.Query{Space: space(t, user), Vector: []float32{1, 0}, Limit: 9})
		if err != nil || len(found) != 1 {
			t.Errorf("%s finds %v, %v", user, found, err)
		}
	}
}

// Nothing that a caller puts into Extra may become a field of kith's, above all not the user.
func TestExtraCannotSetFields(t *testing.T) {
	fields, err := newFieldMap(nestedFields)
	if err != nil {
		t.Fatal(err)
	}
	for name, extra := range map[string]map[string]any{
		"the user":                   {"metadata": map[string]any{"user_id": "other"}},
		"the user's object":          {"metadata": "text"},
		"an absent field":            {"labels": []any{"x"}},
		"an absent nested field":     {"metadata": map[string]any{"times": map[string]any{"memory": "2026-01-01"}}},
		"the reserved field":         {"kith_id": "x"},
		"of another type":            {"k": 1},
		"NaN":                        {"k": math.NaN()},
		"not UTF-8":                  {"k": "a\xff"},
		"a key that is not UTF-8":    {"k\xff": 1.0},
		"deeper than is read back":   {"k": nested(40)},
		"nested in a list, and wide": {"k": []any{map[string]any{"c": make(chan int)}}},
	} {
		p := vdb.Point{Space: space(t, "u"), ID: "x", Vector: []float32{1, 0}, Payload: vdb.Payload{Extra: extra}}
		if out, err := fields.encodePayload(p); !errors.Is(err, vdb.ErrBadPoint) {
			t.Errorf("%s: got %v, %v; want ErrBadPoint", name, out, err)
		}
	}
	extra := map[string]any{"metadata": map[string]any{"lang": "en", "times": map[string]any{"seen": "x"}}, "k": nested(20)}
	p := vdb.Point{Space: space(t, "u"), ID: "x", Payload: vdb.Payload{Extra: extra, MemoryAt: time.Unix(0, 0), AgentID: "a"}}
	out, err := fields.encodePayload(p)
	if err != nil {
		t.Fatal(err)
	}
	back, _ := fields.decodePayload(decodeObject(out))
	got := back.Extra
	delete(got["metadata"].(map[string]any), "user_id") // not a field of the payload but of the point
	if diff := cmp.Diff(extra, got); diff != "" {
		t.Errorf("beside the fields (-want +got):\n%s", diff)
	}
	late := vdb.Point{Space: space(t, "u"), ID: "x", Payload: vdb.Payload{MemoryAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	if _, err := fields.encodePayload(late); !errors.Is(err, vdb.ErrBadPoint) || !strings.Contains(err.Error(), "memory_at: year 10000") {
		t.Errorf("year 10000: got %v", err)
	}
}

func nested(depth int) any {
	var v any = "leaf"
	for range depth {
		v = map[string]any{"k": v}
	}
	return v
}

func TestDecodeVector(t *testing.T) {
	dense := func(data ...float32) *pb.VectorOutput {
		return &pb.VectorOutput{Vector: &pb.VectorOutput_Dense{Dense: &pb.DenseVector{Data: data}}}
	}
	flat := &pb.VectorOutput{Data: []float32{1, 2}}                                                         //nolint:staticcheck // as older servers answer
	flatSparse := &pb.VectorOutput{Data: []float32{1, 2}, Indices: &pb.SparseIndices{Data: []uint32{0, 1}}} //nolint:staticcheck // as older servers answer
	unnamed := func(v *pb.VectorOutput) *pb.VectorsOutput {
		return &pb.VectorsOutput{VectorsOptions: &pb.VectorsOutput_Vector{Vector: v}}
	}
	named := func(m map[string]*pb.VectorOutput) *pb.VectorsOutput {
		return &pb.VectorsOutput{VectorsOptions: &pb.VectorsOutput_Vectors{Vectors: &pb.NamedVectorsOutput{Vectors: m}}}
	}
	for name, tc := range map[string]struct {
		out  *pb.VectorsOutput
		name string
		ok   bool
	}{
		"unnamed":              {unnamed(dense(1, 2)), "", true},
		"unnamed among named":  {named(map[string]*pb.VectorOutput{"": dense(1, 2), "x": dense(9)}), "", true},
		"named":                {named(map[string]*pb.VectorOutput{"x": dense(9, 9), "d": dense(1, 2)}), "d", true},
		"flat":                 {unnamed(flat), "", true},
		"another name":         {named(map[string]*pb.VectorOutput{"x": dense(1, 2)}), "d", false},
		"unnamed, wants named": {unnamed(dense(1, 2)), "d", false},
		"too long":             {unnamed(dense(1, 2, 3)), "", false},
		"flat sparse":          {unnamed(flatSparse), "", false}, // of the right length, but not a dense vector
		"none":                 {nil, "", false},
	} {
		got, err := decodeVector(tc.out, tc.name, 2)
		if (err == nil) != tc.ok || tc.ok && !cmp.Equal(got, []float32{1, 2}) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestUnit(t *testing.T) {
	for name, tc := range map[string]struct{ v, want []float32 }{
		"3 4 5": {[]float32{3, 4}, []float32{0.6, 0.8}},
		"huge":  {[]float32{3e38, 0}, []float32{1, 0}},
		"tiny":  {[]float32{0, -1e-45}, []float32{0, -1}},
	} {
		given := append([]float32(nil), tc.v...)
		if diff := cmp.Diff(tc.want, unit(given)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !cmp.Equal(given, tc.v) {
			t.Errorf("%s: the argument was changed", name)
		}
	}
}

// A point of a collection with several vectors need not have the one that is searched.
func TestPointWithoutTheVector(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	raw := rawClient(t, srv.Addr())
	create(t, raw, pb.NewVectorsConfigMap(map[string]*pb.VectorParams{
		"dense": {Size: 2, Distance: pb.Distance_Cosine}, "image": {Size: 3, Distance: pb.Distance_Dot},
	}))
	point := func(num uint64, name string, vector ...float32) *pb.PointStruct {
		return &pb.PointStruct{Id: pb.NewIDNum(num), Payload: pb.NewValueMap(map[string]any{"user_id": "u"}),
			Vectors: pb.NewVectorsMap(map[string]*pb.Vector{name: pb.NewVectorDense(vector)})}
	}
	writeRaw(t, raw, point(1, "dense", 1, 0), point(2, "image", 1, 0, 0))
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", VectorName: "dense"})
	u := space(t, "u")
	for withVectors, want := range map[bool]int{true: 1, false: 2} {
		got, err := st.Get(t.Context(), u, []string{"1", "2"}, withVectors)
		if err != nil || len(got) != want {
			t.Errorf("with vectors %v: got %v, %v; want %d", withVectors, got, err, want)
		}
	}
	page, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 5, WithVectors: true})
	if err != nil || len(page.Points) != 2 || len(page.Skipped) != 0 || len(page.Points[0].Vector) != 2 || page.Points[1].Vector != nil {
		t.Errorf("page %+v, %v", page, err)
	}
}

// Whatever a server answers is a fact that can be stored again, or has a reason why not.
func FuzzDecodePoint(f *testing.F) {
	fields, err := newFieldMap(nestedFields)
	if err != nil {
		f.Fatal(err)
	}
	for _, payload := range []map[string]any{
		{"metadata": map[string]any{"user_id": "u", "agent id": "a", "times": map[string]any{"memory": "2026-01-01"}}, "labels": "x", "user_id": "y"},
		{"metadata": map[string]any{"user_id": 7}, "kith_id": "x", "k": []any{nil, 1.5}},
		{"metadata": "text"},
	} {
		data, err := proto.Marshal(&pb.RetrievedPoint{Id: pb.NewIDNum(7), Payload: pb.NewValueMap(payload)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p pb.RetrievedPoint
		if proto.Unmarshal(data, &p) != nil {
			return
		}
		got, reason := fields.decodePoint(&p)
		if (reason == "") == got.Space.IsZero() {
			t.Fatalf("reason %q for a point of %q", reason, got.Space)
		}
		got.Vector = []float32{1}
		if reason == "" && got.Validate(1) != nil {
			t.Errorf("read, but not valid: %v", got.Validate(1))
		}
	})
}

// What a scroll says of values that are not what their fields want: point, field, place, value, rule.
func TestScrollDescribesWhatItIgnores(t *testing.T) {
	st, _ := foreign(t, Config{Fields: map[string]string{vdb.FieldVersion: "meta.rev", vdb.FieldMemoryAt: "meta.at@rfc3339", vdb.FieldCreatedAt: "meta.ts@ms"}},
		rawPoint(1, map[string]any{"user_id": "u", "content": []any{"x", "y"}, "tags": []any{"a", 1.5, nil}, "meta": map[string]any{"rev": "new", "at": 1767225600, "ts": -1}}),
		rawPoint(2, map[string]any{"user_id": "u", "content": "fine", "meta": map[string]any{"rev": nil, "at": ""}}))
	page, err := st.Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`point "1": content at content: a list of 2: want a text or an integer`,
		`point "1": version at meta.rev: "new": want an integer`,
		`point "1": tags at tags: a list of 3: want a text, or a list of texts or integers`,
		`point "1": memory_at at meta.at: 1767225600: want a text as in RFC 3339`,
	}
	if diff := cmp.Diff(want, page.IgnoredTexts); diff != "" || page.Ignored != len(want) {
		t.Errorf("%d ignored (-want +got):\n%s", page.Ignored, diff)
	}
	first := vdb.Point{Space: space(t, "u"), ID: "1", Payload: vdb.Payload{Tags: []string{"a"}, CreatedAt: time.UnixMilli(-1).UTC()}}
	if len(page.Points) != 2 || !cmp.Equal(first, page.Points[0], cmp.Comparer(sameSpace)) {
		t.Errorf("points %+v: the fields that can be read are read", page.Points)
	}
	var many []*pb.PointStruct
	for i := range uint64(30) {
		many = append(many, rawPoint(i, map[string]any{"user_id": "u", "version": "x"}))
	}
	st, _ = foreign(t, Config{}, many...)
	page, err = st.Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 100})
	if err != nil || page.Ignored != 30 || len(page.IgnoredTexts) != vdb.MaxIgnoredTexts {
		t.Errorf("%d ignored, %d described, %v: want 30 and %d", page.Ignored, len(page.IgnoredTexts), err, vdb.MaxIgnoredTexts)
	}
}

// A content inside a JSON text is read, filtered by on this side, and never written.
func TestContentInsideJSON(t *testing.T) {
	cfg := Config{Fields: map[string]string{vdb.FieldContent: "_node@json.body.text"}}
	st, _ := foreign(t, cfg,
		rawPoint(1, map[string]any{"user_id": "u", "_node": `{"body": {"text": "tea", "n": 7}}`}),
		rawPoint(2, map[string]any{"user_id": "u", "_node": `{"body": {"text": "coffee"}}`}),
		rawPoint(3, map[string]any{"user_id": "u", "_node": `{"body": `}))
	u := space(t, "u")
	page, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 10})
	if err != nil || len(page.Points) != 3 {
		t.Fatalf("page %+v, %v", page, err)
	}
	got := []string{page.Points[0].Payload.Content, page.Points[1].Payload.Content, page.Points[2].Payload.Content}
	if diff := cmp.Diff([]string{"tea", "coffee", ""}, got); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	for _, bare := range []bool{false, true} { // the content decides also where it is not wanted
		q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 9, NoPayload: bare,
			Filter: vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldContent, Any: []string{"coffee"}}}}}
		one, err := st.Search(t.Context(), q)
		many, manyErr := st.SearchMany(t.Context(), []vdb.Query{q})
		for _, found := range append(many, one) {
			if err := errors.Join(err, manyErr); err != nil || len(found) != 1 || found[0].ID != "2" || (found[0].Payload.Content == "") != bare {
				t.Errorf("content is coffee, no payload %v: found %+v, %v", bare, found, err)
			}
		}
	}
	if err := st.Upsert(t.Context(), []vdb.Point{fact(u, "4", "milk")}); !errors.Is(err, vdb.ErrBadPoint) || !strings.Contains(err.Error(), "JSON text") {
		t.Errorf("written: %v", err)
	}
}

// A stated unit decides what numbers mean, in reading as in filtering. 1000 s and 1000 ms are 16 minutes and a second after
// the beginning of 1970.
func TestStatedTimeUnits(t *testing.T) {
	for unit, want := range map[string]time.Time{"@s": time.Unix(1000, 0), "@ms": time.UnixMilli(1000), "": time.Unix(1000, 0), "@rfc3339": {}} {
		st, _ := foreign(t, Config{Fields: map[string]string{vdb.FieldMemoryAt: "ts" + unit}}, rawPoint(1, map[string]any{"user_id": "u", "ts": 1000}))
		u := space(t, "u")
		got, err := st.Get(t.Context(), u, []string{"1"}, false)
		if err != nil || len(got) != 1 || !got[0].Payload.MemoryAt.Equal(want) {
			t.Fatalf("%q: got %+v, %v; want %v", unit, got, err, want)
		}
		at := want
		if at.IsZero() {
			at = time.Unix(1000, 0)
		}
		found, err := st.Search(t.Context(), vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 9,
			Filter: vdb.Filter{Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: at, To: at.Add(time.Microsecond)}}}})
		if err != nil || (len(found) == 1) == want.IsZero() {
			t.Errorf("%q: a range around it finds %d, %v", unit, len(found), err)
		}
	}
}
