package kuzu

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPieceBytes is the most of a text that one row holds. It bounds what Kuzu needs at once: a checkpoint holds the texts
// of 131,072 rows several times over, a scan those of 2,048 rows. Texts that are longer continue in other rows.
const maxPieceBytes = 256

// textTable keeps the texts that other tables refer to, each once per space. A text comes and goes with its references and
// is never changed. It stands beside the tables of nodes because it is no record of the graph. Part counts the rows of a
// text from 0, rest is the number of the row with its next part.
var textTable = &nodeTable{table: table{"Text", []column{{"id", integer}, {"space", integer}, {"text", text},
	{"part", integer}, {"rest", integer}}}}

const (
	colPart = nodeHead + iota
	colRest
)

// splitText returns the parts of a text, each valid UTF-8 of at most maxPieceBytes.
func splitText(s string) []string {
	var parts []string
	for len(s) > maxPieceBytes {
		cut := maxPieceBytes
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		parts, s = append(parts, s[:cut]), s[cut:]
	}
	return append(parts, s)
}

// textRows returns the rows of a text whose parts have these numbers.
func textRows(s string, ids []int64, space int64) [][]any {
	parts := splitText(s)
	rows := make([][]any, len(parts))
	for i, part := range parts {
		rest := int64(0)
		if i+1 < len(ids) {
			rest = ids[i+1]
		}
		rows[i] = []any{ids[i], space, part, int64(i), rest}
	}
	return rows
}

// textReader joins the rows of texts, in whatever order they come. whole gets each text with the numbers of its rows, the
// first of which is the text's.
type textReader struct {
	whole func(ids []int64, space int64, text string)
	rows  map[int64][]any // of texts of several parts
}

func newTextReader(whole func(ids []int64, space int64, text string)) *textReader {
	return &textReader{whole: whole, rows: make(map[int64][]any)}
}

// add takes a row.
func (r *textReader) add(row []any) error {
	id := row[colID].(int64)
	if row[colPart] == int64(0) && row[colRest] == int64(0) {
		r.whole([]int64{id}, row[colSpace].(int64), row[colKey].(string))
		return nil
	}
	r.rows[id] = slices.Clone(row)
	return nil
}

// finish joins the texts of several parts, when all rows were added.
func (r *textReader) finish() error {
	for id, row := range r.rows {
		if row[colPart] != int64(0) {
			continue
		}
		var text strings.Builder
		ids := []int64{id}
		for part := row; ; {
			text.WriteString(part[colKey].(string))
			rest := part[colRest].(int64)
			if rest == 0 {
				break
			}
			following, ok := r.rows[rest]
			if !ok || following[colPart] != int64(len(ids)) {
				return damaged("text %d: part %d is not in the file", id, len(ids))
			}
			part, ids = following, append(ids, rest)
		}
		r.whole(ids, row[colSpace].(int64), text.String())
	}
	return nil
}
