package kuzu

// Sizes of a page. A result is built whole in the buffer pool before its first row can be read, so large tables are read
// in ranges of node numbers; each range costs one scan, so ranges are not small either.
const (
	nodesPerPage   = 65_536
	edgesPerPage   = 131_072
	sourcesPerPage = 8192 // of edges whose number nobody knows
)

type pageSizes struct{ nodes, edges, sources int64 }

func (c Config) pageSizes() pageSizes {
	if page := c.hooks.page; page > 0 {
		return pageSizes{page, page, page}
	}
	return pageSizes{nodesPerPage, edgesPerPage, sourcesPerPage}
}

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

// extent are the numbers in use by a table's nodes, of one space or of all.
type extent struct{ count, low, high int64 }

func extentOf(s *session, t *nodeTable, space *int64) (x extent, err error) {
	var p params
	if space != nil {
		p = params{"space": *space}
	}
	err = s.query(t.extent(space != nil), p, func(row []any) error {
		r := &rowReader{row: row}
		if x.count = next[int64](r); x.count > 0 { // the rest of nothing is null
			x.low, x.high = next[int64](r), next[int64](r)
		}
		return r.err
	})
	return x, err
}

// width returns how many numbers have about n nodes among them, at least 1.
func (x extent) width(n int64) int64 {
	return max(1, int64(float64(x.high-x.low+1)/float64(max(x.count, 1))*float64(n)))
}

// pages divides the extent into ranges of about equal width and about size nodes.
func (x extent) pages(size int64) []page {
	if x.count == 0 {
		return nil
	}
	n := (x.count + size - 1) / size
	width := (x.high-x.low)/n + 1
	var pages []page
	for from := x.low; from <= x.high; from += width {
		pages = append(pages, page{from, min(from+width, x.high+1)})
	}
	return pages
}
