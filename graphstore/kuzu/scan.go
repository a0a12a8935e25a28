package kuzu

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sourcegraph/conc"
)

// A scan reads the rows of a table in ranges of node numbers. A row of a result costs about two microseconds in the binding
// whatever is in it, and a start reads millions. So Kuzu packs each row and joins some hundred of them to one text, which
// takes a fourth to an eighth of the time. Real numbers are a JSON list beside it: JSON is where Kuzu writes all their digits.

// About how many rows are joined, and the edges of how many nodes if nobody knows how many those are.
const (
	rowsPerText    = 512
	sourcesPerText = 128
)

// scanNodes returns the rows of a range of node numbers, of one space or of all.
func (t *nodeTable) scanNodes(oneSpace bool) string {
	return fmt.Sprintf("MATCH (n:%s) WHERE %s %s", t.name, inPage("n", oneSpace), joined("n", t.columns))
}

// scanEdges returns the rows of the edges out of a range of node numbers, of one space or of all.
func (t *relTable) scanEdges(oneSpace bool) string {
	return fmt.Sprintf("MATCH (n:%s)-[e:%s]->%s WHERE %s %s", nodeTableOf(t.from).name, t.name, t.far(t.to), inPage("n", oneSpace),
		joined("e", t.columns))
}

// scanRefs returns what those edges refer to, out of a range of node numbers, that refer to texts.
func (t *relTable) scanRefs() string {
	refs := t.refs()
	some := make([]string, len(refs))
	for i, c := range refs {
		some[i] = fmt.Sprintf("e.%s > 0", c.name)
	}
	return fmt.Sprintf("MATCH (n:%s)-[e:%s]->%s WHERE %s AND (%s) %s", nodeTableOf(t.from).name, t.name, t.far(t.to), inPage("n", false),
		strings.Join(some, " OR "), joined("e", refs))
}

// refs returns the columns that refer to texts.
func (t *table) refs() []column {
	var refs []column
	for _, c := range t.columns {
		if c.kind == ref {
			refs = append(refs, c)
		}
	}
	return refs
}

// joined ends a query that matches n with the rows of v, joined for each $width numbers of n: how many rows, their text, and
// the list of each column of real numbers.
func joined(v string, columns []column) string {
	with := fmt.Sprintf("WITH n.id / $width AS the_group, collect(%s) AS packs", packedText(v, columns))
	out := "RETURN size(packs), list_to_string('', packs)"
	for _, c := range columns {
		if c.kind == real {
			with += fmt.Sprintf(", collect(%s.%s) AS the_%s", v, c.name, c.name)
			out += fmt.Sprintf(", CAST(to_json(the_%s) AS STRING)", c.name)
		}
	}
	return with + " " + out
}

// scanner runs scans in a session. The rows that it hands on are read with a rowReader that the next row overwrites, with the
// texts in it.
type scanner struct {
	ctx     context.Context //nolint:containedctx // lives as long as the call
	session *session
	sizes   pageSizes
	one     *int64 // the number of the only space that is read; nil: all
}

// readNodes hands on the rows of a table and returns its extent.
func (s *scanner) readNodes(t *nodeTable, each func(r *rowReader) error) (extent, error) {
	x, err := extentOf(s.session, t, s.one)
	if err != nil {
		return x, err
	}
	return x, s.pages(scan{t.scanNodes(s.one != nil), t.columns, x, s.sizes.nodes, rowsPerText}, each)
}

// readEdges hands on the edges out of the nodes of an extent.
func (s *scanner) readEdges(t *relTable, sources extent, each func(r *rowReader) error) error {
	todo := scan{t.scanEdges(s.one != nil), t.columns, sources, s.sizes.sources, sourcesPerText}
	if s.one == nil {
		n, err := s.session.count(t.countEdges(), nil)
		if err != nil {
			return err
		}
		todo.page, todo.joined = s.sourcesOf(sources, n)
	}
	return s.pages(todo, each)
}

// readRefs hands on what the edges out of the nodes of an extent, n, refer to.
func (s *scanner) readRefs(t *relTable, sources extent, n int64, each func(r *rowReader) error) error {
	todo := scan{query: t.scanRefs(), columns: t.refs(), extent: sources}
	todo.page, todo.joined = s.sourcesOf(sources, n)
	return s.pages(todo, each)
}

// sourcesOf returns of how many nodes the edges, n altogether, make a page and a text.
func (s *scanner) sourcesOf(sources extent, n int64) (page, joined int64) {
	per := func(edges int64) int64 {
		return max(1, int64(float64(sources.count)*float64(edges)/float64(max(n, 1))))
	}
	return min(per(s.sizes.edges), s.sizes.nodes), min(per(rowsPerText), rowsPerText)
}

// scan is one to be run.
type scan struct {
	query   string
	columns []column
	extent  extent
	page    int64 // about how many nodes make a page
	joined  int64 // about how many are joined
}

// rowsAhead is how many joined rows wait at most, of some ten kilobytes each.
const rowsAhead = 16

// pages runs a scan. Kuzu goes on while rows are unpacked, on a goroutine that has the session until pages returns.
func (s *scanner) pages(todo scan, each func(r *rowReader) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	rows := make(chan []any, rowsAhead)
	var failed error
	var reading conc.WaitGroup
	reading.Go(func() {
		defer close(rows)
		failed = s.query(ctx, todo, rows)
	})
	defer func() { // also when each panics
		cancel()
		reading.Wait()
	}()
	r := rowReader{cells: new(cells)}
	for row := range rows {
		if err := r.eachJoined(todo.columns, row, each); err != nil {
			return err
		}
	}
	return failed
}

func (s *scanner) query(ctx context.Context, todo scan, rows chan<- []any) error {
	width := todo.extent.width(todo.joined)
	for _, p := range todo.extent.pages(todo.page) {
		if err := ctx.Err(); err != nil {
			return err
		}
		params := p.params(s.one)
		params["width"] = width
		err := s.session.query(todo.query, params, func(row []any) error {
			select {
			case rows <- slices.Clone(row):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachJoined hands on the rows that were joined to one.
func (r *rowReader) eachJoined(columns []column, row []any, each func(*rowReader) error) error {
	in := rowReader{row: row}
	n, rest := next[int64](&in), next[string](&in)
	lists := make([]string, len(columns)) // of JSON, without the first bracket
	for i, c := range columns {
		if c.kind == real {
			lists[i] = strings.TrimPrefix(next[string](&in), "[")
		}
	}
	if in.err != nil {
		return in.err
	}
	for i := range n {
		var err error
		if rest, err = r.cells.take(columns, rest); err != nil {
			return damaged("%w", err)
		}
		if err := r.cells.takeReals(columns, lists, i+1 == n); err != nil {
			return damaged("%w", err)
		}
		r.i, r.err = 0, nil
		if err := each(r); err != nil {
			return err
		}
	}
	if rest != "" {
		return damaged("joined rows: %d bytes too many", len(rest))
	}
	return nil
}

// takeReals takes the next value of each list, which is the last of all lists or of none.
func (c *cells) takeReals(columns []column, lists []string, last bool) error {
	end := ","
	if last {
		end = "]"
	}
	for i, col := range columns {
		if col.kind != real {
			continue
		}
		number, after, ok := strings.Cut(lists[i], end)
		f, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || last && after != "" {
			return fmt.Errorf("joined rows: column %s: no list of as many numbers", col.name)
		}
		c.reals[i], lists[i] = f, after
	}
	return nil
}
