package kuzu

import (
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// TestCheckpointsAreRarerInLargeGraphs: a sixteenth of what is stored, within the configured number and 120,000.
func TestCheckpointsAreRarerInLargeGraphs(t *testing.T) {
	c := Config{CheckpointRecords: 20_000}
	for stored, want := range map[int]int{0: 20_000, 320_000: 20_000, 480_000: 30_000, 1_600_000: 100_000, 100_000_000: 120_000} {
		if got := c.recordsDue(stored); got != want {
			t.Errorf("%d stored: %d records, want %d", stored, got, want)
		}
	}
	if got := (Config{CheckpointRecords: 500_000}).recordsDue(100_000_000); got != 500_000 {
		t.Errorf("%d records, want the 500000 that were asked for", got)
	}
}

// TestGoodCommitGrowsWithTheGraph: 500 records below 50,000, then a hundredth.
func TestGoodCommitGrowsWithTheGraph(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), testConfig())
	defer s.Close()
	if got := s.GoodCommit(); got != 500 {
		t.Errorf("%d records for an empty graph, want 500", got)
	}
	path := filepath.Join(t.TempDir(), "graph")
	all := graphstoretest.Graph(1, 20, 500) // 10,000 facts: about 66,000 records
	if _, _, err := Build(t.Context(), path, BuildConfig{Config: testConfig()}, recordsOf(all)); err != nil {
		t.Fatal(err)
	}
	large := mustOpen(t, path, testConfig())
	defer large.Close()
	if got, want := large.GoodCommit(), len(all)/100; got != want || want < 501 {
		t.Errorf("%d records for a graph of %d, want %d", got, len(all), want)
	}
}
