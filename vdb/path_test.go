package vdb_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/vdb"
)

func TestPathFind(t *testing.T) {
	object := map[string]any{
		"a": map[string]any{"b": int64(1), "n": nil}, "text": `{"in": {"x": [1, 2.5, "t", 123456789012345678901]}}`, "list": "[1]", "bad": "{",
	}
	for text, want := range map[string]any{
		"a.b": int64(1), "a.n": nil, "text@json.in.x": []any{int64(1), 2.5, "t", 123456789012345678901.0}, "text": object["text"],
	} {
		p, err := vdb.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Find(object); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"x", "a.x", "a.b.c", "a@json.b", "text@json.out", "list@json.x", "bad@json.x", "text.in"} {
		p, err := vdb.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Find(object); ok {
			t.Errorf("%s: found %v", text, got)
		}
	}
	for _, text := range []string{"@json", "@json.a", "a@json", "a@json@json.b", `"@json".a`, "a@jsonx"} {
		if p, err := vdb.ParsePath(text); err == nil {
			t.Errorf("%s: accepted as %q", text, []string(p))
		}
	}
}
