package qdrant

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/vdb"
)

func TestParsePath(t *testing.T) {
	for text, want := range map[string]path{
		"a": {"a"}, "user_id": {"user_id"}, "a.b.c": {"a", "b", "c"}, `a."b.c"`: {"a", "b.c"}, `"a b".c`: {"a b", "c"}, "a@json.b": {"a", vdb.PathJSON, "b"}, "スキー-1": {"スキー-1"},
	} {
		got, err := parsePath(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
		if got.String() != text {
			t.Errorf("%s: written as %s", text, got)
		}
	}
	for _, text := range []string{"", ".", "a.", ".a", "a..b", "a b", "a[0]", "a[]", `"a`, `"a"b`, `""`, `"a\"`, "a\x00"} {
		if got, err := parsePath(text); err == nil {
			t.Errorf("%q: accepted as %q", text, []string(got))
		}
	}
}

func TestPathTakeAndPut(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{"a": map[string]any{"b": map[string]any{"c": 1}, "d": 2}, "e": 3, "n": nil}
	}
	for name, tc := range map[string]struct {
		p    path
		want any
		ok   bool
		left map[string]any
	}{
		"top":                    {path{"e"}, 3, true, map[string]any{"a": object()["a"], "n": nil}},
		"null is a value":        {path{"n"}, nil, true, map[string]any{"a": object()["a"], "e": 3}},
		"inside":                 {path{"a", "d"}, 2, true, map[string]any{"a": map[string]any{"b": map[string]any{"c": 1}}, "e": 3, "n": nil}},
		"emptied objects go too": {path{"a", "b", "c"}, 1, true, map[string]any{"a": map[string]any{"d": 2}, "e": 3, "n": nil}},
		"absent":                 {path{"a", "x"}, nil, false, object()},
		"through a scalar":       {path{"e", "x"}, nil, false, object()},
	} {
		got := object()
		v, ok := tc.p.take(got)
		if v != tc.want || ok != tc.ok {
			t.Errorf("%s: took %v %v, want %v %v", name, v, ok, tc.want, tc.ok)
		}
		if diff := cmp.Diff(tc.left, got); diff != "" {
			t.Errorf("%s: left (-want +got):\n%s", name, diff)
		}
	}
	o := object()
	for _, tc := range []struct {
		p  path
		ok bool
	}{{path{"a", "b", "new"}, true}, {path{"new", "x"}, true}, {path{"e"}, false}, {path{"e", "x"}, false}, {path{"a", "d"}, false}} {
		if ok := tc.p.put(o, "v"); ok != tc.ok {
			t.Errorf("put at %s: %v", tc.p, ok)
		}
	}
	want := map[string]any{"a": map[string]any{"b": map[string]any{"c": 1, "new": "v"}, "d": 2}, "e": 3, "n": nil, "new": map[string]any{"x": "v"}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("after the puts (-want +got):\n%s", diff)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"a", `a."b c".d`, "a.", `"`, `"\"`, "スキー", "a@json.b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		again, err := parsePath(p.String())
		if diff := cmp.Diff(p, again); err != nil || diff != "" {
			t.Errorf("%q is written as %q, which reads otherwise: %v\n%s", text, p, err, diff)
		}
		if !p.expressible() && !p.insideJSON() {
			t.Errorf("%q was accepted, but cannot be written", text)
		}
	})
}
