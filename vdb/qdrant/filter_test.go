package qdrant

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// A server's index on times knows whole microseconds. Stored times are whole microseconds, too, so a bound between two of
// them must be asked for as the later one, whether it is inclusive or exclusive.
func TestTimeBoundsAreWholeMicroseconds(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
	for _, given := range []time.Time{at.Add(-999), at.Add(-1), at} {
		if got := ceilMicro(given); !got.Equal(at) {
			t.Errorf("%v became %v, want %v", given, got, at)
		}
	}
	before1970 := time.Unix(-1, 500)
	if got := ceilMicro(before1970); !got.Equal(time.Unix(-1, 1000)) {
		t.Errorf("%v became %v", before1970, got)
	}
	c := conditions{fields: fieldMap{paths: map[string]path{vdb.FieldMemoryAt: {"memory_at"}}}, schema: map[string]pb.PayloadSchemaType{"memory_at": pb.PayloadSchemaType_Datetime}}
	bounds := c.timeRange(vdb.TimeRange{Field: vdb.FieldMemoryAt, From: at.Add(-1), To: at.Add(1)}).GetField().GetDatetimeRange()
	if from, to := bounds.GetGte().AsTime(), bounds.GetLt().AsTime(); !from.Equal(at) || !to.Equal(at.Add(time.Microsecond)) {
		t.Errorf("asked for [%v, %v)", from, to)
	}
}

// The index of a field says which of the spellings of a value can occur; only that one is asked for.
func TestIndexesChooseTheCondition(t *testing.T) {
	keyword, integer := pb.NewMatchKeyword("k", "7"), pb.NewMatchInts("k", 7)
	for kind, want := range map[pb.PayloadSchemaType]*pb.Condition{
		pb.PayloadSchemaType_Keyword:     keyword,
		pb.PayloadSchemaType_Uuid:        keyword,
		pb.PayloadSchemaType_Integer:     integer,
		pb.PayloadSchemaType_UnknownType: anyOf(keyword, integer),
		pb.PayloadSchemaType_Bool:        pb.NewHasID(), // "7" is no boolean: nothing matches
	} {
		got := conditions{schema: map[string]pb.PayloadSchemaType{"k": kind}}.match(path{"k"}, []string{"7"}, true)
		if !proto.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", kind, got, want)
		}
	}
}

// A field whose name the server cannot be asked for is checked here, and the search goes on until it has enough.
func TestFieldsTheServerCannotName(t *testing.T) {
	_, st, q := started(t, wire.Options{}, Config{})
	points := make([]vdb.Point, 200)
	for i := range points { // the farther from the query the larger i; every 50th has the field
		points[i] = vdb.Point{Space: q.Space, ID: fmt.Sprintf("p%03d", i), Vector: []float32{200 - float32(i), float32(i)}}
		if i%50 == 49 {
			points[i].Payload.Extra = map[string]any{`a"b`: []any{"v", int64(3), true, 1.5, []any{"nested"}}}
		}
	}
	upsert(t, st, points...)
	for value, want := range map[string][]string{
		"v": {"p049", "p099", "p149"}, "3": {"p049", "p099", "p149"}, "true": {"p049", "p099", "p149"}, "1.5": nil, "nested": nil,
	} {
		q.Filter = vdb.Filter{Match: []vdb.FieldMatch{{Field: `a"b`, Any: []string{value, "other"}}}}
		q.Limit = 3
		found, err := st.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range found {
			ids = append(ids, m.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
		scored, err := st.Score(t.Context(), q, []string{"p049", "p050"})
		if err != nil || len(scored) != min(1, len(want)) {
			t.Errorf("%s: scored %v, %v", value, scored, err)
		}
	}
}

// A bad query is refused without asking the server, even one that is down.
func TestBadQueriesNeedNoServer(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts"})
	srv.Stop()
	q := vdb.Query{Space: space(t, "u"), Vector: []float32{0, 0}, Limit: 1}
	_, searchErr := st.Search(t.Context(), q)
	_, scrollErr := st.Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 0})
	_, keywordErr := st.Keyword(t.Context(), vdb.KeywordQuery{Space: q.Space, Text: "x"})
	for what, err := range map[string]error{"Search": searchErr, "Scroll": scrollErr, "Keyword": keywordErr} {
		if !errors.Is(err, vdb.ErrBadQuery) {
			t.Errorf("%s: got %v, want ErrBadQuery", what, err)
		}
	}
	if err := st.Upsert(t.Context(), []vdb.Point{{Space: q.Space, ID: "x"}}); !errors.Is(err, vdb.ErrBadPoint) {
		t.Errorf("Upsert: got %v, want ErrBadPoint", err)
	}
}
