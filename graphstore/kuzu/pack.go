package kuzu

import (
	"fmt"
	"strconv"
	"strings"
)

// Reading a value through the binding takes about a microsecond, a fact has eighteen, and a start reads all of them. So
// rows that are read in bulk come packed by Kuzu: one text with the whole numbers and the byte lengths of the texts, each
// followed by a space, and the names, each followed by a line end, then the texts. Real numbers do not fit in: Kuzu prints
// only six of their digits there.

// isName reports whether the column holds ids or names out of a list, in which no control character is. Others need a
// length, which costs Kuzu as much as all the rest of an edge.
func (c column) isName() bool {
	switch c.name {
	case "key", "layer", "state", "type", "asserter_kind":
		return c.kind == text
	default:
		return false
	}
}

// packedText returns the expression that packs all columns of v but those of real numbers.
func packedText(v string, columns []column) string {
	var head, texts []string
	for _, c := range columns {
		value := v + "." + c.name
		switch {
		case c.isName():
			head = append(head, value+", '\n'")
		case c.kind == text:
			// size() would count what a reader sees as one character, not bytes.
			head = append(head, fmt.Sprintf("CAST(octet_length(encode(%s)) AS STRING), ' '", value))
			texts = append(texts, value)
		case c.kind == real:
		default:
			head = append(head, fmt.Sprintf("CAST(%s AS STRING), ' '", value))
		}
	}
	return "concat(" + strings.Join(append(head, texts...), ", ") + ")"
}

// packed returns the expressions that pack the columns of v: the text, and each real number as a column of its own.
func packed(v string, columns []column) string {
	out := []string{packedText(v, columns)}
	for _, c := range columns {
		if c.kind == real {
			out = append(out, v+"."+c.name)
		}
	}
	return strings.Join(out, ", ")
}

// unpack returns the row that packed made of the columns. into is reused.
func unpack(columns []column, row []any, into []any) ([]any, error) {
	pack, err := cell[string](row, 0)
	if err != nil {
		return nil, err
	}
	var c cells
	rest, err := c.take(columns, pack)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, fmt.Errorf("packed row: %d bytes too many", len(rest))
	}
	into, reals := into[:0], 1
	for i, col := range columns {
		switch col.kind {
		case integer, ref:
			into = append(into, c.numbers[i])
		case text:
			into = append(into, strings.Clone(c.texts[i]))
		case real:
			f, err := cell[float64](row, reals)
			if err != nil {
				return nil, err
			}
			reals++
			into = append(into, f)
		}
	}
	return into, nil
}

// cells are the values of a packed row. Each slice has a place per column, of which those of its kind are used. Texts are
// parts of what they were packed in.
type cells struct {
	numbers []int64 // and the lengths of texts
	texts   []string
	reals   []float64
}

// take unpacks the row that begins a text and returns what follows it. Real numbers are not in it.
func (c *cells) take(columns []column, packed string) (rest string, err error) {
	if len(c.numbers) != len(columns) {
		*c = cells{make([]int64, len(columns)), make([]string, len(columns)), make([]float64, len(columns))}
	}
	rest = packed
	lengths := false
	for i, col := range columns {
		var ok bool
		switch {
		case col.kind == real:
			continue
		case col.isName():
			if c.texts[i], rest, ok = strings.Cut(rest, "\n"); !ok {
				return "", fmt.Errorf("packed row: column %s: no name", col.name)
			}
			continue
		case col.kind == text:
			lengths = true
		}
		if c.numbers[i], rest, ok = cutNumber(rest); !ok {
			return "", fmt.Errorf("packed row: column %s: no number", col.name)
		}
	}
	if !lengths {
		return rest, nil
	}
	for i, col := range columns {
		if col.kind != text || col.isName() {
			continue
		}
		n := c.numbers[i]
		if n < 0 || n > int64(len(rest)) {
			return "", fmt.Errorf("packed row: column %s: %d bytes of %d", col.name, n, len(rest))
		}
		c.texts[i], rest = rest[:n], rest[n:]
	}
	return rest, nil
}

// cutNumber takes a number and the space after it.
func cutNumber(s string) (n int64, rest string, ok bool) {
	const unchecked = 18 // digits that always fit
	i, negative := 0, len(s) > 0 && s[0] == '-'
	if negative {
		i++
	}
	first := i
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		n = n*10 + int64(s[i]-'0')
		i++
	}
	if i == first || i == len(s) || s[i] != ' ' {
		return 0, "", false
	}
	if i-first > unchecked {
		long, err := strconv.ParseInt(s[:i], 10, 64)
		return long, s[i+1:], err == nil
	}
	if negative {
		n = -n
	}
	return n, s[i+1:], true
}
