package kuzu

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestTextsSurviveTheirParts writes texts as rows and reads them back in another order.
func TestTextsSurviveTheirParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]any
		want := make(map[int64]string)
		next := int64(1)
		for range rapid.IntRange(1, 5).Draw(t, "texts") {
			s := strings.Repeat(rapid.StringN(0, 40, -1).Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "times"))
			var ids []int64
			for _, part := range splitText(s) {
				if len(part) > maxPieceBytes || !utf8.ValidString(part) {
					t.Fatalf("part of %d bytes: %q", len(part), part)
				}
				ids = append(ids, next)
				next++
			}
			want[ids[0]] = s
			rows = append(rows, textRows(s, ids, 7)...)
		}
		r := newTextReader(func(ids []int64, space int64, text string) {
			if text != want[ids[0]] || space != 7 || len(ids) != len(splitText(text)) {
				t.Fatalf("text %v of space %d: got %q, want %q", ids, space, text, want[ids[0]])
			}
			delete(want, ids[0])
		})
		for _, row := range rapid.Permutation(rows).Draw(t, "order") {
			if err := r.add(&rowReader{row: row}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			t.Fatalf("not read: %v", want)
		}
	})
}

func TestTextWithoutItsPartIsAnError(t *testing.T) {
	rows := textRows(strings.Repeat("x", 3*maxPieceBytes), []int64{1, 2, 3}, 7)
	for missing := 1; missing < len(rows); missing++ {
		r := newTextReader(func([]int64, int64, string) { t.Error("a text with a part missing") })
		for i, row := range rows {
			if i != missing {
				if err := r.add(&rowReader{row: row}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.finish(); err == nil {
			t.Errorf("part %d is missing: no error", missing)
		}
	}
}
