package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// maxPrinted bounds the users and problems that are printed one by one.
const maxPrinted = 10

// printRebuild prints the account of a rebuild.
func (e *env) printRebuild(r server.Rebuild) {
	what := "the graph"
	if r.UserID != "" {
		what = "the graph of " + r.UserID
	}
	verb := "rebuilt"
	if !r.Done {
		verb = "did not rebuild"
	}
	e.printf("%s %s: %d facts of %d users, %d records (%s), every event up to %d, in %s\n", verb, what, r.After.Facts, r.After.Users, r.After.Records,
		countsText(r.Records), r.UpToSeq, millis(r.TookMS))
	e.printf("  reading %s, writing %s, taking up %s", millis(r.ReadMS), millis(r.WriteMS), millis(r.SwapMS))
	if r.Passes > 1 {
		e.printf("; read in %d passes", r.Passes)
	}
	e.printf("\n  digest before %s\n         after  %s\n", digestText(r.Before.Digest, r.DigestError), r.After.Digest)
	if r.Aside != "" {
		e.printf("  what was there could not be opened and is in %s now\n", r.Aside)
	}
	e.printReplaced(r.Replaced)
	e.printRead(r)
	e.printStream(r.Stream)
	e.printf("  left to a backfill: %d facts that others name and no event is about", r.Unseen)
	if !r.Stream.Complete {
		e.printf(", and what only the missing events said")
	}
	e.printf("; facts of the vector store without a node were not looked for\n")
}

func digestText(digest, why string) string {
	switch {
	case digest == "":
		return "unknown: " + why
	case why != "":
		return digest + " (of memory: " + why + ")"
	default:
		return digest
	}
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// countsText lists counts by name.
func countsText(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (e *env) printReplaced(c *server.RebuildChanges) {
	if c == nil {
		return
	}
	e.printf("  records equal: %d; new: %s; changed: %s; gone: %s\n", c.Equal, countsText(c.New), countsText(c.Changed), countsText(c.Gone))
	for _, key := range c.Keys {
		e.printf("    %s\n", key)
	}
}

// printRead prints what was read.
func (e *env) printRead(r server.Rebuild) {
	e.printf("  events: %s\n", countsText(r.Events))
	e.printf("  bad: %d events, %d facts of others; nothing was dead-lettered\n", r.Bad, r.BadFacts)
	for i, p := range r.Problems {
		if i == maxPrinted {
			e.printf("    and more\n")
			break
		}
		note := ""
		if p.Unburied {
			note = " (no dead letter)"
		}
		e.printf("    %d %s: %s%s\n", p.Seq, p.Reason, p.Error, note)
	}
	if r.Unburied > 0 {
		e.printf("    %d of these events were settled before and are not among the dead letters: dropped or replayed since, or an earlier version of kith\n"+
			"    projected what this one refuses; if so, it is not in the graph any more\n", r.Unburied)
	}
	if r.UserID != "" {
		return
	}
	for i, u := range r.PerUser {
		if i == maxPrinted {
			e.printf("    and %d more users\n", r.Users-maxPrinted)
			break
		}
		e.printf("    %s: %d events, %d facts, %d records\n", u.UserID, u.Events, u.Facts, u.Records)
	}
}

func (e *env) printStream(s server.RebuildStream) {
	if s.Events == 0 {
		e.printf("  stream: empty after event %d\n", s.Last)
	} else {
		e.printf("  stream: events %d to %d, the oldest of %s\n", s.First, s.Last, s.Oldest.UTC().Format(time.RFC3339))
	}
	if s.Other {
		e.printf("    the graph that was there was made of another stream\n")
	}
	if s.Complete {
		e.printf("    nothing is missing from it\n")
		return
	}
	if s.Dropped > 0 {
		e.printf("    no longer there: the %d events before them\n", s.Dropped)
	}
	if s.Deleted > 0 {
		var gaps []string
		for _, g := range s.Gaps[:min(len(s.Gaps), maxPrinted)] {
			gaps = append(gaps, fmt.Sprintf("%d to %d", g.From, g.To))
		}
		e.printf("    no longer there: %d events between them: %s\n", s.Deleted, strings.Join(gaps, ", "))
	}
}
