package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// fixed is a store of one page.
type fixed struct{ page vdb.Page }

func (f fixed) Scroll(context.Context, vdb.ScrollQuery) (vdb.Page, error) { return f.page, nil }
func (fixed) Info(context.Context) (vdb.Info, error)                      { return vdb.Info{}, nil }
func (fixed) Count(context.Context, graphstore.Space) (int64, error)      { return 0, nil }
func (fixed) SearchMany(context.Context, []vdb.Query) ([][]vdb.Match, error) {
	return nil, nil
}
func (fixed) Get(context.Context, graphstore.Space, []string, bool) ([]vdb.Point, error) {
	return nil, nil
}

func probe(t *testing.T, c collection, req backfill.ProbeRequest) backfill.ProbeReport {
	t.Helper()
	found, err := backfill.Probe(t.Context(), opened(t, c, nil, ""), req)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func contains(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(page, line) {
			t.Errorf("want %q in\n%s", line, page)
		}
	}
}

// A layout that nobody knows: fields are guessed by their names, and the flags that come of it read the collection.
func TestProbeOfAnUnknownLayout(t *testing.T) {
	c := collection{
		vectors: []vdb.VectorShape{{Name: "body", Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}, {Name: "title", Kind: vdb.VectorDense, Dimension: 3, Distance: "Dot"}, {Name: "late", Kind: vdb.VectorMulti, Dimension: 4, Distance: "Cosine"}, {Name: "bm25", Kind: vdb.VectorSparse}},
		points: []wire.Point{
			point(uint64(1), "body", map[string]any{"doc": map[string]any{"userId": "ann", "Body": "tea"}, "labels": []any{"drinks"}, "status": "done", "ts": int64(1767225600000)}),
			point(uint64(2), "body", map[string]any{"doc": map[string]any{"userId": "bob", "Body": "coffee"}, "labels": "drinks", "status": "open", "ts": int64(1767225601000)}),
			{ID: uint64(3), Payload: map[string]any{"doc": map[string]any{"Body": "whose?"}}, Vectors: map[string]any{"title": []float32{1, 0, 0}}},
		},
		want: []vdb.Point{
			{Space: user(t, "ann"), ID: "1", Payload: vdb.Payload{Content: "tea", Tags: []string{"drinks"}, MemoryAt: newYear}},
			{Space: user(t, "bob"), ID: "2", Payload: vdb.Payload{Content: "coffee", Tags: []string{"drinks"}, MemoryAt: newYear.Add(1e9)}},
		},
		updated: []string{"", ""},
	}
	found := probe(t, c, backfill.ProbeRequest{})
	if found.Fits || found.NoUser != 1 || found.NoVector != 1 || len(found.Problems) > 0 {
		t.Errorf("found:\n%s", found)
	}
	fields := map[string]string{vdb.FieldUserID: "doc.userId", vdb.FieldContent: "doc.Body", vdb.FieldTags: "labels", vdb.FieldMemoryAt: "ts"}
	want := []string{"--qdrant-fields=user_id=doc.userId,content=doc.Body,tags=labels,memory_at=ts", "--qdrant-vector=body"} // status says no states
	if diff := cmp.Diff(want, found.Flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	contains(t, found.String(), "none fits", "user_id       at doc.userId", `2 of 3, like "ann"   guessed by its name`, "like 2026-01-01T00:00:00Z",
		"no co_occurs edges", "no causes, elaborates", "version 0: points complete", "point 3: no user id at doc.userId", "skipped for want of a user: 1 of 3",
		`"body", dense, 2 dimensions, Cosine: can be searched`, `"title", dense, 3 dimensions, Dot: cannot be searched: scores of Dot`,
		`"late", multi, 4 dimensions, Cosine: cannot be searched: a multi-vector`, `"bm25", sparse: cannot be searched by words`,
		`searched: "body", which 2 of 3 points have`)
	m, err := backfill.NewMapping(found.Preset, fields)
	if err != nil {
		t.Fatal(err)
	}
	checkScroll(t, m.Points(opened(t, c, m.Fields, "body")), c)
}

// What stands in the way is a problem, and what a field's absence costs is said.
func TestProbeProblems(t *testing.T) {
	noUser := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{point(idOne, "", map[string]any{"page_content": "tea", "metadata": nil})}}
	dot := collection{vectors: []vdb.VectorShape{{Kind: vdb.VectorDense, Dimension: 2, Distance: "Dot"}}, points: []wire.Point{point(idOne, "", map[string]any{"user_id": "ann", "content": "tea"})}}
	raw := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{point(idOne, "", hyNode(idOne, "ann", "l1_raw", "active", "tea", nil))}}
	for name, tc := range map[string]struct {
		c      collection
		preset string
		say    []string
	}{
		"no user":     {noUser, "langchain", []string{"problem: no sampled point has a user", "at metadata.user_id", "nothing can be projected"}},
		"dot product": {dot, "kith", []string{"problem: no vector that can be searched", "distance Cosine"}},
		"other layer": {raw, "hy-memory", []string{"problem: no sampled point is a fact by the preset hy-memory", "no facts by the preset: 1 of 1", `"l1_raw"`}},
		"empty":       {collection{vectors: dot.vectors}, "kith", []string{"problem: the collection is empty", "flags: not known"}},
	} {
		found := probe(t, tc.c, backfill.ProbeRequest{})
		if found.Preset != tc.preset {
			t.Errorf("%s: preset %s, want %s", name, found.Preset, tc.preset)
		}
		contains(t, found.String(), tc.say...)
	}
	given := probe(t, noUser, backfill.ProbeRequest{Preset: "mem0", Fields: map[string]string{vdb.FieldContent: "page_content"}})
	contains(t, given.String(), "taken as asked: mem0", "flags: --qdrant-preset=mem0 --qdrant-fields=content=page_content")
}

