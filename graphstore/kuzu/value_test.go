package kuzu

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Each of these values ends as something else in Kuzu, or ends the process.
func TestParametersThatAreRefused(t *testing.T) {
	for name, v := range map[string]any{
		"NUL": "a\x00b", "invalid UTF-8": "a\xff", "NaN": math.NaN(), "nil": nil, "time": time.Time{}, "int": 1, "bool": true,
		"bytes": []byte("a"), "typed list": []string{"a"}, "struct": map[string]any{"a": int64(1)}, "empty list": []any{},
		"mixed list": []any{int64(1), "a"}, "nil in list": []any{int64(1), nil}, "list of empty lists": []any{[]any{}}, "texts in list": []any{[]any{"a"}},
		"lists of two types": []any{[]any{int64(1)}, []any{0.5}}, "mixed list in list": []any{[]any{int64(1), 0.5}},
		"NaN in list": []any{[]any{math.NaN()}}, "lists of lists of lists": []any{[]any{[]any{int64(1)}}},
		"NUL in list": []any{"a", "b\x00"}, "int in list": []any{1}, "named text": struct{ string }{"a"},
	} {
		if _, err := (params{"x": v}).check(); err == nil || !strings.HasPrefix(err.Error(), "parameter x: ") {
			t.Errorf("%s: got %v, want an error that names the parameter", name, err)
		}
	}
}

func TestParametersThatPass(t *testing.T) {
	leaked, err := (params{"a": int64(math.MinInt64), "b": 0.5, "c": "text\n", "d": []any{"x", ""}, "e": []any{int64(1), int64(2)},
		"f": []any{0.1}, "g": "", "h": []any{[]any{int64(1), int64(2)}, []any{int64(3)}}}).check()
	// A copy of a text has its bytes and a NUL: "text\n" 6, "x" 2, "" 1 and 1.
	if err != nil || leaked != 6+2+1+1 {
		t.Errorf("got %d leaked bytes, %v; want 10", leaked, err)
	}
}

// TestUnpack packs rows as the expressions of packed do, and wants them back.
func TestUnpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []column
		var want, packedRow []any
		var head, texts strings.Builder
		packedRow = append(packedRow, "")
		for range rapid.IntRange(1, 12).Draw(t, "columns") {
			c := column{"c", columnKind(rapid.IntRange(0, 3).Draw(t, "kind"))}
			columns = append(columns, c)
			switch c.kind {
			case integer, ref:
				n := rapid.Int64().Draw(t, "number")
				want = append(want, n)
				head.WriteString(strconv.FormatInt(n, 10) + " ")
			case text:
				s := rapid.String().Draw(t, "text")
				want = append(want, s)
				head.WriteString(strconv.Itoa(len(s)) + " ")
				texts.WriteString(s)
			default:
				f := rapid.Float64().Draw(t, "real")
				want = append(want, f)
				packedRow = append(packedRow, f)
			}
		}
		packedRow[0] = head.String() + texts.String()
		got, err := unpack(columns, packedRow, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestUnpackRefusesWhatIsNoRow(t *testing.T) {
	columns := []column{{"n", integer}, {"s", text}, {"f", real}}
	for name, row := range map[string][]any{
		"no text": {int64(1), 0.5}, "no number": {"x 1 a", 0.5}, "too short": {"1 5 a", 0.5}, "negative": {"1 -1 a", 0.5},
		"too long": {"1 1 ab", 0.5}, "cut": {"1", 0.5}, "real is text": {"1 1 a", "0.5"},
	} {
		if got, err := unpack(columns, row, nil); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got, err := unpack(columns, []any{"1 1 a", 0.5}, nil); err != nil || len(got) != 3 {
		t.Errorf("a sound row: %v, %v", got, err)
	}
}
