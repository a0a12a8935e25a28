package rerank_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// The worked examples of the ranking specification by their numbers, without those of expansion and paths: W1 to W13, W15
// to W23, W32. Beta .15, cap 1, floor .30, identity calibration unless a case says so. Scores are asserted to 1e-6.

func TestWorkedBaseScore(t *testing.T) {
	cases := []struct {
		name   string
		lo, hi float64
		cosine float64
		want   float64
	}{
		{"W1 (.55-.10)/(.70-.10)", .10, .70, .55, .75},
		{"W1 upper bound", .10, .70, .70, 1},
		{"W1 above", .10, .70, .90, 1},
		{"W1 below", .10, .70, .05, 0},
		{"W1 negative", .10, .70, -.30, 0},
		{"W2 identity (.55-0)/1", 0, 1, .55, .55},
		{"W2 identity clips", 0, 1, -.20, 0},
		{"narrower than .05 is identity", .50, .54, .55, .55},
		{"exactly .05 counts: (.125-.10)/.05", .10, .15, .125, .5},
		{"upside down is identity", .70, .10, .55, .55},
		{"unset is identity", 0, 0, .55, .55},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRanker(t, func(s *rerank.Settings) { s.CalLo, s.CalHi = c.lo, c.hi })
			pool := poolOf(t, "A:0")
			pool[0].Cosine = c.cosine
			item := mustRank(t, r, requestOf(t, pool, nil)).Items[0]
			if math.Abs(item.Base-c.want) > 1e-6 || item.Score != c.cosine {
				t.Errorf("base %v score %v, want %v %v", item.Base, item.Score, c.want, c.cosine)
			}
		})
	}
}

func TestWorkedFolding(t *testing.T) {
	cases := []struct {
		name  string
		edges string
		want  float64
		top   graphstore.RelationType
	}{
		{"W3 1-.45*.30, a repeat and a direction change nothing", "A-B co_occurs 1; B>A temporal_next 1; A-B co_occurs .4", .865, graphstore.TemporalNext},
		{"W4 1-.1*.1=.99 meets the ceiling", "A>B causes 1; A>B elaborates 1", .95, graphstore.Causes},
		{"W5 unknown type: .5*.8", "A-B likes .8", .40, graphstore.Related},
		{"a damaged weight above 1 counts as 1", "A-B co_occurs 7", .55, graphstore.CoOccurs},
		{"both directions of a type are one: .9*1", "A>B causes .3; B>A causes 1", .90, graphstore.Causes},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.8 B:.6"), graphOf(t, c.edges)))
			got := itemOf(t, res, "B").Explanation.Supporters
			if len(got) != 1 || math.Abs(got[0].Weight-c.want) > 1e-6 || got[0].Top != c.top {
				t.Errorf("supporters %+v, want weight %v, top %s", got, c.want, c.top)
			}
		})
	}
}

