package backfill

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Of a page: what it may have, and what a point takes beside its vector before the first page has been seen.
const (
	maxPagePoints   = 2048
	firstPointBytes = 2048
	// A page is in memory as points, as facts, as changes and as the snapshots before and after, or beside the one that is read
	// ahead; a memory bound allows for that.
	pageShare = 8
)

// pageSize adapts the number of points of a page to their size.
type pageSize struct {
	bytes int64 // a page may have
	point int64 // a point is taken to have
}

func newPageSize(memory int64, dim int) pageSize {
	return pageSize{bytes: memory / pageShare, point: int64(4*dim) + firstPointBytes}
}

func (s pageSize) limit(rate int) int {
	n := min(max(s.bytes/s.point, 1), maxPagePoints)
	if rate > 0 {
		n = min(n, int64(max(rate/4, 1))) // so that the pauses are short ones
	}
	return int(n)
}

// saw takes in what a page had. The largest page of late counts: one of small points says little of the next.
func (s *pageSize) saw(bytes int64, points int) {
	if points > 0 {
		s.point = max(bytes/int64(points), 3*s.point/4, 64)
	}
}

// pointBytes estimates what a point takes in memory.
func pointBytes(p *vdb.Point) int64 {
	pay := &p.Payload
	n := 256 + len(p.ID) + 4*len(p.Vector) + len(pay.Content) + len(pay.AgentID) + len(pay.EpisodeID) + len(pay.BatchID) + len(pay.SourceID)
	for _, tag := range pay.Tags {
		n += 16 + len(tag)
	}
	if len(pay.Extra) > 0 {
		if data, err := json.Marshal(pay.Extra); err == nil {
			n += 2 * len(data)
		}
	}
	return int64(n)
}

// read reads the page at the cursor, of which the points are a turn of the graph.
func (r *run) read(ctx context.Context) (vdb.Page, error) {
	page, bytes, err := r.fetch(ctx, r.cp.Cursor, min(r.size.limit(r.req.Rate), r.turn.most))
	if err == nil {
		r.saw(&page, bytes)
	}
	return page, err
}

// fetch reads the page at a cursor, of at most so many points, and returns about how many bytes they take. It may run beside what
// changes the run.
func (r *run) fetch(ctx context.Context, after string, most int) (page vdb.Page, bytes int64, err error) {
	q := vdb.ScrollQuery{Space: r.space, AllSpaces: r.space.IsZero(), After: after, Limit: most, WithVectors: !r.req.NoNeighbors}
	err = r.patiently(ctx, "read points", func() (err error) {
		page, err = r.b.points.Scroll(ctx, q)
		return err
	})
	for i := range page.Points {
		bytes += pointBytes(&page.Points[i])
	}
	return page, bytes, err
}

// saw takes a page that was read into the account.
func (r *run) saw(page *vdb.Page, bytes int64) {
	r.size.saw(bytes, len(page.Points))
	r.change(func(rep *Account) {
		rep.Pages++
		rep.Scanned += int64(len(page.Points) + len(page.Skipped))
		rep.PeakPageBytes = max(rep.PeakPageBytes, bytes)
		for _, text := range page.Skipped {
			rep.Skipped++
			rep.problem(rep.Skipped, text)
		}
		for i, text := range page.IgnoredTexts {
			rep.problem(rep.BadValues+int64(i)+1, text)
		}
		rep.BadValues += int64(page.Ignored)
	})
}

// facts makes facts of those points that the run is of. Of two points of one fact the one of the greater version counts, of equal
// ones the first.
func (r *run) facts(points []vdb.Point) []fact {
	type key struct {
		space graphstore.Space
		id    string
	}
	seen := make(map[key]int, len(points))
	facts := make([]fact, 0, len(points))
	r.change(func(rep *Account) {
		for _, p := range points {
			if !r.takes(rep, &p) {
				continue
			}
			f := rep.convert(p)
			k := key{p.Space, p.ID}
			at, twice := seen[k]
			if !twice {
				seen[k] = len(facts)
				facts = append(facts, f)
				continue
			}
			rep.Duplicates++
			rep.problem(rep.Duplicates, fmt.Sprintf("point %s: stored twice for one fact", graphstore.Shorten(p.ID)))
			if f.stored.Version.Value > facts[at].stored.Version.Value {
				facts[at] = f
			}
		}
		for i := range facts {
			rep.said(&facts[i].stored)
		}
	})
	return facts
}

// takes reports whether a point is in the range of the run.
func (r *run) takes(rep *Account, p *vdb.Point) bool {
	if r.req.AgentID != "" && p.Payload.AgentID != r.req.AgentID {
		rep.Filtered++
		return false
	}
	if r.req.Since.IsZero() {
		return true
	}
	updated, _ := extraTime(&p.Payload, FieldUpdatedAt) // what is none is named where the fact is made
	at := firstTime(updated, graphstore.InstantOf(p.Payload.CreatedAt))
	switch {
	case !at.Present():
		rep.Undated++
	case at < graphstore.InstantOf(r.req.Since):
		rep.Filtered++
		return false
	}
	return true
}
