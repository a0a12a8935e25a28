package backfill_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// Collections as other programs write them, two points each: the payloads are what their sources make of a document of ann's
// and one of bob's. Times are 2026-01-01T00:00:00Z, which is 1767225600 s, and later ones.
const (
	idOne = "0a1b2c3d-0000-4000-8000-000000000001"
	idTwo = "9a1b2c3d-0000-4000-8000-000000000002"
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// collection is a layout with what should be read from it.
type collection struct {
	preset  string
	vectors []vdb.VectorShape
	points  []wire.Point
	want    []vdb.Point
	updated []string // Extra's updated_at of each
	flags   []string
}

func unnamedCosine() vdb.VectorShape {
	return vdb.VectorShape{Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}
}

func point(id any, vector string, payload map[string]any) wire.Point {
	return wire.Point{ID: id, Payload: payload, Vectors: map[string]any{vector: []float32{1, 0}}}
}

func with(p wire.Point, name string, v any) wire.Point {
	p.Vectors[name] = v
	return p
}

func collections(t *testing.T) []collection {
	ann, bob := user(t, "ann"), user(t, "bob")
	words := map[uint32]float32{3: 1.5}
	return []collection{{
		preset: "kith", vectors: []vdb.VectorShape{unnamedCosine()},
		points: []wire.Point{
			point(uint64(1<<64-1), "", map[string]any{"user_id": "bob", "content": "coffee", "tags": "drinks", "memory_at": int64(1767225600123)}),
			point(idOne, "", map[string]any{"user_id": "ann", "content": "tea", "tags": []any{"drinks", "work"}, "version": int64(3), "memory_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T01:00:00Z"}),
		},
		want: []vdb.Point{
			{Space: bob, ID: "18446744073709551615", Payload: vdb.Payload{Content: "coffee", Tags: []string{"drinks"}, MemoryAt: newYear.Add(123 * time.Millisecond)}},
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", Tags: []string{"drinks", "work"}, Version: 3, MemoryAt: newYear}},
		},
		updated: []string{"", "2026-01-01T01:00:00Z"},
	}, {
		preset: "mem0", vectors: []vdb.VectorShape{unnamedCosine(), {Name: "bm25", Kind: vdb.VectorSparse, Distance: "Idf"}},
		points: []wire.Point{
			with(point(idOne, "", map[string]any{"data": "tea", "hash": "d41d8", "text_lemmatized": "tea", "created_at": "2026-01-01T00:00:00.000001+00:00", "updated_at": "2026-01-01T02:00:00+00:00", "user_id": "ann", "run_id": "r1", "agent_id": "a1", "category": "drinks"}), "bm25", words),
			point(idTwo, "", map[string]any{"data": "coffee", "hash": "e0f1", "created_at": "2026-01-01T00:00:00", "updated_at": "2026-01-01T03:00:00", "user_id": "bob"}),
		},
		want: []vdb.Point{
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", AgentID: "a1", EpisodeID: "r1", CreatedAt: newYear.Add(time.Microsecond)}},
			{Space: bob, ID: idTwo, Payload: vdb.Payload{Content: "coffee", CreatedAt: newYear}},
		},
		updated: []string{"2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"},
		flags:   []string{"--qdrant-preset=mem0"},
	}, {
		preset: "langchain", vectors: []vdb.VectorShape{unnamedCosine(), {Name: "langchain-sparse", Kind: vdb.VectorSparse}},
		points: []wire.Point{
			point(idOne, "", map[string]any{"page_content": "tea", "metadata": map[string]any{"user_id": "ann", "source": "tea.md", "tags": []any{"drinks"}, "memory_at": 1767225600.5}}),
			point(idTwo, "", map[string]any{"page_content": "coffee", "metadata": map[string]any{"user_id": "bob", "source": "coffee.md", "updated_at": int64(1767225600)}}),
		},
		want: []vdb.Point{
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", SourceID: "tea.md", Tags: []string{"drinks"}, MemoryAt: newYear.Add(500 * time.Millisecond)}},
			{Space: bob, ID: idTwo, Payload: vdb.Payload{Content: "coffee", SourceID: "coffee.md"}},
		},
		updated: []string{"", "2026-01-01T00:00:00Z"},
		flags:   []string{"--qdrant-preset=langchain"},
	}, {
		preset: "llamaindex", vectors: []vdb.VectorShape{{Name: "text-dense", Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}, {Name: "text-sparse-new", Kind: vdb.VectorSparse, Distance: "Idf"}},
		points: []wire.Point{
			point(idOne, "text-dense", map[string]any{"user_id": "ann", "tags": "drinks", "_node_content": `{"id_": "` + idOne + `", "embedding": null, "text": "tea", "class_name": "TextNode"}`, "_node_type": "TextNode", "document_id": "d1", "doc_id": "d1", "ref_doc_id": "d1"}),
			point(idTwo, "text-dense", map[string]any{"user_id": "bob", "_node_content": `{"text": "coffee"}`, "_node_type": "TextNode", "document_id": "None", "doc_id": "None", "ref_doc_id": "None"}),
		},
		want: []vdb.Point{
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", SourceID: "d1", Tags: []string{"drinks"}}},
			{Space: bob, ID: idTwo, Payload: vdb.Payload{Content: "coffee"}},
		},
		updated: []string{"", ""},
		flags:   []string{"--qdrant-preset=llamaindex"},
	}, {
		preset: "hy-memory", vectors: []vdb.VectorShape{unnamedCosine(), {Name: "bm25", Kind: vdb.VectorSparse}},
		points: []wire.Point{
			with(point(idOne, "", hyNode(idOne, "ann", "l2_fact", "active", "tea", nil)), "bm25", words),
			with(point(idTwo, "", hyNode(idTwo, "bob", "l2_fact", "shadow", "coffee", []any{idOne})), "bm25", words),
			point("aa1b2c3d-0000-4000-8000-000000000003", "", hyNode("aa1b2c3d-0000-4000-8000-000000000003", "bob", "l1_raw", "active", "raw", nil)),
		},
		want: []vdb.Point{
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", State: "active", AgentID: "a1", EpisodeID: "e1", SourceID: "s1", Tags: []string{"drinks"}, MemoryAt: newYear, CreatedAt: newYear.Add(time.Second), ValidTo: newYear.Add(3 * time.Second)}},
			{Space: bob, ID: idTwo, Payload: vdb.Payload{Content: "coffee", State: "shadowed", AgentID: "a1", EpisodeID: "e1", SourceID: "s1", Tags: []string{"drinks"}, MemoryAt: newYear, CreatedAt: newYear.Add(time.Second), ValidTo: newYear.Add(3 * time.Second)}},
		},
		updated: []string{"2026-01-01T00:00:02Z", "2026-01-01T00:00:02Z"},
		flags:   []string{"--qdrant-preset=hy-memory"},
	}, {
		preset: "haystack", vectors: []vdb.VectorShape{{Name: "text-dense", Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}, {Name: "text-sparse", Kind: vdb.VectorSparse, Distance: "Idf"}},
		points: []wire.Point{
			point(idOne, "text-dense", map[string]any{"id": "f3ab", "content": "tea", "blob": nil, "score": nil, "meta": map[string]any{"user_id": "ann", "source_id": "d1", "created_at": "2026-01-01"}}),
			point(idTwo, "text-dense", map[string]any{"id": "77cd", "content": "coffee", "blob": nil, "score": nil, "meta": map[string]any{"user_id": int64(7)}}),
		},
		want: []vdb.Point{
			{Space: ann, ID: idOne, Payload: vdb.Payload{Content: "tea", SourceID: "d1", CreatedAt: newYear}},
			{Space: user(t, "7"), ID: idTwo, Payload: vdb.Payload{Content: "coffee"}},
		},
		updated: []string{"", ""},
		flags:   []string{"--qdrant-preset=haystack", "--qdrant-vector=text-dense"},
	}}
}

func hyNode(id, owner, layer, status, text string, by []any) map[string]any {
	p := map[string]any{
		"node_id": id, "isolation_key": owner + "::a1::default_session", "user_id": owner, "agent_id": "a1", "session_id": "", "source": "default",
		"episode_id": "e1", "layer": layer, "content": text, "search_text": text, "status": status, "memory_at": int64(1767225600),
		"gmt_created": int64(1767225601), "gmt_modified": int64(1767225602), "valid_from": nil, "valid_until": int64(1767225603),
		"source_session_id": "s1", "is_latest": true, "tags": []any{"drinks"}, "superseded_by": nil, "custom": map[string]any{},
	}
	if by != nil {
		p["superseded_by"] = by
	}
	return p
}

func user(t *testing.T, id string) graphstore.Space {
	t.Helper()
	space, err := graphstore.NewSpace(id)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// opened returns a driver on a collection of a wire-level server.
func opened(t *testing.T, c collection, fields map[string]string, vector string) *qdrant.Store {
	t.Helper()
	srv := wire.Start(t, wire.Options{})
	srv.Fill(t, "theirs", c.vectors, c.points...)
	return reopened(t, srv, fields, vector)
}

func reopened(t *testing.T, srv *wire.Server, fields map[string]string, vector string) *qdrant.Store {
	t.Helper()
	st, err := qdrant.New(qdrant.Config{URL: srv.Addr(), Collection: "theirs", Fields: fields, VectorName: vector})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// Each preset's collection is recognised, and read by the mapping that the probe names.
func TestPresets(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range collections(t) {
		tested[c.preset] = true
		t.Run(c.preset, func(t *testing.T) {
			srv := wire.Start(t, wire.Options{})
			srv.Fill(t, "theirs", c.vectors, c.points...)
			found, err := backfill.Probe(t.Context(), reopened(t, srv, nil, ""), backfill.ProbeRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if found.Preset != c.preset || !found.Fits || found.Vector == nil || len(found.Problems) > 0 {
				t.Fatalf("probed:\n%s", found)
			}
			if diff := cmp.Diff(c.flags, found.Flags); diff != "" {
				t.Errorf("flags (-want +got):\n%s\n%s", diff, found)
			}
			m, err := backfill.NewMapping(found.Preset, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkScroll(t, m.Points(reopened(t, srv, m.Fields, *found.Vector)), c)
		})
	}
	for _, name := range backfill.PresetNames() {
		if !tested[name] {
			t.Errorf("preset %s has no collection here", name)
		}
	}
}

func checkScroll(t *testing.T, points backfill.Points, c collection) {
	t.Helper()
	page, err := points.Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 10, WithVectors: true})
	if err != nil {
		t.Fatal(err)
	}
	var updated []string
	got := page.Points
	for i := range got {
		text, _ := got[i].Payload.Extra[backfill.FieldUpdatedAt].(string)
		updated = append(updated, text)
		got[i].Vector, got[i].Payload.Extra = nil, nil
	}
	if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.updated, updated); diff != "" {
		t.Errorf("updated_at (-want +got):\n%s", diff)
	}
	if page.Ignored != 0 || len(page.Skipped) != len(c.points)-len(c.want) {
		t.Errorf("skipped %q, ignored %q", page.Skipped, page.IgnoredTexts)
	}
}

// A backfill by the preset hy-memory asks for neighbours among facts only, and knows the first of several successors.
func TestOnlyFactsOfAPreset(t *testing.T) {
	var hy collection
	for _, c := range collections(t) {
		if c.preset == "hy-memory" {
			hy = c
		}
	}
	m, err := backfill.NewMapping("hy-memory", nil)
	if err != nil {
		t.Fatal(err)
	}
	st := opened(t, hy, m.Fields, "")
	q := vdb.Query{Space: user(t, "bob"), Vector: []float32{1, 0}, Limit: 9}
	for points, want := range map[backfill.Points]int{st: 2, m.Points(st): 1} { // the raw layer counts only without the preset
		if found, err := points.SearchMany(t.Context(), []vdb.Query{q}); err != nil || len(found) != 1 || len(found[0]) != want {
			t.Errorf("%T finds %v, %v; want %d", points, found, err, want)
		}
	}
	page, err := m.Points(st).Scroll(t.Context(), vdb.ScrollQuery{Space: user(t, "bob"), Limit: 9})
	if err != nil || len(page.Points) != 1 || page.Points[0].Payload.Extra[backfill.FieldSupersededBy] != idOne {
		t.Errorf("page %+v, %v", page, err)
	}
	if len(page.Skipped) != 1 || !strings.Contains(page.Skipped[0], `"l1_raw" at layer: want l2_fact`) {
		t.Errorf("skipped %q", page.Skipped)
	}
}