func TestWorkedSupport(t *testing.T) {
	cases := []struct {
		name, pool, edges, want, support string
	}{
		{"W6 one edge: A .80+.15*.55*.62, B .62+.15*.55*.80", "A:.80 B:.62 C:.70", "A-B co_occurs 1",
			"A .851150 C .700000 B .686000", "A .341 B .440 C 0"},
		{"W7 two types: W 1-.45*.30=.865, A .80+.15*.865*.60, B .60+.15*.865*.80", "A:.80 B:.60", "A-B co_occurs 1; A>B temporal_next 1",
			"A .877850 B .703800", "A .519 B .692"},
		{"W8 degree: H has .55*2.90/sqrt(4), the others .55*.60", "A:.80 B:.75 D:.70 E:.65 H:.60",
			"H-A co_occurs 1; H-B co_occurs 1; H-D co_occurs 1; H-E co_occurs 1",
			"A .849500 B .799500 D .749500 H .719625 E .699500", "H .7975"},
		{"W9 cap: H has .9*4/sqrt(4)=1.80 and gets .15*1, the others 1+.15*.9*.60", "A:1 B:1 D:1 E:1 H:.60",
			"H>A causes 1; H>B causes 1; H>D causes 1; H>E causes 1",
			"A 1.081 B 1.081 D 1.081 E 1.081 H .75", "A .54 H 1.80"},
		{"W10 sender floor: B .29+.15*.55*.72, D .25+.15*.55*.72, A nothing of them", "A:.72 B:.29 D:.25", "A-B co_occurs 1; A-D co_occurs 1",
			"A .720000 B .349400 D .309400", "A 0 B .396 D .396"},
		{"W11 excluded type", "A:.80 B:.60", "A-B semantic_neighbor .9", "A .80 B .60", "A 0 B 0"},
		{"W12 overtaking: D .62+.15*.9*.80, A .80+.15*.9*.62", "A:.80 B:.70 D:.62", "A>D causes 1", "A .883700 D .728000 B .700000", ""},
		{"W18 mutual pair below the leaders: D .62+.15*.9*.61, E .61+.15*.9*.62", "A:.80 B:.78 D:.62 E:.61", "D>E causes 1",
			"A .80 B .78 D .702350 E .693700", ""},
		{"W20a V .60+.15*.55*.80", "A:.80 V:.60", "V-A co_occurs 1", "A .8495 V .666000", "V .44"},
		{"W20b a neighbour below the floor changes nothing", "A:.80 V:.60 W:.29", "V-A co_occurs 1; V-W co_occurs 1",
			"A .8495 V .666000 W .339500", "V .44"},
		{"W20c a weak eligible one lowers support: .55*1.10/sqrt(2)", "A:.80 V:.60 W:.30", "V-A co_occurs 1; V-W co_occurs 1",
			"A .8495 V .664170 W .3495", "V .427800"},
		{"W17 self-loop, zero weight", "A:.80 B:.60", "A>A causes 1; A-B co_occurs 0", "A .80 B .60", "A 0 B 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, c.pool), graphOf(t, c.edges)))
			wantItems(t, res, c.want)
			wantSupport(t, res, c.support)
		})
	}
}

func TestWorkedCapIsReported(t *testing.T) { // W9
	edges := "H>A causes 1; H>B causes 1; H>D causes 1; H>E causes 1"
	res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:1 B:1 D:1 E:1 H:.60"), graphOf(t, edges)))
	h := itemOf(t, res, "H")
	if !h.Capped || !h.Explanation.CapBound || itemOf(t, res, "A").Capped {
		t.Errorf("cap: %+v", res.Items)
	}
	want := rerank.Diagnostics{
		Pool: 5, Eligible: 5, InGraph: 5, Senders: 5, Supported: 5, Pairs: 4, Boosted: 5, Capped: 1,
		Edges: []rerank.TypeCount{{Type: graphstore.Causes, N: 4}}, MaxBoost: .15,
	}
	if diff := cmp.Diff(want, res.Diagnostics, approx); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

var approx = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })

func TestWorkedIterations(t *testing.T) {
	cases := []struct{ name, want string }{
		{"W13 t=1: B .60+.15*(.55*.80+.55*.55)/sqrt(2), A .80+.15*.55*.60", "A .849500 B .678754 D .599500"},
		{"W13 t=2: B .60+.15*.55*(.849500+.599500)/sqrt(2), A .80+.15*.55*.678754", "A .855997 B .684529 D .605997"},
		{"W13 t=3: B .60+.15*.55*(.855997+.605997)/sqrt(2), A .80+.15*.55*.684529", "A .856474 B .685287 D .606474"},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRanker(t, func(s *rerank.Settings) { s.Iterations = i + 1 })
			q := requestOf(t, poolOf(t, "A:.80 B:.60 D:.55"), graphOf(t, "A-B co_occurs 1; B-D co_occurs 1"))
			wantItems(t, mustRank(t, r, q), c.want)
		})
	}
}

