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
		text, err := appendObject(nil, in)
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
	for name, v := range map[string]any{
		"an int": 1, "a float32": float32(1), "bytes": []byte("x"), "a list of strings": []string{"x"}, "NaN": math.NaN(),
		"infinity": math.Inf(-1), "no UTF-8": "\xff", "NUL": "a\x00b", "deep": map[string]any{"a": []any{struct{}{}}},
		"a field name that is not UTF-8": map[string]any{"\xff": nil},
	} {
		if text, err := appendObject(nil, map[string]any{"k": v}); err == nil {
			t.Errorf("%s: written as %s", name, text)
		}
	}
}
