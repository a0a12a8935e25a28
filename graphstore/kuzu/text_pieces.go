package kuzu

import (
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
func splitText(s string) []string { return appendParts(nil, s) }

func appendParts(parts []string, s string) []string {
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

// textPart is a row of the table of texts.
type textPart struct {
	id, space int64
	text      string
	part      int64
	rest      int64
}

// textReader joins the rows of texts, in whatever order they come. whole gets each text with the numbers of its rows, the
// first of which is the text's; they are overwritten by the next.
type textReader struct {
	whole func(ids []int64, space int64, text string)
	parts map[int64]textPart // of texts of several parts, by number
	ids   []int64
}

func newTextReader(whole func(ids []int64, space int64, text string)) *textReader {
	return &textReader{whole: whole, parts: make(map[int64]textPart)}
}

// add takes a row.
func (t *textReader) add(r *rowReader) error {
	p := textPart{next[int64](r), next[int64](r), strings.Clone(next[string](r)), next[int64](r), next[int64](r)}
	switch {
	case r.err != nil:
		return r.err
	case p.part == 0 && p.rest == 0:
		t.ids = append(t.ids[:0], p.id)
		t.whole(t.ids, p.space, p.text)
	default:
		t.parts[p.id] = p
	}
	return nil
}

// finish joins the texts of several parts, when all rows were added.
func (t *textReader) finish() error {
	for id, first := range t.parts {
		if first.part != 0 {
			continue
		}
		var text strings.Builder
		ids := append(t.ids[:0], id)
		for at := first; ; {
			text.WriteString(at.text)
			if at.rest == 0 {
				break
			}
			following, ok := t.parts[at.rest]
			if !ok || following.part != int64(len(ids)) {
				return damaged("text %d: part %d is not in the file", id, len(ids))
			}
			at, ids = following, append(ids, at.rest)
		}
		t.ids = ids
		t.whole(ids, first.space, text.String())
	}
	return nil
}
