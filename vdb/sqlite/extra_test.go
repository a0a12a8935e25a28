package sqlite

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawJSON(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.StringMatching(`[^\x00]*`).AsAny(),
		rapid.Float64().AsAny(), rapid.SampledFrom([]any{0.0, math.Copysign(0, -1), 1e21, 1e-7, 123456789.0, int64(math.MinInt64)}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := drawJSON(depth - 1)
	return rapid.OneOf(append(scalars, rapid.SliceOfN(inner, 0, 3).AsAny(), rapid.MapOfN(rapid.StringMatching(`[^\x00]*`), inner, 0, 3).AsAny())...)
}

// What goes in as a type of JSON comes out as the same value of the same Go type, and is JSON to others as well.
func TestExtra_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOfN(rapid.StringMatching(`[^\x00]*`), drawJSON(2), 1, 4).Draw(t, "extra")
		text, err := appendObject(nil, in, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		out, err := parseExtra(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Fatalf("by way of %s (-in +out):\n%s", text, diff)
		}
	})
}

func TestExtra_refused(t *testing.T) {
	loop := map[string]any{}
	loop["itself"] = []any{loop}
	for name, v := range map[string]any{
		"an int": 1, "a float32": float32(1), "bytes": []byte("x"), "a list of strings": []string{"x"}, "NaN": math.NaN(),
		"infinity": math.Inf(-1), "no UTF-8": "\xff", "NUL": "a\x00b", "deep": map[string]any{"a": []any{struct{}{}}},
		"a value that holds itself":      loop,
		"a field name that is not UTF-8": map[string]any{"\xff": nil},
	} {
		if text, err := appendObject(nil, map[string]any{"k": v}, 1); err == nil {
			t.Errorf("%s: written as %s", name, text)
		}
	}
}

// Whatever is in the file, reading it ends with a value or an error. What it accepts, it writes as it was.
func FuzzParseExtra(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":[1,2.0,"x\u0041",null,true,{"b":-0.5}]}`, `{"a":`, `{"a" :1}`, `{"a":1e999}`, `{"":"\`, `[`, `{"a":+1}`, `{,}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object, err := parseExtra(text)
		if err != nil {
			return
		}
		written, err := appendObject(nil, object, 1)
		if err != nil {
			return // NUL and bytes that are not UTF-8 can be read but not written
		}
		again, err := parseExtra(written)
		if err != nil {
			t.Fatalf("%q was read, but not %q", text, written)
		}
		if diff := cmp.Diff(object, again); diff != "" {
			t.Fatalf("%q by way of %q (-first +second):\n%s", text, written, diff)
		}
	})
}

func TestParseExtra_refused(t *testing.T) {
	for _, text := range []string{``, `null`, `[1]`, `{"a":1}x`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":nul}`, `{"a":-}`, `{"a":1e999}`, `{"a":"x}`,
		`{"a":9223372036854775808}`, `{"a":"\x"}`, `{"a":[1}`} {
		if v, err := parseExtra([]byte(text)); err == nil {
			t.Errorf("%s was read as %v", text, v)
		}
	}
}
