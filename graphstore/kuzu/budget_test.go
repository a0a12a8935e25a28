package kuzu

import "testing"

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
