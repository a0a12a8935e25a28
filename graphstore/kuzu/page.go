package kuzu

// Sizes of a page. A result is built whole in the buffer pool before its first row can be read, so large tables are read
// in ranges of node numbers; each range costs one scan, so ranges are not small either.
const (
	nodesPerPage   = 65_536
	sourcesPerPage = 16_384 // of edges: their number per source varies
)

// page is a range of node numbers: from included, to excluded.
type page struct{ from, to int64 }

// params returns the page's parameters, with those of the space that it is limited to (nil: all).
func (p page) params(space *int64) params {
	out := params{"from": p.from, "to": p.to}
	if space != nil {
		out["space"] = *space
	}
	return out
}

// pagesOf divides the numbers of a table's nodes, of one space or of all, into ranges of about size nodes.
func pagesOf(s *session, t *nodeTable, space *int64, size int64) ([]page, error) {
	var p params
	if space != nil {
		p = params{"space": *space}
	}
	var count, low, high int64
	err := s.query(t.extent(space != nil), p, func(row []any) error {
		r := &rowReader{row: row}
		if count = next[int64](r); count == 0 {
			return r.err // the extent of nothing is null
		}
		low, high = next[int64](r), next[int64](r)
		return r.err
	})
	if err != nil || count == 0 {
		return nil, err
	}
	return divide(low, high, (count+size-1)/size), nil
}

// divide splits low..high, both included, into n ranges of about equal width.
func divide(low, high, n int64) []page {
	width := (high-low)/n + 1
	var pages []page
	for from := low; from <= high; from += width {
		pages = append(pages, page{from, min(from+width, high+1)})
	}
	return pages
}