// Older LlamaIndex collections have an unnamed vector where the preset has a named one.
func TestProbeSaysUnnamed(t *testing.T) {
	old := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{
		point(idOne, "", map[string]any{"user_id": "ann", "_node_content": `{"text": "tea"}`, "_node_type": "TextNode", "ref_doc_id": "None"})}}
	found := probe(t, old, backfill.ProbeRequest{})
	if diff := cmp.Diff([]string{"--qdrant-preset=llamaindex", "--qdrant-vector=-"}, found.Flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	for _, f := range found.Fields {
		if f.Field == vdb.FieldSourceID && f.Points > 0 {
			t.Errorf("the text None counts as a source: %+v", f)
		}
	}
}

// A name that fits lies around a place that was given: it is not guessed.
func TestProbeGuessesNothingInTheWay(t *testing.T) {
	c := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{
		point(uint64(1), "", map[string]any{"user_id": "ann", "content": "tea", "source": map[string]any{"bot": "b1"}}),
		point(uint64(2), "", map[string]any{"user_id": "ann", "content": "milk", "source": "d1"}),
	}}
	found := probe(t, c, backfill.ProbeRequest{Fields: map[string]string{vdb.FieldAgentID: "source.bot"}})
	if diff := cmp.Diff([]string{"--qdrant-fields=agent_id=source.bot"}, found.Flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	found = probe(t, c, backfill.ProbeRequest{})
	if diff := cmp.Diff([]string{"--qdrant-fields=source_id=source"}, found.Flags); diff != "" {
		t.Errorf("flags without it (-want +got):\n%s", diff)
	}
}

// A path with a blank reaches the shell as one word.
func TestProbeQuotesFlags(t *testing.T) {
	odd := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{point(idOne, "", map[string]any{"User ID": "ann", "content": "it's tea"})}}
	found := probe(t, odd, backfill.ProbeRequest{})
	contains(t, found.String(), `flags: '--qdrant-fields=user_id="User ID"'`)
}

// failing is a collection that cannot be reached.
type failing struct{}

func (failing) Sample(context.Context, int) (vdb.Sample, error) {
	return vdb.Sample{}, fmt.Errorf("%w: gone", vdb.ErrUnavailable)
}

func (failing) ReadRaw([]vdb.RawPoint, map[string]string) ([]vdb.Reading, error) { return nil, nil }

func TestProbeOfNothing(t *testing.T) {
	if _, err := backfill.Probe(t.Context(), failing{}, backfill.ProbeRequest{}); !errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
