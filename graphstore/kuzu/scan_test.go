package kuzu

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var scanColumns = []column{{"key", text}, {"n", integer}, {"s", text}, {"f", real}, {"r", ref}}

// TestEachJoined joins rows as the expressions of joined do, and wants them back.
func TestEachJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [][]any
		var packs strings.Builder
		var list []string
		for range rapid.IntRange(1, 8).Draw(t, "rows") {
			key := rapid.StringMatching(`[ -~é]*`).Draw(t, "key")
			n, s := rapid.Int64().Draw(t, "n"), rapid.String().Draw(t, "s")
			f, r := rapid.Float64().Draw(t, "f"), rapid.Int64().Draw(t, "r")
			want = append(want, []any{key, n, s, f, r})
			packs.WriteString(key + "\n" + strconv.FormatInt(n, 10) + " " + strconv.Itoa(len(s)) + " " + strconv.FormatInt(r, 10) + " " + s)
			list = append(list, strconv.FormatFloat(f, 'g', -1, 64))
		}
		got, err := joinedRows([]any{int64(len(want)), packs.String(), "[" + strings.Join(list, ",") + "]"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func joinedRows(row []any) (rows [][]any, err error) {
	r := rowReader{cells: new(cells)}
	err = r.eachJoined(scanColumns, row, func(r *rowReader) error {
		rows = append(rows, []any{next[string](r), next[int64](r), next[string](r), next[float64](r), next[int64](r)})
		return r.err
	})
	return rows, err
}

func TestEachJoinedRefusesWhatIsNoRows(t *testing.T) {
	sound := []any{int64(2), "a\n1 1 2 xb\n1 0 2 ", "[0.5,1.0]"}
	if rows, err := joinedRows(sound); err != nil || len(rows) != 2 {
		t.Errorf("sound rows: %v, %v", rows, err)
	}
	for name, change := range map[string]func(row []any){
		"fewer": func(row []any) { row[0] = int64(1) }, "more": func(row []any) { row[0] = int64(3) },
		"no number of rows": func(row []any) { row[0] = "2" }, "no text": func(row []any) { row[1] = int64(1) },
		"cut": func(row []any) { row[1] = "a\n1 1 2 xb\n1 0 2" }, "too long": func(row []any) { row[1] = "a\n1 1 2 xb\n1 0 2 y" },
		"no list": func(row []any) { row[2] = 0.5 }, "short list": func(row []any) { row[2] = "[0.5]" },
		"long list": func(row []any) { row[2] = "[0.5,1.0,1.0]" }, "open list": func(row []any) { row[2] = "[0.5,1.0" },
		"two lists": func(row []any) { row[2] = "[0.5,1.0],[1]" }, "null in list": func(row []any) { row[2] = "[0.5,null]" },
		"length": func(row []any) { row[1] = "a\n1 -1 2 xb\n1 0 2 " },
	} {
		row := slices.Clone(sound)
		change(row)
		if rows, err := joinedRows(row); err == nil {
			t.Errorf("%s: got %v", name, rows)
		}
	}
}

// TestRealsComeBackToTheLastBit asks Kuzu to write numbers as a scan has it write them.
func TestRealsComeBackToTheLastBit(t *testing.T) {
	s := mustOpen(t, newGraph(t), testConfig())
	defer s.Close()
	var want, got []float64
	for f := math.SmallestNonzeroFloat64; f < 1; f *= 1.0 + 1.0/3 {
		want = append(want, f, math.Nextafter(f, 1))
		f = max(f, math.SmallestNonzeroFloat64*4)
	}
	want = append(want, 1, 0.1, 1.0/3)
	list := make([]any, len(want))
	for i, f := range want {
		list[i] = f
	}
	columns := []column{{"n", integer}, {"f", real}}
	query := "UNWIND $list AS f WITH {id: 7, n: 1, f: f} AS n " + joined("n", columns)
	r := rowReader{cells: new(cells)}
	err := s.engine.writer.query(query, params{"list": list, "width": int64(1)}, func(row []any) error {
		return r.eachJoined(columns, row, func(r *rowReader) error {
			_ = next[int64](r)
			got = append(got, next[float64](r))
			return nil
		})
	})
	if err != nil || len(want) < 4000 {
		t.Fatalf("%d numbers: %v", len(want), err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d numbers are others:\n%v", len(got), cmp.Diff(want, got))
	}
}
