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
	if r.After.Digest == "" { // refused before anything was read
		e.printf("%s %s from %s\n", verb, what, fromText(r))
		return
	}
	e.printf("%s %s from %s: %d facts of %d users, %d records (%s), %s, in %s\n", verb, what, fromText(r), r.After.Facts, r.After.Users, r.After.Records,
		countsText(r.Records), upToText(r), millis(r.TookMS))
	e.printf("  reading points %s, reading events %s, writing %s, taking up %s", millis(r.ScanMS), millis(r.ReadMS), millis(r.WriteMS), millis(r.SwapMS))
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
	e.printPoints(r.Points)
	if r.UserID != "" && r.Before.Records+r.After.Records == 0 {
		e.printf("  nothing of this user was there before or is there now: is the id spelled as in the events?\n")
	}
	e.printOrigins(r)
	if len(r.Missing) > 0 {
		e.printf("  had from nowhere:\n    %s\n", strings.Join(r.Missing, "\n    "))
	}
}

// fromText says what the graph is made of.
func fromText(r server.Rebuild) string {
	switch {
	case r.From == server.RebuildFromLog:
		return "the event stream alone"
	case r.From == server.RebuildFromStore:
		return "the vector store alone"
	case r.Stream.None:
		return "the vector store alone, since there is no event stream"
	default:
		return "event stream and vector store"
	}
}

// upToText says which events are in the graph.
func upToText(r server.Rebuild) string {
	switch {
	case r.Stream.None:
		return "no event"
	case r.Stream.Unread:
		return fmt.Sprintf("no event up to %d", r.Stream.Noted)
	default:
		return fmt.Sprintf("every event up to %d", r.UpToSeq)
	}
}

func (e *env) printPoints(p *server.RebuildPoints) {
	if p == nil {
		return
	}
	e.printf("  points: %d read of %d, of %d facts of %d users; %d facts settled by them", p.Scanned, p.Total, p.Facts, p.Users, p.Settled)
	for _, of := range []struct {
		n    int64
		what string
	}{
		{p.Skipped, "are no facts"}, {p.Duplicates, "are second points of a fact"}, {p.BadFacts, "break the rules of events"},
		{p.BadVectors, "have no vector to search by"}, {p.Forgotten, "are of users forgotten later"},
	} {
		if of.n > 0 {
			e.printf("; %d %s", of.n, of.what)
		}
	}
	e.printf("\n")
	for i, text := range p.Problems {
		if i == maxPrinted {
			e.printf("    and more\n")
			break
		}
		e.printf("    %s\n", text)
	}
}

// printOrigins prints what came from where, as a table.
func (e *env) printOrigins(r server.Rebuild) {
	if len(r.Origins) == 0 {
		return
	}
	e.printf("  what came from where:\n    %-18s %10s %12s %10s %10s %10s %10s\n", "", "log alone", "store alone", "both", "together", "changed", "gone")
	line := func(kind string, o server.RebuildOrigins) {
		e.printf("    %-18s %10d %12d %10d %10d %10d %10d\n", kind, o.Log, o.Store, o.Both, o.Together, o.Changed, o.Gone)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Origins)) {
		line(kind, r.Origins[kind])
	}
	line("all", r.OriginsAll)
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
		o := u.Origins
		e.printf("    %s: %d events, %d points, %d facts, %d records (log alone %d, store alone %d, both %d, together %d)\n", u.UserID, u.Events, u.Points,
			u.Facts, u.Records, o.Log, o.Store, o.Both, o.Together)
	}
}

func (e *env) printStream(s server.RebuildStream) {
	switch {
	case s.None:
		e.printf("  stream: there is none\n")
		return
	case s.Unread:
		e.printf("  stream: not read; the feed goes on after event %d, the last before the points were read\n", s.Noted)
		return
	case s.Events == 0:
		e.printf("  stream: empty after event %d\n", s.Last)
	default:
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
