package main

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestBackfillMemory backfills a user of many points with little memory and with much, page by page and writing the graph anew. What is
// resident is printed beside the flag: the graph in memory, the garbage collector and the store of the points are in it too. What is
// asserted is what the flag is of: the points in hand.
func TestBackfillMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	c := collection{users: 1, points: proving(200_000, 12_000), dim: 16, group: 8}
	s := c.storeIn(t, inFile)
	var digests []string
	for _, bulk := range []bool{false, true} {
		how, args := "page by page", []string{"--no-neighbors", "--user=user-0"}
		if bulk {
			how, args = "written anew", args[:1]
		}
		var pages []int64
		for _, memory := range []int64{1 << 20, 256 << 20} {
			dir := s.dataDir(t)
			g := startGroup(t, dir, s.env, append([]string{"backfill", "--json", fmt.Sprint("--memory=", memory)}, args...)...)
			stop := watchResidents(g.cmd.Process.Pid)
			b := g.account(t)
			resident := stop()
			r := b.Report
			if r.Changed != int64(c.points) || r.Bulk != bulk || r.PeakPageBytes > memory {
				t.Errorf("%s, memory %d: %+v", how, memory, r)
			}
			pages, digests = append(pages, r.PeakPageBytes), append(digests, fileDigest(t, dir))
			proofSays("a user of %d points, %s, --memory %3d MiB: points in hand at most %6d KiB, %4d pages, resident at most %s, %s", c.points, how, memory>>20, r.PeakPageBytes>>10, r.Pages,
				resident, time.Duration(r.TookMS)*time.Millisecond)
		}
		if pages[0] >= pages[1] {
			t.Errorf("%s: largest pages %v: want larger ones where they may be", how, pages)
		}
	}
	slices.Sort(digests)
	if digests = slices.Compact(digests); len(digests) != 1 {
		t.Errorf("digests %v, want the same graph each time", digests)
	}
}
