package qdrant

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// 3,000 points of 384 numbers are 4.6 MB of vectors alone: more than gRPC's usual limit of 4 MiB in one answer.
func TestLargeAnswers(t *testing.T) {
	const n, dim = 3000, 384
	srv := wire.Start(t, wire.Options{})
	cfg := Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: dim}
	st := open(t, cfg)
	u := space(t, "u")
	points := vdbtest.Points(1, u, n, dim)
	upsert(t, st, points...)
	ids := make([]string, n)
	for i, p := range points {
		ids[i] = p.ID
	}
	q := vdb.Query{Space: u, Vector: points[0].Vector, Limit: n, WithVectors: true}
	read := func(st *Store) (searched, got, scrolled int, searchErr error) {
		found, searchErr := st.Search(t.Context(), q)
		byID, err := st.Get(t.Context(), u, ids, true)
		if err != nil {
			t.Errorf("get: %v", err)
		}
		page, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: vdb.MaxLimit, WithVectors: true})
		if err != nil || page.Next != "" {
			t.Errorf("scroll: %v, next %q", err, page.Next)
		}
		return len(found), len(byID), len(page.Points), searchErr
	}
	if s, g, p, err := read(st); s != n || g != n || p != n || err != nil {
		t.Errorf("read %d, %d and %d points of %d, %v", s, g, p, n, err)
	}

	// With a limit of 1 MiB the reads that can be divided are, and the one that cannot says what to do.
	cfg.MaxMessageBytes = 1 << 20
	_, g, p, err := read(open(t, cfg))
	if g != n || p != n {
		t.Errorf("read %d and %d points of %d in parts", g, p, n)
	}
	if !errors.Is(err, errTooLarge) || errors.Is(err, vdb.ErrUnavailable) || !strings.Contains(err.Error(), "max_message_bytes 1048576") {
		t.Errorf("got %v, want an error that names the limit", err)
	}
}

// Contents far larger than assumed: the size of a page is found by halving.
func TestLargeContents(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2, MaxMessageBytes: MinMessageBytes})
	u := space(t, "u")
	for i := range 40 {
		upsert(t, st, fact(u, fmt.Sprint(i), strings.Repeat("x", 20_000))) // three fit into an answer of 64 KiB
	}
	page, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 40})
	if err != nil || len(page.Points) != 40 || page.Next != "" {
		t.Errorf("%d points, next %q, %v", len(page.Points), page.Next, err)
	}
	upsert(t, st, fact(u, "99", strings.Repeat("x", 70_000)))
	if _, err := st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 50}); !errors.Is(err, errTooLarge) {
		t.Errorf("one point that is too large: got %v", err)
	}
}