func TestWorkedOrder(t *testing.T) {
	t.Run("W15 ties keep the incoming order", func(t *testing.T) {
		res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "B:.70 A:.70 D:.70"), graphOf(t, "")))
		wantItems(t, res, "B .7 A .7 D .7")
	})
	t.Run("W16 clamped scores", func(t *testing.T) {
		r := newRanker(t, func(s *rerank.Settings) { s.CalLo, s.CalHi = .1, .7 })
		res := mustRank(t, r, requestOf(t, poolOf(t, "A:.75 B:.72 D:.05 E:.02"), nil))
		wantItems(t, res, "A 1 B 1 D 0 E 0")
	})
	t.Run("W16 with a boost elsewhere raw cosines decide, whatever the incoming order", func(t *testing.T) {
		r := newRanker(t, func(s *rerank.Settings) { s.CalLo, s.CalHi = .1, .7 })
		q := requestOf(t, poolOf(t, "E:.02 B:.72 D:.05 A:.75 F:.40 G:.34"), graphOf(t, "F-G co_occurs 1"))
		// s(F)=.5, s(G)=.4: F .5+.15*.55*.4, G .4+.15*.55*.5
		wantItems(t, mustRank(t, r, q), "A 1 B 1 F .533 G .44125 D 0 E 0")
	})
	t.Run("W17 the first of two equal ids stays", func(t *testing.T) {
		res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.80 A:.75 B:.60"), nil))
		wantItems(t, res, "A .80 B .60")
		want := []rerank.Removed{{ID: "A", Index: 1, Reason: rerank.ReasonDuplicate}}
		if diff := cmp.Diff(want, res.Removed); diff != "" {
			t.Errorf("removed (-want +got):\n%s", diff)
		}
	})
	t.Run("W19 beta 0 keeps any incoming order and every score", func(t *testing.T) {
		r := newRanker(t, func(s *rerank.Settings) { s.Beta = 0 })
		res := mustRank(t, r, requestOf(t, poolOf(t, "B:.2 A:.9 D:.5"), graphOf(t, "A>B causes 1; B>D causes 1")))
		wantItems(t, res, "B .2 A .9 D .5")
	})
}

func TestWorkedDamping(t *testing.T) {
	cases := []struct {
		name  string
		facts int
		damp  float64
	}{
		{"W21 one fact ties nothing", 1, 0},
		{"W21 two: 1/(1+log2 1)", 2, 1},
		{"W21 three: 1/(1+log2 2)", 3, .5},
		{"W21 five: 1/(1+log2 4)", 5, 1. / 3},
		{"W21 nine: 1/(1+log2 8)", 9, .25},
		{"W21 33: 1/(1+log2 32)", 33, 1. / 6},
		{"W21 50: 1/(1+log2 49)=1/6.614710", 50, .151178},
		{"W21 51 are beyond the cap of 50", 51, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newGraph(t, spaceOf(t, "u"))
			for i := range 300 { // enough facts that none of the cases is more than a fifth of them
				g.fact(fmt.Sprint("bystander", i))
			}
			for i := range c.facts {
				g.mention([]string{"A", "B", fmt.Sprint("bystander", i)}[min(i, 2)], "acme")
			}
			res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.8 B:.6"), g.snapshot()))
			weight := 0.0
			if s := itemOf(t, res, "B").Explanation.Supporters; len(s) > 0 {
				weight = s[0].Relations[0].Weight
			}
			if math.Abs(weight-c.damp) > 1e-6 {
				t.Errorf("weight %.6f, want %.6f", weight, c.damp)
			}
		})
	}
}

func TestWorkedSharedBridges(t *testing.T) {
	t.Run("W22 one of df 3: .50*.5; of df 3 and 9: .50*(1-.5*.75)", checkSharedBridges)
}

func checkSharedBridges(t *testing.T) {
	g := newGraph(t, spaceOf(t, "u"))
	for _, f := range []string{"A", "B", "x1"} { // 3 facts: damp .5
		g.mention(f, "acme")
	}
	one := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.8 B:.6"), g.snapshot()))

	g = newGraph(t, spaceOf(t, "u"))
	for _, f := range []string{"A", "B", "x1"} {
		g.mention(f, "acme")
	}
	for _, f := range []string{"A", "B", "y1", "y2", "y3", "y4", "y5", "y6", "y7"} { // 9 facts: damp .25
		g.mention(f, "tokyo")
	}
	two := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.8 B:.6"), g.snapshot()))

	relation := func(weight float64, over ...string) []rerank.Relation {
		return []rerank.Relation{{Type: graphstore.Mentions, Weight: weight, Strength: .5 * weight, Over: over}}
	}
	got := []rerank.Supporter{itemOf(t, one, "B").Explanation.Supporters[0], itemOf(t, two, "B").Explanation.Supporters[0]}
	want := []rerank.Supporter{
		{ID: "A", Relations: relation(.5, "id-acme"), Top: graphstore.Mentions, Weight: .25, Sent: .8, Share: .15 * .25 * .8},
		// 1 - (1-.5)(1-.25) = .625
		{ID: "A", Relations: relation(.625, "id-acme", "id-tokyo"), Top: graphstore.Mentions, Weight: .3125, Sent: .8, Share: .15 * .3125 * .8},
	}
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Errorf("supporters (-want +got):\n%s", diff)
	}
}

