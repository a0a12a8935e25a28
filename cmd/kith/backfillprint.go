package main

import (
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// printBackfill prints the account of a backfill that has ended.
func (e *env) printBackfill(b server.Backfill) {
	r := b.Report
	verb := "backfilled"
	switch {
	case !r.Done:
		verb = "did not finish to backfill"
	case r.Request.DryRun:
		verb = "would backfill (nothing was written)"
	}
	e.printf("%s %s: %d points in %s, %.0f a second\n", verb, rangeText(r.Request), r.Scanned, millis(r.TookMS).Round(time.Millisecond), b.Rate)
	e.printf("  facts: %d changed, %d as they were", r.Changed, r.Unchanged)
	for _, n := range []struct {
		n    int64
		text string
	}{
		{r.BadFacts, "bad"}, {r.Forgotten, "of users that were forgotten"}, {r.Duplicates, "stored twice"}, {r.Filtered, "not asked for"}, {r.Undated, "without a time"},
	} {
		if n.n > 0 {
			e.printf(", %d %s", n.n, n.text)
		}
	}
	e.printf("\n  points that are no facts: %d; facts without a usable vector: %d; entities and relations that cannot be read: %d; other values: %d\n", r.Skipped, r.BadVectors, r.BadItems, r.BadValues)
	if r.Cleared > 0 {
		e.printf("  cleared before: %d records\n", r.Cleared)
	}
	e.printf("  written: %s; removed: %s; in %d transactions of %d pages\n", counts64Text(r.Written), counts64Text(r.Removed), r.Commits, r.Pages)
	if r.StreamSeq > 0 {
		e.printf("  the stream was at event %d when the scan began\n", r.StreamSeq)
	}
	for _, text := range r.Problems {
		e.printf("  problem: %s\n", text)
	}
	for _, text := range r.Missing {
		e.printf("  not from the vector store: %s\n", text)
	}
	if r.Done && r.Scanned == 0 && r.Request.UserID != "" {
		e.printf("  the vector store has no points of this user: is the id spelled as in the points?\n")
	}
	if b.Resumable {
		e.printf("  kith backfill --resume, with the same options, goes on from there\n")
	}
}

func counts64Text(counts map[string]int64) string {
	ints := make(map[string]int, len(counts))
	for k, n := range counts {
		ints[k] = int(n)
	}
	return countsText(ints)
}
