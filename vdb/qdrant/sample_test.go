package qdrant

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// filled returns a driver on a collection that another program has written.
func filled(t *testing.T, vectors []vdb.VectorShape, points ...wire.Point) *Store {
	t.Helper()
	srv := wire.Start(t, wire.Options{})
	srv.Fill(t, "facts", vectors, points...)
	return open(t, Config{URL: srv.Addr(), Collection: "facts"})
}

func TestSampleDescribesTheCollection(t *testing.T) {
	vectors := []vdb.VectorShape{
		{Name: "dense", Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"},
		{Name: "image", Kind: vdb.VectorDense, Dimension: 3, Distance: "Dot"},
		{Name: "late", Kind: vdb.VectorMulti, Dimension: 4, Distance: "Cosine"},
		{Name: "bm25", Kind: vdb.VectorSparse, Distance: "Idf"},
		{Name: "words", Kind: vdb.VectorSparse},
	}
	st := filled(t, vectors,
		wire.Point{ID: uint64(1<<64 - 1), Payload: map[string]any{"a": map[string]any{"n": int64(1)}}, Vectors: map[string]any{"dense": []float32{1, 0}, "bm25": map[uint32]float32{7: 1}}},
		wire.Point{ID: sharedUUID, Vectors: map[string]any{"image": []float32{1, 0, 0}}})
	got, err := st.Sample(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := vdb.Sample{Collection: "facts", Total: 2, Vectors: vectors, Points: []vdb.RawPoint{
		{ID: "18446744073709551615", Payload: map[string]any{"a": map[string]any{"n": int64(1)}}, Vectors: []string{"bm25", "dense"}},
		{ID: sharedUUID, Payload: map[string]any{}, Vectors: []string{"image"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
	if _, err := st.Sample(t.Context(), MaxSample+1); !errors.Is(err, vdb.ErrBadQuery) || !strings.Contains(err.Error(), "1001") {
		t.Errorf("too many: %v", err)
	}
	if _, err := open(t, Config{URL: st.cfg.URL, Collection: "other", CreateCollection: true, Dimension: 2}).Sample(t.Context(), 1); !errors.Is(err, vdb.ErrNoCollection) {
		t.Errorf("a missing collection: %v: want it to stay missing", err)
	}
}

// A sample is never larger than asked for, never has a point twice, and takes points from the middle of the UUIDs.
func TestSampleSize(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("%02x000000-0000-4000-8000-000000000000", i) } // 00..., 0d..., 1a...: the tenth is 82...
	for name, tc := range map[string]struct {
		points func(i int) any
		n      int
		want   []string
	}{
		"integers":               {func(i int) any { return uint64(i) }, 6, []string{"0", "1", "2", "3", "4", "5"}},
		"UUIDs":                  {func(i int) any { return id(13 * i) }, 6, []string{id(0), id(13), id(26), id(130), id(143), id(39)}},
		"UUIDs of one half":      {func(i int) any { return id(i) }, 6, []string{id(0), id(1), id(2), id(3), id(4), id(5)}},
		"fewer than asked for":   {func(i int) any { return id(13 * i) }, 30, []string{id(0), id(13), id(26), id(39), id(52), id(65), id(78), id(91), id(104), id(117), id(130), id(143)}},
		"the middle comes twice": {func(i int) any { return id(128 + i) }, 8, []string{id(128), id(129), id(130), id(131), id(132), id(133), id(134), id(135)}},
		"few in the middle":      {func(i int) any { return id(119 + i) }, 8, []string{id(119), id(120), id(121), id(122), id(128), id(129), id(130), id(123)}},
		"one":                    {func(i int) any { return id(i) }, 1, []string{id(0)}},
	} {
		var points []wire.Point
		for i := range 12 {
			points = append(points, wire.Point{ID: tc.points(i), Vectors: map[string]any{"": []float32{1, 0}}})
		}
		st := filled(t, []vdb.VectorShape{{Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}}, points...)
		got, err := st.Sample(t.Context(), tc.n)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range got.Points {
			ids = append(ids, p.ID)
		}
		if diff := cmp.Diff(tc.want, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadRaw(t *testing.T) {
	st := open(t, Config{URL: "127.0.0.1:1", Collection: "facts"}) // asks nobody
	payload := map[string]any{"meta": map[string]any{"user": int64(7), "ts": int64(1767225600)}, "text": "tea", "tags": "one", "version": "x"}
	points := []vdb.RawPoint{{ID: "1", Payload: payload}, {ID: "2", Payload: map[string]any{"text": "milk"}}}
	fields := map[string]string{vdb.FieldUserID: "meta.user", vdb.FieldContent: "text", vdb.FieldMemoryAt: "meta.ts@s"}
	got, err := st.ReadRaw(points, fields)
	if err != nil {
		t.Fatal(err)
	}
	want := []vdb.Reading{{
		Values:  map[string]any{vdb.FieldUserID: "7", vdb.FieldContent: "tea", vdb.FieldMemoryAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), vdb.FieldTags: []string{"one"}},
		Ignored: []string{`point "1": version at version: "x": want an integer`},
	}, {
		Values: map[string]any{vdb.FieldContent: "milk"}, Skipped: "point 2: no user id at meta.user",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if payload["text"] != "tea" || len(payload["meta"].(map[string]any)) != 2 {
		t.Errorf("the sample was changed: %v", payload)
	}
	if _, err := st.ReadRaw(points, map[string]string{"x": "y"}); err == nil {
		t.Error("a mapping of an unknown field: no error")
	}
}
