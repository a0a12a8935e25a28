package kuzu

import (
	"fmt"
	"strings"
)

// Many rows go to Kuzu in $rows, a list of numbers for each row, and a list of the different values for each column of text,
// of which a row has the position. Kuzu unwinds $rows at a cost that does not grow with its length, while it copies a list
// that is looked up for each row, which costs little as long as there are few different texts. With a real number among them
// all numbers of a row are real, exact up to 2^53.
//
// Nodes, whose keys all differ, are created from a list per column instead. Pairs of a key and a list of numbers take twice as
// long.

// rowsParams returns rows as the parameters of a statement for many. It reports false for a number that would not arrive as it
// is.
func rowsParams(columns []column, rows [][]any) (p params, exact bool) {
	p = make(params)
	positions := make([]map[string]int64, len(columns))
	reals := false
	for i, c := range columns {
		switch c.kind {
		case text:
			positions[i] = make(map[string]int64)
		case real:
			reals = true
		case integer, ref:
		}
	}
	list := make([]any, len(rows))
	for i, row := range rows {
		numbers := make([]any, len(columns))
		for j, c := range columns {
			v := row[j]
			if s, ok := v.(string); ok {
				at, known := positions[j][s]
				if !known {
					at = int64(len(positions[j]) + 1)
					positions[j][s] = at
					values, _ := p[c.name].([]any)
					p[c.name] = append(values, s)
				}
				v = at
			}
			if n, ok := v.(int64); ok && reals {
				if n > 1<<53 || n < -1<<53 {
					return nil, false
				}
				v = float64(n)
			}
			numbers[j] = v
		}
		list[i] = numbers
	}
	p["rows"] = list
	return p, true
}

// itemOf returns for each of the columns the expression of its value in row r.
func itemOf(columns []column) func(column) string {
	at := make(map[string]string, len(columns))
	for i, c := range columns {
		at[c.name] = fmt.Sprintf("r[%d]", i+1)
	}
	return func(c column) string {
		if c.kind == text {
			return fmt.Sprintf("CAST($%s[CAST(%s AS INT64)] AS STRING)", c.name, at[c.name])
		}
		return fmt.Sprintf("CAST(%s AS %s)", at[c.name], columnTypes[c.kind])
	}
}

// items names the values of row r after their columns.
func items(columns []column) string {
	item := itemOf(columns)
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = fmt.Sprintf("%s AS the_%s", item(c), c.name)
	}
	return strings.Join(out, ", ")
}
