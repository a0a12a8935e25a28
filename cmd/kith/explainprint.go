package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/kithgraph/kith/internal/server"
)

// sumTolerance is how far the sum of the parts may be from the score.
const sumTolerance = 1e-9

// fact is what an explanation is about, among the results or attached to one.
type fact struct {
	id                string
	score, graphScore float64
	channels          *server.Channels
	seed, via         string
	hops              int
	relaxed           float64
	why               *server.Explanation
}

func factOf(a server.Attached) fact {
	return fact{id: a.ID, score: a.Score, graphScore: a.GraphScore, seed: a.ExpandedFrom, via: a.Via, hops: a.Hops, relaxed: a.Relaxed, why: a.Explanation}
}

// result explains a fact that has a place.
func (x explainer) result(a server.SearchResponse, r server.Result) error {
	x.e.printf("%s  %s\n", r.ID, cut(content(r.Payload), 90))
	f := fact{id: r.ID, score: r.Score, graphScore: r.GraphScore, channels: r.Channels, seed: r.ExpandedFrom, via: r.Via, hops: r.Hops, relaxed: deref(r.Relaxed), why: r.Explanation}
	if r.ExpandedFrom != "" {
		x.e.printf("place %d, added by the graph\n\n", r.RankAfter)
		return x.added(a, f)
	}
	x.e.printf("place %d; place %d in the recall\n\n", r.RankAfter, r.RankBefore)
	if f.why == nil {
		x.e.printf("score %.9f is the vector store's; the graph has no part in it\n", f.score)
		return nil
	}
	return x.member(a, f)
}

// member accounts for a candidate: its base score, and who supports it.
func (x explainer) member(a server.SearchResponse, f fact) error {
	x.e.printf("graph score %.9f\n", f.graphScore)
	x.e.printf("  %.9f base score: %s\n", f.why.Base, x.baseText(a, f))
	sum := f.why.Base
	n := len(f.why.Supporters)
	raw := 0.0
	for _, s := range f.why.Supporters {
		sum += s.Share
		raw += s.Weight * s.Sent / math.Sqrt(float64(n))
		x.e.printf(" %+.9f from %s over %s: weight %.6f x its score %.6f / sqrt(%d) x beta %v\n", s.Share, s.ID, strengthText(s.Relations), s.Weight, s.Sent, n, a.Settings.Beta)
	}
	switch {
	case n == 0:
		x.e.printf("  nobody supports it: no good candidate has an edge to it that carries support\n")
	case f.why.CapBound:
		x.e.printf("  the cap bound: support %.6f counts as %v, every share is cut in proportion\n", raw, a.Settings.SupportCap)
	}
	return x.total(f, sum)
}

// added accounts for a fact that the graph added.
func (x explainer) added(a server.SearchResponse, f fact) error {
	if f.why == nil || f.why.Added == nil {
		return fmt.Errorf("explain %s: the answer has no explanation of it", f.id)
	}
	how := f.why.Added
	x.e.printf("graph score %.9f\n", f.graphScore)
	x.e.printf("  %.9f base score: %s\n", how.Parts.Base, x.baseText(a, f))
	sum := how.Parts.Base
	for _, p := range addedParts(how.Parts) {
		sum += p.value
		x.e.printf(" %+.9f %s\n", p.value, p.text)
	}
	if err := x.total(f, sum); err != nil {
		return err
	}
	x.e.printf("\nseed: %s; path: %s (%s)\n", f.seed, strings.Join(how.Path, " - "), wayText(f.seed, f.via, f.hops))
	x.e.printf("tie: gamma %v x relaxed %.9f, which is the base score of %s times the strength of the path\n", a.Settings.Gamma, f.relaxed, f.seed)
	x.e.printf("gate: asks for a base score of %.9f; margin %+.9f\n", how.Parts.Base-how.GateMargin, how.GateMargin)
	if how.Quota > 0 {
		x.e.printf("quota: number %d of at most %d over %s\n", how.QuotaPlace, how.Quota, f.via)
	} else {
		x.e.printf("quota: none for %s\n", f.via)
	}
	return nil
}

// total prints the sum, and fails if it is not the score.
func (x explainer) total(f fact, sum float64) error {
	if !(math.Abs(sum-f.graphScore) <= sumTolerance) { // also NaN
		return fmt.Errorf("explain %s: the parts sum to %v, the graph score is %v: this is a fault of kith", f.id, sum, f.graphScore)
	}
	x.e.printf("= %.9f, which is the graph score\n", sum)
	return nil
}

// baseText says what a base score is made of.
func (x explainer) baseText(a server.SearchResponse, f fact) string {
	s := a.Settings
	scale := func(cosine float64) string {
		if !a.GraphRerank.Calibrated {
			return fmt.Sprintf("cosine %.9f as it is, within 0 to 1", cosine)
		}
		return fmt.Sprintf("(cosine %.9f - %v) / (%v - %v), within 0 to 1", cosine, s.CalLo, s.CalHi, s.CalLo)
	}
	if a.Recall != "hybrid" {
		return scale(f.score)
	}
	if f.channels == nil { // added: scored by its vector alone
		return fmt.Sprintf("%v x [%s]", s.DenseWeight, scale(f.score))
	}
	text := fmt.Sprintf("%v x ", s.DenseWeight)
	switch {
	case f.channels.DenseFound && f.channels.Dense != nil:
		text += "[" + scale(*f.channels.Dense) + "]"
	default:
		text += "0 (not among the nearest)"
	}
	text += fmt.Sprintf(" + %.6g x ", 1-s.DenseWeight)
	if f.channels.Keyword == nil {
		return text + "0 (not found by keyword)"
	}
	return text + fmt.Sprintf("[%.6f / (%.6f + %v)], its keyword score", *f.channels.Keyword, *f.channels.Keyword, s.KeywordHalf)
}

// strengthText lists edge types with the strength of each.
func strengthText(relations []server.Relation) string {
	parts := make([]string, len(relations))
	for i, r := range relations {
		parts[i] = fmt.Sprintf("%s %.4f", r.Type, r.Strength)
		if len(r.Over) > 0 {
			parts[i] += " (" + strings.Join(r.Over, ", ") + ")"
		}
	}
	return strings.Join(parts, " + ")
}
