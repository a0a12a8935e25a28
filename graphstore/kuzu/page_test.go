package kuzu

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPagesCoverEveryNumberOnce counts by hand what the ranges hold.
func TestPagesCoverEveryNumberOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(1, 1000).Draw(t, "low")
		high := low + rapid.Int64Range(0, 1000).Draw(t, "width")
		x := extent{count: rapid.Int64Range(1, high-low+1).Draw(t, "count"), low: low, high: high}
		size := rapid.Int64Range(1, 2000).Draw(t, "size")
		pages, at := x.pages(size), low
		for _, p := range pages {
			if p.from != at || p.to <= p.from {
				t.Fatalf("page %v at %d of %v", p, at, pages)
			}
			at = p.to
		}
		if most := (x.count + size - 1) / size; at != high+1 || int64(len(pages)) > most {
			t.Fatalf("%d pages to %d: want at most %d, to %d", len(pages), at, most, high+1)
		}
	})
	if pages := (extent{}).pages(10); pages != nil {
		t.Errorf("pages of nothing: %v", pages)
	}
}
