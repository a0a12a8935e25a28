package rerank_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// pathsOf ranks, without expansion, and looks for paths.
func pathsOf(t testing.TB, r *rerank.Ranker, q rerank.Request, k int, change func(*rerank.PathQuery)) rerank.PathResult {
	t.Helper()
	ranked := mustRank(t, r, q)
	x, err := r.Admit(q, ranked, rerank.Nominations{}, nil, k)
	if err != nil {
		t.Fatal(err)
	}
	pq := rerank.PathQuery{Request: q, Expansion: x, K: k}
	if change != nil {
		change(&pq)
	}
	res, err := r.Paths(pq)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// plain switches support off, so that base scores are what an example states.
func plain(s *rerank.Settings) { s.Beta = 0 }

// wantPaths asserts paths written "B -temporal_next-> A | .700000 .504000".
func wantPaths(t *testing.T, res rerank.PathResult, want ...string) {
	t.Helper()
	var got []string
	for i := range res.Paths {
		got = append(got, fmt.Sprintf("%s | %.6f %.6f", res.Paths[i].String(), res.Paths[i].Strength, res.Paths[i].Score))
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " .", " 0.")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func at(pool []rerank.Candidate, id string, d int) []rerank.Candidate {
	for i := range pool {
		if pool[i].ID == id {
			pool[i].MemoryAt = day(d)
		}
	}
	return pool
}

// The worked examples of paths, W29 to W31.

func TestWorkedPaths(t *testing.T) {
	t.Run("W29 B to A .70*sqrt(.64*.81)=.504; A to D over M .9*.55*.6*sqrt(.81*.64)=.21384", checkPaths)
	t.Run("W30 .9*sqrt(.8*.7), .9*sqrt(.7*.6); A to D over B .9*.9*.6*sqrt(.8*.6)=.336711 shows nothing new", checkChain)
	t.Run("W31 time contradicts: .55*sqrt(.8*.7)=.411582", checkStaleTime)
}

func checkPaths(t *testing.T) {
	const edges = "B>A temporal_next 1; A>M causes 1; M-D co_occurs 1; A-E semantic_neighbor .9"
	const first, second = "B -temporal_next-> A | .700000 .504000", "A -causes-> M -co_occurs- D | .297000 .213840"
	r := newRanker(t, plain)
	pool := at(at(poolOf(t, "A:.81 E:.70 B:.64 D:.64 F:.55"), "A", 10), "B", 3)
	res := pathsOf(t, r, requestOf(t, pool, graphOf(t, edges)), 10, nil)
	wantPaths(t, res, first, second)
	if diff := cmp.Diff([]string{"M"}, res.Unconfirmed); diff != "" {
		t.Errorf("unconfirmed (-want +got):\n%s", diff)
	}
	if h := res.Paths[0].Hops[0]; h.Earlier != "B" || h.Later != "A" || h.Direction != rerank.Forward || res.Paths[0].Newest != day(10) {
		t.Errorf("temporal hop %+v, newest %s", h, res.Paths[0].Newest)
	}

	pool[3].Cosine = .49 // D is no longer an end
	wantPaths(t, pathsOf(t, r, requestOf(t, pool, graphOf(t, edges)), 10, nil), first)
}

func checkChain(t *testing.T) {
	pool, g := poolOf(t, "A:.8 B:.7 D:.6"), graphOf(t, "A>B elaborates 1; B>D elaborates 1")
	res := pathsOf(t, newRanker(t, plain), requestOf(t, pool, g), 10, nil)
	wantPaths(t, res, "A -elaborates-> B | .900000 .673498", "B -elaborates-> D | .900000 .583267")
	alone := pathsOf(t, newRanker(t, plain), requestOf(t, pool[:1:1], g), 10, nil)
	if len(alone.Paths) != 0 {
		t.Errorf("one result has paths: %v", alone.Paths)
	}
	long := pathsOf(t, newRanker(t, plain), requestOf(t, append(pool[:1:1], pool[2]), g), 10, nil)
	wantPaths(t, long, "A -elaborates-> B -elaborates-> D | .486000 .336711")
}

func checkStaleTime(t *testing.T) {
	pool := at(at(poolOf(t, "A:.8 B:.7"), "A", 9), "B", 2)
	g := graphOf(t, "A>B temporal_next 1; A-B co_occurs 1")
	wantPaths(t, pathsOf(t, newRanker(t, plain), requestOf(t, pool, g), 10, nil), "A -co_occurs- B | .550000 .411582")
}

func TestPathReadingOrder(t *testing.T) {
	cases := []struct{ name, edges, want string }{
		{"better-ranked first", "B-A co_occurs 1", "A -co_occurs- B"},
		{"along time", "B>A temporal_next 1", "B -temporal_next-> A"},
		{"along causes", "B>A causes 1", "B -causes-> A"},
		{"along elaboration over a middle", "B>M elaborates 1; M-A co_occurs 1", "B -elaborates-> M -co_occurs- A"},
		{"time before causes", "A>M causes 1; B>M temporal_next 1", "B -temporal_next-> M <-causes- A"},
		{"both ways: better-ranked first", "A>M causes 1; B>M causes 1", "A -causes-> M <-causes- B"},
		{"asserted both ways", "A>B causes 1; B>A causes 1", "A -causes- B"},
		{"asserted both ways, one stronger", "A>B causes .5; B>A causes 1", "B -causes-> A"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res := pathsOf(t, newRanker(t, plain), requestOf(t, poolOf(t, "A:.8 B:.7"), graphOf(t, c.edges)), 10, nil)
			if len(res.Paths) != 1 || res.Paths[0].String() != c.want {
				t.Errorf("paths %v, want %s", res.Paths, c.want)
			}
		})
	}
}

func TestPathLimits(t *testing.T) {
	star := "H-A co_occurs 1; H-B co_occurs 1; H-C co_occurs 1; H-D co_occurs 1"
	pool := poolOf(t, "H:.9 A:.8 B:.7 C:.6 D:.55")
	direct := []string{"H -co_occurs- A", "H -co_occurs- B", "H -co_occurs- C", "H -co_occurs- D"}
	cases := []struct {
		name   string
		change func(*rerank.Settings)
		k      int
		want   []string
	}{
		// Three paths may end at H. D is then shown by the next best that has a hop to it: A over H.
		{"per node", func(*rerank.Settings) {}, 10, append(direct[:3:3], "A -co_occurs- H -co_occurs- D")},
		{"in total", func(s *rerank.Settings) { s.Paths.Max = 2 }, 10, direct[:2]},
		{"no bound met", func(s *rerank.Settings) { s.Paths.PerNode = 4 }, 10, direct},
		{"first k", func(*rerank.Settings) {}, 3, direct[:2]},
		{"floor", func(s *rerank.Settings) { s.Paths.HighFloor = .7 }, 10, direct[:2]},
		{"off", func(s *rerank.Settings) { s.Paths.Enabled = false }, 10, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRanker(t, func(s *rerank.Settings) { plain(s); c.change(s) })
			res := pathsOf(t, r, requestOf(t, pool, graphOf(t, star)), c.k, nil)
			var got []string
			for i := range res.Paths {
				got = append(got, res.Paths[i].String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPathMiddles: a fact in the middle must be eligible by whoever speaks for it.
func TestPathMiddles(t *testing.T) {
	candidate := func(state string) rerank.Candidate {
		return rerank.Candidate{Space: spaceOf(t, "u"), ID: "M", State: state}
	}
	const overM = "A -causes-> M -causes-> B"
	cases := []struct {
		name   string
		state  graphstore.State
		change func(*rerank.PathQuery)
		want   []string
	}{
		{"the graph says active", graphstore.StateActive, nil, []string{overM}},
		{"the graph says superseded", graphstore.StateSuperseded, nil, nil},
		{"the graph only heard of it", graphstore.StateUnseen, nil, []string{overM}},
		{"nobody confirmed it", graphstore.StateActive, func(q *rerank.PathQuery) { q.OnlyKnown = true }, nil},
		{"the store confirmed it", graphstore.StateActive, func(q *rerank.PathQuery) {
			q.OnlyKnown, q.Known = true, []rerank.Candidate{candidate("active")}
		}, []string{overM}},
		{"the store says superseded", graphstore.StateActive, func(q *rerank.PathQuery) {
			q.Known = []rerank.Candidate{candidate("superseded")}
		}, nil},
		{"the store did not return it as a nominee", graphstore.StateActive, func(q *rerank.PathQuery) {
			q.Nominated = rerank.Nominations{Nominees: []rerank.Nominee{{ID: "M", Seed: "A"}}}
		}, nil},
		{"the store returned it as a nominee", graphstore.StateActive, func(q *rerank.PathQuery) {
			q.Nominated = rerank.Nominations{Nominees: []rerank.Nominee{{ID: "M", Seed: "A"}}}
			q.Scored = []rerank.Candidate{candidate("")}
		}, []string{overM}},
		{"it was removed from the pool", graphstore.StateActive, func(q *rerank.PathQuery) {
			q.Request.Pool = append(slices.Clone(q.Request.Pool), candidate("deleted"))
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := graphOf(t, "A>M causes 1; M>B causes 1", graphstore.Fact{ID: "M", State: c.state})
			res := pathsOf(t, newRanker(t, plain), requestOf(t, poolOf(t, "A:.8 B:.7"), g), 10, c.change)
			var got []string
			for i := range res.Paths {
				got = append(got, res.Paths[i].String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPathsEndAtAttachedFacts: the attached fact follows its seed in the list of results.
func TestPathsEndAtAttachedFacts(t *testing.T) {
	r := newRanker(t, nil)
	q := requestOf(t, poolOf(t, "A:.80 B:.70"), graphOf(t, "A>X causes 1; X-B same_series 1"))
	ranked := mustRank(t, r, q)
	nominated, err := r.Nominate(q, ranked)
	if err != nil {
		t.Fatal(err)
	}
	scored := poolOf(t, "X:.75")
	x, err := r.Admit(q, ranked, nominated, scored, 2)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int][]string{
		2: {"A -causes-> X"}, // the first two results are A and what is attached to it
		3: {"A -causes-> X", "X -same_series- B"},
	} {
		res, err := r.Paths(rerank.PathQuery{Request: q, Expansion: x, Nominated: nominated, Scored: scored, K: k, OnlyKnown: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range res.Paths {
			got = append(got, res.Paths[i].String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("k %d: paths (-want +got):\n%s", k, diff)
		}
	}
}

func TestPathHopsNameTheirBridges(t *testing.T) {
	g := newGraph(t, spaceOf(t, "u"))
	g.mention("A", "acme")
	g.mention("B", "acme")
	g.mention("A", "user")
	g.mention("B", "user")
	g.link("A", "B", graphstore.Related, 1, graphstore.Asserter{Kind: graphstore.ByFact, ID: "A"})
	res := pathsOf(t, newRanker(t, plain), requestOf(t, poolOf(t, "A:.8 B:.7"), g.snapshot()), 10, nil)
	want := []rerank.Hop{{
		From: "A", To: "B", Type: graphstore.Related, Weight: .75, Direction: rerank.Undirected, // 1-.5*.5
		Relations: []rerank.Relation{
			{Type: graphstore.Related, Weight: 1, Strength: .5},
			{Type: graphstore.Mentions, Weight: 1, Strength: .5, Over: []string{"id-acme"}},
		},
	}}
	if diff := cmp.Diff(want, res.Paths[0].Hops, approx); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
}

func TestBadPathQueries(t *testing.T) {
	r := newRanker(t, nil)
	q := requestOf(t, poolOf(t, "A:.8"), graphOf(t, "A>B causes 1"))
	ranked := mustRank(t, r, q)
	x, err := r.Admit(q, ranked, rerank.Nominations{}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Paths(rerank.PathQuery{Request: q, Expansion: x}); err == nil || !strings.Contains(err.Error(), "k 0: want at least 1") {
		t.Errorf("k 0: %v", err)
	}
	other := requestOf(t, poolOf(t, "C:.8"), q.Graph)
	if _, err := r.Paths(rerank.PathQuery{Request: other, Expansion: x, K: 1}); err == nil {
		t.Error("took the expansion of another request")
	}
}

// TestPropertyPathsAgreeWithAllPaths compares the kept paths with an enumeration of all pairs and middles.
func TestPropertyPathsAgreeWithAllPaths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, false)
		distinctCosines(pool)
		s := drawExpandSettings(rt)
		plain(&s)
		s.Paths.HighFloor, s.Paths.Max, s.Paths.PerNode = .3, 100, 100
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		q := requestOf(t, pool, w.snapshot(t))
		res := pathsOf(t, r, q, 50, nil)
		want, direct := w.naivePaths(pool, s)
		seen := map[string]bool{}
		for i := range res.Paths {
			p := &res.Paths[i]
			ids := p.IDs()
			key := [2]string{min(ids[0], ids[len(ids)-1]), max(ids[0], ids[len(ids)-1])}
			if math.Abs(p.Score-want[key]) > 1e-12 {
				rt.Fatalf("%s has score %v, want %v", p, p.Score, want[key])
			}
			checkPath(rt, p, s)
			delete(want, key)
			news := false
			for j := range p.Hops {
				id := fmt.Sprint(min(p.Hops[j].From, p.Hops[j].To), max(p.Hops[j].From, p.Hops[j].To))
				news = news || !seen[id]
				seen[id] = true
			}
			if !news {
				rt.Fatalf("%s shows nothing new", p)
			}
		}
		for pair := range want { // a direct connection that is left out was shown as a hop of a better path
			if direct[pair] && !seen[fmt.Sprint(pair[0], pair[1])] {
				rt.Fatalf("%v is connected and not shown", pair)
			}
		}
	})
}

// checkPath recomputes the strength of a path from its own hops.
func checkPath(rt *rapid.T, p *rerank.Path, s rerank.Settings) {
	strength := 1.0
	for i := range p.Hops {
		h := &p.Hops[i]
		miss := 1.0
		for _, x := range h.Relations {
			miss *= 1 - x.Strength
			if x.Type == graphstore.SemanticNeighbor {
				rt.Fatalf("%s: %+v", p, h)
			}
		}
		if math.Abs(h.Weight-math.Min(1-miss, s.WeightMax)) > 1e-12 {
			rt.Fatalf("%s: weight %v of %+v", p, h.Weight, h.Relations)
		}
		if strength *= h.Weight; i > 0 {
			strength *= s.Expand.HopDecay
		}
	}
	if math.Abs(strength-p.Strength) > 1e-12 {
		rt.Fatalf("%s: strength %v, hops give %v", p, p.Strength, strength)
	}
}

// naivePaths returns the score of the strongest path of every pair of ends, and whether it is the direct one.
func (w world) naivePaths(pool []rerank.Candidate, s rerank.Settings) (scores map[[2]string]float64, direct map[[2]string]bool) {
	s.SupportExclude = []graphstore.RelationType{graphstore.SemanticNeighbor}
	base := map[string]float64{}
	all := map[string]rerank.Candidate{}
	for _, f := range w.facts {
		all[f] = rerank.Candidate{ID: f}
	}
	for _, c := range pool {
		base[c.ID] = c.Cosine
		all[c.ID] = c
	}
	tie := func(a, b string) float64 {
		if !slices.Contains(w.facts, a) || !slices.Contains(w.facts, b) || a == b {
			return 0
		}
		return math.Max(w.naiveWeight(all[a], all[b], pool, base, s, nil), w.naiveWeight(all[b], all[a], pool, base, s, nil))
	}
	var ends []string
	for i, c := range pool {
		if i < rerank.MaxPathEnds && base[c.ID] >= s.Paths.HighFloor-1e-9 {
			ends = append(ends, c.ID)
		}
	}
	scores, direct = map[[2]string]float64{}, map[[2]string]bool{}
	for i, a := range ends {
		for _, b := range ends[i+1:] {
			strength := tie(a, b)
			for _, m := range w.facts {
				strength = math.Max(strength, tie(a, m)*tie(m, b)*s.Expand.HopDecay)
			}
			direct[[2]string{min(a, b), max(a, b)}] = strength > 0 && strength == tie(a, b)
			if strength > 0 {
				scores[[2]string{min(a, b), max(a, b)}] = strength * math.Sqrt(base[a]*base[b])
			}
		}
	}
	return scores, direct
}

func TestPathTies(t *testing.T) {
	noDecay := func(s *rerank.Settings) { plain(s); s.Expand.HopDecay = 1 }
	cases := []struct {
		name, pool, edges string
		days              map[string]int
		want              []string
	}{
		{"middles: the smaller id", "A:.8 B:.8", "A-Q related 1; Q-B related 1; A-P related 1; P-B related 1", nil,
			[]string{"A -related- P -related- B"}},
		{"one hop of .25 before two of .5*.5", "A:.8 B:.8", "A-B related .5; A-P related 1; P-B related 1", nil,
			[]string{"A -related- B"}},
		{"the newer fact first", "A:.8 B:.8 C:.8 D:.8", "A-B related 1; C-D related 1", map[string]int{"A": 3, "D": 9},
			[]string{"C -related- D", "A -related- B"}},
		{"a known time before none", "A:.8 B:.8 C:.8 D:.8", "A-B related 1; C-D related 1", map[string]int{"D": 9},
			[]string{"C -related- D", "A -related- B"}},
		{"fewer hops before newer facts", "A:.8 B:.8 C:.8 D:.8", "C-M related 1; M-D related 1; A-B related .5", map[string]int{"D": 9},
			[]string{"A -related- B", "C -related- M -related- D"}},
		{"else the ids", "C:.8 D:.8 A:.8 B:.8", "A-B related 1; C-D related 1", nil,
			[]string{"A -related- B", "C -related- D"}},
		{"equal times do not contradict", "A:.8 B:.8", "B>A temporal_next 1", map[string]int{"A": 5, "B": 5},
			[]string{"B -temporal_next-> A"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pool := poolOf(t, c.pool)
			for id, d := range c.days {
				pool = at(pool, id, d)
			}
			res := pathsOf(t, newRanker(t, noDecay), requestOf(t, pool, graphOf(t, c.edges)), 10, nil)
			var got []string
			for i := range res.Paths {
				got = append(got, res.Paths[i].String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathSettingsNameEveryViolation(t *testing.T) {
	s := rerank.DefaultSettings()
	s.Paths = rerank.PathSettings{HighFloor: 1.5, Max: 0, PerNode: 101}
	_, err := rerank.New(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"MEMORY_GRAPH_PATH_HIGH_FLOOR 1.5: want 0 to 1", "MEMORY_GRAPH_PATH_MAX 0: want 1 to 100", "MEMORY_GRAPH_PATH_PER_NODE 101"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
}
