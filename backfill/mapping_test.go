package backfill_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// Explicit places win, and what they displace is looked for nowhere else.
func TestExplicitPlacesWin(t *testing.T) {
	c := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{
		point(idOne, "", map[string]any{"data": "tea", "who": "ann", "user_id": "nobody", "created_at": "2026-01-01T00:00:00Z", "changed": int64(1767225600000), "rel": []any{map[string]any{"to": idTwo}}}),
	}}
	m, err := backfill.NewMapping("mem0", map[string]string{
		vdb.FieldUserID: "who", vdb.FieldMemoryAt: "created_at", backfill.FieldUpdatedAt: "changed@ms", backfill.FieldRelations: "rel",
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := m.Points(opened(t, c, m.Fields, "")).Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 5})
	if err != nil || len(page.Points) != 1 {
		t.Fatalf("page %+v, %v", page, err)
	}
	p := page.Points[0]
	if p.Space != user(t, "ann") || !cmp.Equal(p.Payload.MemoryAt, newYear) || !p.Payload.CreatedAt.IsZero() || p.Payload.Content != "tea" {
		t.Errorf("point %+v", p)
	}
	want := map[string]any{"changed": int64(1767225600000), "rel": p.Payload.Extra["rel"], "updated_at": "2026-01-01T00:00:00Z", "relations": []any{map[string]any{"to": idTwo}}}
	if diff := cmp.Diff(want, p.Payload.Extra); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
}

func TestMappingErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		preset string
		fields map[string]string
		say    string
	}{
		"preset":           {"mem1", nil, `preset "mem1": want one of kith, mem0, hy-memory, langchain, llamaindex, haystack`},
		"field":            {"", map[string]string{"colour": "x"}, `"colour" is no field`},
		"path":             {"", map[string]string{vdb.FieldContent: "a..b"}, `content: path "a..b"`},
		"path of an extra": {"", map[string]string{backfill.FieldUpdatedAt: "a b"}, `updated_at: path "a b"`},
		"unit":             {"", map[string]string{backfill.FieldUpdatedAt: "a@days"}, `unit @"days"`},
		"unit of no time":  {"", map[string]string{backfill.FieldRelations: "a@ms"}, "only times have one"},
	} {
		if _, err := backfill.NewMapping(tc.preset, tc.fields); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v: want %q", name, err, tc.say)
		}
	}
}

// A value that is not what its field wants is absent, and a page says so: point, field, value, rule.
func TestMappedValuesOfWrongType(t *testing.T) {
	c := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{
		point(uint64(7), "", map[string]any{"user_id": "ann", "version": []any{}, "updated_at": "yesterday", "recorded_at": true}),
		point(uint64(8), "", map[string]any{"content": "whose?"}),
		point(uint64(9), "", map[string]any{"user_id": nil}),
	}}
	m, err := backfill.NewMapping("", nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := m.Points(opened(t, c, m.Fields, "")).Scroll(t.Context(), vdb.ScrollQuery{AllSpaces: true, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`point "7": version at version: a list of 0: want an integer`,
		`point "7": updated_at at updated_at: "yesterday": want a time as RFC 3339, or seconds or milliseconds since 1970`,
		`point "7": recorded_at at recorded_at: true: want a time as RFC 3339, or seconds or milliseconds since 1970`,
	}
	if diff := cmp.Diff(want, page.IgnoredTexts); diff != "" || page.Ignored != 3 {
		t.Errorf("%d ignored (-want +got):\n%s", page.Ignored, diff)
	}
	if len(page.Points) != 1 || len(page.Points[0].Payload.Extra) != 0 {
		t.Errorf("points %+v", page.Points)
	}
	if diff := cmp.Diff([]string{"point 8: no user id at user_id", "point 9: user id is a null: want a text or an integer, at user_id: null"}, page.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

// The account of a run counts and names what a page ignored and skipped.
func TestAccountOfIgnoredValues(t *testing.T) {
	m, err := backfill.NewMapping("", map[string]string{vdb.FieldMemoryAt: "at@rfc3339"})
	if err != nil {
		t.Fatal(err)
	}
	c := collection{vectors: []vdb.VectorShape{unnamedCosine()}, points: []wire.Point{
		point(uint64(7), "", map[string]any{"user_id": "ann", "tags": "drinks", "at": int64(1767225600), "updated_at": "yesterday"}),
		point(uint64(8), "", map[string]any{"content": "whose?"}),
	}}
	a := must(t, t.TempDir(), m.Points(opened(t, c, m.Fields, "")), newGraph(t), backfill.Request{})
	if a.Scanned != 2 || a.Skipped != 1 || a.BadValues != 2 || a.Changed != 1 {
		t.Errorf("%+v", a)
	}
	want := []string{
		"point 8: no user id at user_id",
		`point "7": memory_at at at: 1767225600: want a text as in RFC 3339`,
		`point "7": updated_at at updated_at: "yesterday": want a time as RFC 3339, or seconds or milliseconds since 1970`,
	}
	if diff := cmp.Diff(want, a.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// What the store returned is not changed: it may keep it.
func TestMappingLeavesTheStoresMaps(t *testing.T) {
	extra := map[string]any{"updated_at": int64(1767225600), "x": "y"}
	m, err := backfill.NewMapping("", nil)
	if err != nil {
		t.Fatal(err)
	}
	store := fixed{vdb.Page{Points: []vdb.Point{{Space: user(t, "ann"), ID: "1", Payload: vdb.Payload{Extra: extra}}}}}
	page, err := m.Points(store).Scroll(t.Context(), vdb.ScrollQuery{})
	if err != nil || page.Points[0].Payload.Extra["updated_at"] != newYear.Format(time.RFC3339) {
		t.Errorf("page %+v, %v", page, err)
	}
	if diff := cmp.Diff(map[string]any{"updated_at": int64(1767225600), "x": "y"}, extra); diff != "" {
		t.Errorf("the store's map (-want +got):\n%s", diff)
	}
}
