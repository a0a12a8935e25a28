package vdbtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var scrollParts = []part{
	{"Scroll/every point once, at any page size", scrollPages},
	{"Scroll/all spaces, only when asked", scrollAllSpaces},
	{"Scroll/points that stay are returned once while others come and go", scrollDuringWrites},
	{"Scroll/bad queries", scrollBad},
	{"Scroll/a cursor does not cross users", scrollCursorOfOther},
}

func scrollPages(e *env) {
	st, u := e.open(4), e.space("u")
	points := Points(23, u, 30, 4)
	e.upsert(st, points...)
	e.upsert(st, Points(23, e.space("other"), 30, 4)...)
	var first []string
	for _, limit := range []int{1, 7, 10, 29, 30, 31, vdb.MaxLimit} {
		got := e.scrollAll(st, vdb.ScrollQuery{Space: u, Limit: limit, WithVectors: true})
		order := pointIDs(got)
		if first == nil {
			first = order
		}
		sameIDs(e.T, fmt.Sprintf("order at limit %d", limit), first, order)
		samePoints(e.T, fmt.Sprintf("limit %d", limit), byID(points), byID(got))
	}
	page, err := st.Scroll(e.Context(), vdb.ScrollQuery{Space: u, Limit: 30})
	if err != nil {
		e.Fatal(err)
	}
	if page.Next != "" {
		e.Errorf("a page with the last point has the cursor %q, want none", page.Next)
	}
}

func byID(points []vdb.Point) []vdb.Point {
	out := slices.Clone(points)
	slices.SortFunc(out, func(a, b vdb.Point) int {
		return compareKeys(pointKey{a.Space, a.ID}, pointKey{b.Space, b.ID})
	})
	return out
}

func scrollAllSpaces(e *env) {
	st := e.open(4)
	var all []vdb.Point
	for i := range 5 {
		all = append(all, Points(29, e.space(fmt.Sprint("user ", i)), 6, 4)...)
	}
	e.upsert(st, all...)
	for _, limit := range []int{1, 4, 6, 30, 100} {
		got := e.scrollAll(st, vdb.ScrollQuery{AllSpaces: true, Limit: limit, WithVectors: true})
		samePoints(e.T, fmt.Sprintf("limit %d", limit), byID(all), byID(got))
	}
	empty := e.open(4)
	samePoints(e.T, "of an empty store", nil, e.scrollAll(empty, vdb.ScrollQuery{AllSpaces: true, Limit: 3}))
}

func scrollDuringWrites(e *env) {
	for _, allSpaces := range []bool{false, true} {
		e.Run(fmt.Sprintf("all spaces %v", allSpaces), func(t *testing.T) {
			e := &env{T: t, h: e.h}
			st, u := e.open(4), e.space("m")
			points := Points(31, u, 60, 4)
			e.upsert(st, points...)
			stay, go_ := points[:40], pointIDs(points[40:])
			q := vdb.ScrollQuery{Space: u, Limit: 7}
			if allSpaces {
				q = vdb.ScrollQuery{AllSpaces: true, Limit: 7}
			}
			seen := make(map[string]int)
			for i := 0; ; i++ {
				page, err := st.Scroll(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range page.Points {
					if p.Space == u {
						seen[p.ID]++
					}
				}
				if page.Next == "" || i > 100 {
					break
				}
				q.After = page.Next
				// Between pages: replace one that stays, delete some (also the last one returned, where the cursor is),
				// insert new ones, here and in users before and after.
				e.upsert(st, stay[(i*7)%len(stay)])
				if last := page.Points[len(page.Points)-1].ID; slices.Contains(go_, last) {
					e.delete(st, u, last)
				}
				e.delete(st, u, go_[i%len(go_)])
				if i < 5 {
					for _, user := range []string{"a", "m", "z"} {
						e.upsert(st, Points(uint64(100+i), e.space(user), 3, 4)[1:2]...) // a random UUID
					}
				}
			}
			for _, p := range stay {
				if seen[p.ID] != 1 {
					t.Errorf("%q was returned %d times", p.ID, seen[p.ID])
				}
			}
			for id, n := range seen {
				if n > 1 {
					t.Errorf("%q was returned %d times", id, n)
				}
			}
		})
	}
}

func scrollBad(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	for name, tc := range map[string]struct {
		q    vdb.ScrollQuery
		also error
	}{
		"no space":               {vdb.ScrollQuery{Limit: 1}, graphstore.ErrNoSpace},
		"space and all spaces":   {vdb.ScrollQuery{Space: u, AllSpaces: true, Limit: 1}, nil},
		"limit 0":                {vdb.ScrollQuery{Space: u}, nil},
		"limit negative":         {vdb.ScrollQuery{Space: u, Limit: -1}, nil},
		"limit 10^9":             {vdb.ScrollQuery{AllSpaces: true, Limit: 1_000_000_000}, nil},
		"a cursor of nothing":    {vdb.ScrollQuery{Space: u, Limit: 1, After: "\x00no cursor ' OR 1=1"}, nil},
		"a long cursor":          {vdb.ScrollQuery{AllSpaces: true, Limit: 1, After: fmt.Sprintf("%0999d", 7)}, nil},
		"a cursor of something?": {vdb.ScrollQuery{Space: u, Limit: 1, After: "-1"}, nil},
	} {
		e.Run(name, func(t *testing.T) {
			page, err := st.Scroll(t.Context(), tc.q)
			checkRefused(t, err, vdb.ErrBadQuery, tc.also)
			if len(page.Points) > 0 {
				t.Errorf("points with an error: %v", pointIDs(page.Points))
			}
		})
	}
}

func scrollCursorOfOther(e *env) {
	st, a, b := e.open(4), e.space("a"), e.space("b")
	e.upsert(st, append(Points(37, a, 10, 4), Points(37, b, 10, 4)...)...)
	page, err := st.Scroll(e.Context(), vdb.ScrollQuery{Space: a, Limit: 4})
	if err != nil || page.Next == "" {
		e.Fatalf("page %+v, error %v", page, err)
	}
	other, err := st.Scroll(e.Context(), vdb.ScrollQuery{Space: b, Limit: 10, After: page.Next})
	if err != nil && !errors.Is(err, vdb.ErrBadQuery) {
		e.Errorf("got error %v, want ErrBadQuery or b's own points", err)
	}
	for _, p := range other.Points {
		if p.Space != b {
			e.Errorf("point %q of user %q in a scroll of b", p.ID, p.Space)
		}
	}
}