func TestWorkedEpisodes(t *testing.T) {
	pool := poolOf(t, "A:.80 B:.60 D:.70 F:.61 G:.58")
	for i := range pool {
		if pool[i].ID != "F" {
			pool[i].EpisodeID = "e1"
		}
	}
	r := newRanker(t, func(s *rerank.Settings) { s.EpisodeRecall = true })
	for name, g := range map[string]*graphstore.Snapshot{"no graph": nil, "no edges": graphOf(t, "")} {
		t.Run("W23 A gets .55*.7*(.70+.60)/sqrt(2)=.353907, "+name, func(t *testing.T) {
			res := mustRank(t, r, requestOf(t, pool, g))
			wantItems(t, res, "A .853086 D .757170 B .661253 G .641253 F .610000")
			wantSupport(t, res, "A .353907")
		})
	}
	t.Run("W23 off by default", func(t *testing.T) {
		res := mustRank(t, newRanker(t, nil), requestOf(t, pool, nil))
		wantItems(t, res, "A .80 B .60 D .70 F .61 G .58")
	})
}

func TestWorkedValidity(t *testing.T) {
	cases := []struct {
		name     string
		from, to graphstore.Instant
		now, at  graphstore.Instant
		state    string
		want     rerank.Reason
	}{
		{name: "ended before now", from: day(1), to: day(10), now: day(20), want: rerank.ReasonNoLonger},
		{name: "asked inside", from: day(1), to: day(10), now: day(20), at: day(5)},
		{name: "asked at the start", from: day(1), to: day(10), now: day(20), at: day(1)},
		{name: "asked at the end, half-open", from: day(1), to: day(10), now: day(20), at: day(10), want: rerank.ReasonNoLonger},
		{name: "one microsecond before the end", from: day(1), to: day(10), now: day(20), at: day(10) - 1},
		{name: "from the future", from: day(20), now: day(20), at: day(5), want: rerank.ReasonNotYet},
		{name: "no window", now: day(20)},
		{name: "no window, asked for the past", now: day(20), at: day(2)},
		{name: "still valid", from: day(1), to: day(20), now: day(19)},
		{name: "superseded now", to: day(10), now: day(20), state: "superseded", want: rerank.ReasonState},
		{name: "superseded, asked inside", to: day(10), now: day(20), at: day(5), state: "superseded"},
		{name: "superseded, asked after", to: day(10), now: day(20), at: day(12), state: "superseded", want: rerank.ReasonNoLonger},
		{name: "shadowed, asked inside", to: day(10), now: day(20), at: day(5), state: "shadowed", want: rerank.ReasonState},
		{name: "deleted, asked inside", to: day(10), now: day(20), at: day(5), state: "deleted", want: rerank.ReasonState},
		{name: "unknown state", now: day(20), state: "archived", want: rerank.ReasonState},
		{name: "active by name", now: day(20), state: "active"},
	}
	for _, c := range cases {
		t.Run("W32 "+c.name, func(t *testing.T) {
			pool := poolOf(t, "A:.8")
			pool[0].ValidFrom, pool[0].ValidTo, pool[0].State = c.from, c.to, c.state
			q := requestOf(t, pool, nil)
			q.Now, q.ValidAt = c.now, c.at
			res := mustRank(t, newRanker(t, nil), q)
			got := rerank.Reason("")
			if len(res.Removed) > 0 {
				got = res.Removed[0].Reason
			}
			if got != c.want || len(res.Items)+len(res.Removed) != 1 {
				t.Errorf("removed %v, items %d: want reason %q", res.Removed, len(res.Items), c.want)
			}
		})
	}
}
