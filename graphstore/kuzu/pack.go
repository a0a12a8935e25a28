package kuzu

import (
	"fmt"
	"strconv"
	"strings"
)

// Reading a value through the binding takes about a microsecond, a fact has eighteen, and a start reads all of them. So
// scans return rows packed by Kuzu: one text with the whole numbers and the byte lengths of the texts, each followed by a
// space, then the texts; the real numbers follow as columns of their own because Kuzu prints only six of their digits.

// packed returns the expressions that pack the columns of v.
func packed(v string, columns []column) string {
	var head, texts, reals []string
	for _, c := range columns {
		value := v + "." + c.name
		switch c.kind {
		case integer, ref:
			head = append(head, fmt.Sprintf("CAST(%s AS STRING), ' '", value))
		case text:
			// size() would count what a reader sees as one character, not bytes.
			head = append(head, fmt.Sprintf("CAST(octet_length(encode(%s)) AS STRING), ' '", value))
			texts = append(texts, value)
		case real:
			reals = append(reals, value)
		}
	}
	pack := "concat(" + strings.Join(append(head, texts...), ", ") + ")"
	return strings.Join(append([]string{pack}, reals...), ", ")
}

// unpack returns the row that packed made of the columns. into is reused.
func unpack(columns []column, row []any, into []any) ([]any, error) {
	pack, err := cell[string](row, 0)
	if err != nil {
		return nil, err
	}
	into = into[:0]
	rest, reals := pack, 1
	for _, c := range columns { // numbers, and for texts their lengths
		if c.kind == real {
			f, err := cell[float64](row, reals)
			if err != nil {
				return nil, err
			}
			reals++
			into = append(into, f)
			continue
		}
		number, after, ok := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("packed row: column %s: no number", c.name)
		}
		rest = after
		into = append(into, n)
	}
	for i, c := range columns {
		if c.kind != text {
			continue
		}
		n := into[i].(int64)
		if n < 0 || n > int64(len(rest)) {
			return nil, fmt.Errorf("packed row: column %s: %d bytes of %d", c.name, n, len(rest))
		}
		into[i], rest = strings.Clone(rest[:n]), rest[n:]
	}
	if rest != "" {
		return nil, fmt.Errorf("packed row: %d bytes too many", len(rest))
	}
	return into, nil
}
