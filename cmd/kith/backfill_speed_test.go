package main

import (
	"context"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb"
)

// scanAll reads all points as a backfill does, and does nothing with them.
func (s *stored) scanAll(t *testing.T, dim int, withVectors bool) (points int, took time.Duration) {
	t.Helper()
	store := s.open(t, dim)
	defer closeStore(t, store)
	start := time.Now()
	for after := ""; ; {
		page, err := store.Scroll(context.Background(), vdb.ScrollQuery{AllSpaces: true, After: after, Limit: 2048, WithVectors: withVectors})
		if err != nil {
			t.Fatal(err)
		}
		if points += len(page.Points); page.Next == "" {
			return points, time.Since(start)
		}
		after = page.Next
	}
}

// timedBackfill runs the command on a data directory of its own.
func (s *stored) timedBackfill(t *testing.T, args ...string) (server.Backfill, residents) {
	t.Helper()
	g := startGroup(t, s.dataDir(t), s.env, append([]string{"backfill", "--json"}, args...)...)
	stop := watchResidents(g.cmd.Process.Pid)
	b := g.account(t)
	return b, stop()
}

// faster returns the smaller time; 0 is none.
func faster(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// TestBackfillSpeed compares a backfill with a scan of the same points.
func TestBackfillSpeed(t *testing.T) {
	fullProofOnly(t)
	const want = 2.5 // times as long as the scan alone, without neighbours
	for _, tc := range []struct {
		kind      string
		c         collection
		neighbors bool
	}{
		{inFile, collection{users: 100, points: 100_000, dim: 384, group: 8}, false},
		{inWire, collection{users: 100, points: 100_000, dim: 384, group: 8}, false},
		{inFile, collection{users: 20, points: 100_000, dim: 384, group: 8}, true},
		{inWire, collection{users: 20, points: 10_000, dim: 384, group: 8}, true}, // each search looks at every point of the test's server
	} {
		how, args := "no neighbours", []string{"--no-neighbors"}
		if tc.neighbors {
			how, args = "neighbours", nil
		}
		t.Run(tc.kind+", "+how, func(t *testing.T) {
			s := tc.c.storeIn(t, tc.kind)
			var n int
			var bare, scan time.Duration // without vectors, and with
			for range 2 {
				var took time.Duration
				n, took = s.scanAll(t, tc.c.dim, false)
				bare = faster(bare, took)
				_, took = s.scanAll(t, tc.c.dim, true)
				scan = faster(scan, took)
			}
			b, memory := s.timedBackfill(t, args...)
			if r := b.Report; n != tc.c.points || r.Scanned != int64(n) || r.Changed != int64(n) || r.Skipped+r.BadFacts+r.BadVectors != 0 {
				t.Errorf("scanned %d points, then %+v: want all %d taken", n, r, tc.c.points)
			}
			took := time.Duration(b.Report.TookMS) * time.Millisecond
			proofSays("%d points x %d of %d users in the %s, %s: %.0f points/s in %s; scan alone %.0f points/s in %s, ratio %.2f (wanted without neighbours: %.1f), without vectors %s, ratio %.2f; bulk %v, %d edges between neighbours, page at most %d KiB; resident %s",
				n, tc.c.dim, tc.c.users, tc.kind, how, float64(n)/took.Seconds(), took.Round(time.Millisecond), float64(n)/scan.Seconds(), scan.Round(time.Millisecond),
				took.Seconds()/scan.Seconds(), want, bare.Round(time.Millisecond), took.Seconds()/bare.Seconds(), b.Report.Bulk, b.Report.Written["semantic_neighbor"], b.Report.PeakPageBytes>>10, memory)
		})
	}
}
