package main

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/internal/server"
)

// maxRefused is how many refusals an answer is printed with, those with the strongest ties.
const maxRefused = 20

// printAnswer prints one answer for a person.
func printAnswer(e *env, a server.SearchResponse) {
	for _, r := range a.Results {
		moved := " new"
		if r.ExpandedFrom == "" {
			moved = " " + move(r.RankBefore, r.RankAfter)
		}
		e.printf("%2d.%s %.4f  %s  %s\n", r.RankAfter, moved, r.GraphScore, r.ID, cut(content(r.Payload), 90))
		if r.ExpandedFrom != "" {
			e.printf("       added: %s\n", wayText(r.ExpandedFrom, r.Via, r.Hops))
		}
		printBrief(e, "       ", r.Explanation)
		for _, x := range r.Attached {
			e.printf("      + %.4f  %s  %s\n          added: %s\n", x.GraphScore, x.ID, cut(content(x.Payload), 80), wayText(x.ExpandedFrom, x.Via, x.Hops))
			printBrief(e, "          ", x.Explanation)
		}
	}
	if len(a.Results) > 0 {
		e.printf("\n")
	}
	printPaths(e, a.RelatedPaths)
	printLeftOut(e, a)
	printSummary(e, a)
}

// wayText says how the graph came to a fact.
func wayText(seed, via string, hops int) string {
	if hops == 1 {
		return "one hop from " + seed + " over " + via
	}
	return fmt.Sprintf("%d hops from %s, the first over %s", hops, seed, via)
}

// printBrief prints where a score comes from, a line per part.
func printBrief(e *env, indent string, x *server.Explanation) {
	if x == nil {
		return
	}
	e.printf("%s%.4f of its own\n", indent, x.Base)
	for _, s := range x.Supporters {
		e.printf("%s%+.4f from %s over %s\n", indent[1:], s.Share, s.ID, relationText(s.Relations))
	}
	if x.CapBound {
		e.printf("%sheld down by the cap of support\n", indent)
	}
	if x.Added == nil {
		return
	}
	for _, part := range addedParts(x.Added.Parts) {
		e.printf("%s%+.4f %s\n", indent[1:], part.value, part.text)
	}
}

// part is one summand of an added fact's score.
type part struct {
	value float64
	text  string
}

// addedParts returns the parts of an added fact's score besides its own base score, those that are not 0.
func addedParts(p server.Parts) (parts []part) {
	for _, x := range []part{
		{p.Tie, "for its tie"}, {p.Keyword, "for its words"}, {p.Episode, "for being of the same episode"}, {p.Held, "held below the one it was added to"},
	} {
		if x.value != 0 {
			parts = append(parts, x)
		}
	}
	return parts
}

func printPaths(e *env, paths []server.RelatedPath) {
	if len(paths) == 0 {
		return
	}
	e.printf("how they connect:\n")
	for _, p := range paths {
		e.printf("  %.4f  %s%s\n", p.Score, p.Text, earlierText(p.Hops))
	}
	e.printf("\n")
}

// earlierText says which facts of a path are earlier than which, where the path tells.
func earlierText(hops []server.Hop) string {
	var parts []string
	for _, h := range hops {
		if h.Earlier != "" {
			parts = append(parts, h.Earlier+" before "+h.Later)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// printLeftOut prints what an answer with --explain=all has to say of facts that are not in it.
func printLeftOut(e *env, a server.SearchResponse) {
	for i, r := range a.Refused {
		if i == maxRefused {
			e.printf("and %d more were refused; kith explain says why of one, --json of all\n", len(a.Refused)-i)
			break
		}
		e.printf("refused %s: %s; %s\n", r.ID, refusalText(r), wayText(r.ExpandedFrom, r.Via, r.Hops))
	}
	for _, r := range a.Removed {
		e.printf("removed %s: %s\n", r.ID, removalText(r.Reason))
	}
	if len(a.Refused)+len(a.Removed) > 0 {
		e.printf("\n")
	}
}

func printSummary(e *env, a server.SearchResponse) {
	g := a.GraphRerank
	e.printf("%d results by %s recall; graph %s", len(a.Results), a.Recall, g.Status)
	if g.Reason != "" {
		e.printf(" (%s)", strings.TrimPrefix(g.Stage+": "+g.Reason, ": "))
	}
	e.printf("; %d of %d candidates moved, %d facts added, %d paths; recall %.2f ms, graph %.3f ms\n", g.Changed, g.Pool, g.Admitted, g.Paths, g.RecallMS, g.GraphMS)
	if a.RecallNote != "" {
		e.printf("recall: %s\n", a.RecallNote)
	}
	if a.MinSeqApplied != nil {
		state := "was applied"
		if !*a.MinSeqApplied {
			state = "was not applied in time"
		}
		e.printf("the event asked for %s: the graph has every event up to sequence %d\n", state, a.AppliedSeq)
	}
}
