package rerank_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// expand runs all steps; store is what the vector store knows of facts outside the pool.
func expand(t testing.TB, r *rerank.Ranker, q rerank.Request, store []rerank.Candidate, k int) (rerank.Result, rerank.Expansion) {
	t.Helper()
	ranked := mustRank(t, r, q)
	nominated, err := r.Nominate(q, ranked)
	if err != nil {
		t.Fatal(err)
	}
	var scored []rerank.Candidate
	for i := len(store) - 1; i >= 0; i-- { // the answer may come in any order
		for _, id := range nominated.IDs() {
			if store[i].ID == id {
				scored = append(scored, store[i])
			}
		}
	}
	x, err := r.Admit(q, ranked, nominated, scored, k)
	if err != nil {
		t.Fatal(err)
	}
	return ranked, x
}

// layout writes the order as "A .8 [X .799999] B .55": attachments in brackets, added facts that took a place with "+".
func layout(x rerank.Expansion) string {
	var b strings.Builder
	for _, p := range x.Places {
		if p.Added != nil {
			fmt.Fprintf(&b, " +%s %.6f", p.Added.ID, p.Added.GraphScore)
			continue
		}
		fmt.Fprintf(&b, " %s %.6f", p.Item.ID, p.Item.GraphScore)
		for _, a := range p.Attached {
			fmt.Fprintf(&b, " [%s %.6f]", a.ID, a.GraphScore)
		}
	}
	return strings.TrimSpace(b.String())
}

func wantLayout(t *testing.T, x rerank.Expansion, want string) {
	t.Helper()
	var w strings.Builder
	for i, f := range strings.Fields(want) {
		if number, err := strconv.ParseFloat(strings.TrimSuffix(f, "]"), 64); err == nil {
			f = fmt.Sprintf("%.6f", number) + map[bool]string{true: "]"}[strings.HasSuffix(f, "]")]
		}
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(f)
	}
	if diff := cmp.Diff(w.String(), layout(x)); diff != "" {
		t.Errorf("layout (-want +got):\n%s\nrefused: %+v", diff, x.Refused)
	}
}

func admittedOf(t *testing.T, x rerank.Expansion, id string) rerank.Admitted {
	t.Helper()
	for _, p := range x.Places {
		if p.Added != nil && p.Added.ID == id {
			return *p.Added
		}
		for _, a := range p.Attached {
			if a.ID == id {
				return a
			}
		}
	}
	t.Fatalf("%s was not admitted: %s, refused %+v", id, layout(x), x.Refused)
	return rerank.Admitted{}
}

func refusals(x rerank.Expansion) map[string]rerank.Reason {
	all := map[string]rerank.Reason{}
	for _, r := range x.Refused {
		all[r.ID] = r.Reason
	}
	return all
}

func separate(delta, share float64) func(*rerank.Settings) {
	return func(s *rerank.Settings) {
		s.Expand.MergeSeed, s.Expand.DeltaSeparate, s.Expand.ExtraShare = false, delta, share
	}
}

const (
	workedPool  = "A:.80 B:.55 D:.52"
	workedEdges = "A>X elaborates 1; X-Y co_occurs 1; B-Z co_occurs 1"
	workedStore = "X:.65 Y:.62 Z:.50"
)

// The worked examples of expansion, W14 and W24 to W28.

func TestWorkedMerge(t *testing.T) {
	t.Run("W24 X .65+.3*.8*.9 is held below A; Y .62+.3*.8*.9*.55*.6; Z .50+.3*.55*.55 is held below B", checkMerge)
}

func checkMerge(t *testing.T) {
	_, x := expand(t, newRanker(t, nil), requestOf(t, poolOf(t, workedPool), graphOf(t, workedEdges)), poolOf(t, workedStore), 10)
	wantLayout(t, x, "A .80 [X .799999] [Y .691280] B .55 [Z .549999] D .52")
	want := map[string]rerank.Nominee{
		"X": {ID: "X", Seed: "A", Relaxed: .72, Via: graphstore.Elaborates, Hops: 1, Path: []string{"A", "X"}},
		"Y": {ID: "Y", Seed: "A", Relaxed: .2376, Via: graphstore.Elaborates, Hops: 2, Path: []string{"A", "X", "Y"}}, // .8*.9*.55*.6
		"Z": {ID: "Z", Seed: "B", Relaxed: .3025, Via: graphstore.CoOccurs, Hops: 1, Path: []string{"B", "Z"}},
	}
	for id, n := range want {
		if diff := cmp.Diff(n, admittedOf(t, x, id).Nominee, approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if diff := cmp.Diff(rerank.ExpandDiagnostics{Seeds: 3, Nominated: 3, Asked: 3, Fetched: 3, Admitted: 3}, x.Diagnostics); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

func TestWorkedExpansion(t *testing.T) {
	cases := []struct {
		name, pool, edges, store string
		change                   func(*rerank.Settings)
		k                        int
		want                     string
		refused                  map[string]rerank.Reason
	}{
		{name: "W14 .61 is above .80-.20: .61+.3*.8*.55", pool: "A:.80", edges: "A-X co_occurs 1", store: "X:.61",
			k: 10, want: "A .80 [X .742]"},
		{name: "W14 .60 is at the gate, .6000000000000001 in binary: .60+.3*.8*.55", pool: "A:.80", edges: "A-X co_occurs 1", store: "X:.60",
			k: 10, want: "A .80 [X .732]"},
		{name: "W14 .59 is below", pool: "A:.80", edges: "A-X co_occurs 1", store: "X:.59",
			k: 10, want: "A .80", refused: map[string]rerank.Reason{"X": rerank.ReasonGate}},
		{name: "W25 as W24, each in a place of its own", pool: workedPool, edges: workedEdges, store: workedStore,
			change: separate(.2, .3), k: 10, want: "A .80 +X .799999 +Y .691280 B .55 +Z .549999 D .52"},
		{name: "W26 over B .78*.55=.429, over A .80*.55*.6=.264: .70+.3*.429 is held below B", pool: "A:.80 B:.78",
			edges: "A-X co_occurs .6; B-X co_occurs 1", store: "X:.70", k: 10, want: "A .80 B .78 [X .779999]"},
		{name: "W27 one over co_occurs: X .70+.3*.44 is held, Z .61+.3*.8*.5", pool: "A:.80",
			edges: "A-X co_occurs 1; A-Y co_occurs 1; A-Z related 1", store: "X:.70 Y:.69 Z:.61",
			change: func(s *rerank.Settings) {
				separate(.4, 1)(s)
				s.Expand.Quotas[graphstore.CoOccurs] = 1
			},
			k: 10, want: "A .80 +X .799999 +Z .730000", refused: map[string]rerank.Reason{"Y": rerank.ReasonQuota}},
		{name: "W28 ceil(.3*3)=1 among the first 3", pool: "A:.80 B:.78 D:.50 E:.45", edges: "A>X causes 1; B>Y causes 1",
			store: "X:.70 Y:.69", change: separate(.4, .3), k: 3, want: "A .80 +X .799999 B .78 +Y .779999 D .50 E .45"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, x := expand(t, newRanker(t, c.change), requestOf(t, poolOf(t, c.pool), graphOf(t, c.edges)), poolOf(t, c.store), c.k)
			wantLayout(t, x, c.want)
			if diff := cmp.Diff(c.refused, refusals(x), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkedSeed(t *testing.T) {
	t.Run("W26 the seed is B, .78*.55", func(t *testing.T) {
		g := graphOf(t, "A-X co_occurs .6; B-X co_occurs 1")
		_, x := expand(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.80 B:.78"), g), poolOf(t, "X:.70"), 10)
		if n := admittedOf(t, x, "X"); n.Seed != "B" || math.Abs(n.Relaxed-.429) > 1e-6 {
			t.Errorf("%+v", n)
		}
	})
	t.Run("W14 the refused one misses the gate by .59-.60", func(t *testing.T) {
		_, x := expand(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.80"), graphOf(t, "A-X co_occurs 1")), poolOf(t, "X:.59"), 10)
		want := []rerank.Refusal{{
			ID: "X", Seed: "A", Via: graphstore.CoOccurs, Hops: 1, Relaxed: .44, Reason: rerank.ReasonGate, Base: .59, Margin: -.01,
		}}
		if diff := cmp.Diff(want, x.Refused, approx); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
	})
}

// TestBreakdownOfAnAddedFact: two facts over co_occurs, of a quota of 6; both channels are on.
func TestBreakdownOfAnAddedFact(t *testing.T) {
	r := newRanker(t, func(s *rerank.Settings) { s.Expand.KeywordBonus, s.Expand.EpisodeBonus = .1, .02 })
	pool := poolOf(t, "A:.80")
	pool[0].EpisodeID = "e1"
	store := poolOf(t, "X:.62 Y:.61 Z:.7")
	store[0].EpisodeID, store[0].Keyword = "e1", .05
	store[1].EpisodeID, store[1].Keyword = "e2", math.NaN()
	store[2].Keyword = 7
	_, x := expand(t, r, requestOf(t, pool, graphOf(t, "A-X co_occurs 1; A-Y co_occurs .5; A-Z related 1")), store, 10)
	want := map[string]rerank.Admitted{
		"X": { // .62+.3*.44+.1*.05+.02 = .777
			Nominee: rerank.Nominee{ID: "X", Seed: "A", Relaxed: .44, Via: graphstore.CoOccurs, Hops: 1, Path: []string{"A", "X"}},
			Index:   2, Score: .62, Base: .62, GraphScore: .777, Margin: .02, Quota: 6, QuotaPlace: 1,
			Parts: rerank.Parts{Base: .62, Tie: .132, Keyword: .005, Episode: .02},
		},
		"Y": { // .61+.3*.22 = .676
			Nominee: rerank.Nominee{ID: "Y", Seed: "A", Relaxed: .22, Via: graphstore.CoOccurs, Hops: 1, Path: []string{"A", "Y"}},
			Index:   1, Score: .61, Base: .61, GraphScore: .676, Margin: .01, Quota: 6, QuotaPlace: 2,
			Parts: rerank.Parts{Base: .61, Tie: .066},
		},
		"Z": { // .7+.3*.4+.1*1 = .92 is held below .80
			Nominee: rerank.Nominee{ID: "Z", Seed: "A", Relaxed: .4, Via: graphstore.Related, Hops: 1, Path: []string{"A", "Z"}},
			Index:   0, Score: .7, Base: .7, GraphScore: .799999, Margin: .1, Quota: 4, QuotaPlace: 1,
			Parts: rerank.Parts{Base: .7, Tie: .12, Keyword: .1, Held: -.120001},
		},
	}
	for id, n := range want {
		if diff := cmp.Diff(n, admittedOf(t, x, id), approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func TestShareOfAShortPool(t *testing.T) {
	g := graphOf(t, "A>X causes 1; A>Y causes 1")
	_, x := expand(t, newRanker(t, separate(.4, .3)), requestOf(t, poolOf(t, "A:.80"), g), poolOf(t, "X:.70 Y:.69"), 3)
	wantLayout(t, x, "A .80 +X .799999")
	if diff := cmp.Diff(map[string]rerank.Reason{"Y": rerank.ReasonShare}, refusals(x)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// TestShareInBinary: .28*25 is 7.000000000000001, and must not allow eight.
func TestShareInBinary(t *testing.T) {
	var pool, edges, store []string
	for i := range 25 {
		pool = append(pool, fmt.Sprintf("p%02d:.%d", i, 80-i))
		edges = append(edges, fmt.Sprintf("p%02d>x%02d causes 1", i, i))
		store = append(store, fmt.Sprintf("x%02d:.8", i))
	}
	r := newRanker(t, func(s *rerank.Settings) {
		separate(.4, .28)(s)
		s.Beta, s.Expand.MaxSeeds, s.Expand.Quotas = 0, 50, nil
	})
	_, x := expand(t, r, requestOf(t, poolOf(t, strings.Join(pool, " ")), graphOf(t, strings.Join(edges, ";"))), poolOf(t, strings.Join(store, " ")), 25)
	added := 0
	for _, p := range x.Places[:25] {
		if p.Added != nil {
			added++
		}
	}
	if added != 7 {
		t.Errorf("%d added facts among the first 25, want 7", added)
	}
}

func TestEqualPaths(t *testing.T) {
	cases := []struct {
		name, pool, edges string
		want              []string
	}{
		{"the smaller id on the way", "A:.8", "A-Q related 1; A-P related 1; Q-X related 1; P-X related 1", []string{"A", "P", "X"}},
		{"the stronger first hop, .5*.25 against .25*.5", "A:.8", "A-B related .5; B-X related 1; A-Z related 1; Z-X related .5", []string{"A", "Z", "X"}},
		{"the better seed, .75*.25 against .5*.375", "B:.75 A:.5", "A-X related .75; B-X related .5", []string{"B", "X"}},
		{"the seed of the smaller id", "B:.75 A:.75", "A-X related .5; B-X related .5", []string{"A", "X"}},
		{"the shorter: 1*.5 against 1*1*.5 without decay", "A:.8", "A-P causes 1; P-X related 1; A-X related 1", []string{"A", "X"}},
		{"the longer if it is stronger: .35 against .9*.9*.6", "A:.8", "A-P causes 1; P-X causes 1; A-X semantic_neighbor 1", []string{"A", "P", "X"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRanker(t, func(s *rerank.Settings) {
				s.Beta = 0
				if c.name[:11] == "the shorter" {
					s.Expand.HopDecay, s.WeightMax, s.Priors[graphstore.Causes] = 1, 1, 1
				}
			})
			q := requestOf(t, poolOf(t, c.pool), graphOf(t, c.edges))
			nominated, err := r.Nominate(q, mustRank(t, r, q))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range nominated.Nominees {
				if n.ID == "X" {
					if diff := cmp.Diff(c.want, n.Path); diff != "" {
						t.Errorf("path (-want +got):\n%s", diff)
					}
				}
			}
			if len(nominated.Nominees) == 0 || !slices.Contains(nominated.IDs(), "X") {
				t.Errorf("X was not nominated: %v", nominated.IDs())
			}
		})
	}
}

// TestWalkStopsAtItsBound: facts whose links exceed what a walk may read are reached but not passed.
func TestWalkStopsAtItsBound(t *testing.T) {
	r := newRanker(t, nil)
	rerank.SetWalkReads(r, 6)
	g := graphOf(t, "A-H related 1; A-L related .9; H-h1 related 1; H-h2 related 1; H-h3 related 1; H-h4 related 1; L-X related 1")
	q := requestOf(t, poolOf(t, "A:.8"), g)
	nominated, err := r.Nominate(q, mustRank(t, r, q))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"H", "L", "X"}, nominated.IDs()); diff != "" || !nominated.Truncated {
		t.Errorf("truncated %v, nominated (-want +got):\n%s", nominated.Truncated, diff)
	}
}

func TestRefusals(t *testing.T) {
	pool := "A:.80 B:.70 C:.60 E:.40"
	cases := []struct {
		name, edges, store string
		change             func(*rerank.Settings)
		edit               func(store []rerank.Candidate)
		k                  int
		want               map[string]rerank.Reason
	}{
		{name: "E is below the seed floor and takes nobody along", edges: "E-X causes 1", store: "", want: map[string]rerank.Reason{}},
		{name: "a boost makes no seed: E .40+.15*.9*.8 is above the floor, its base score is not", edges: "A>E causes 1; E-X causes 1", store: "",
			change: func(s *rerank.Settings) { s.Expand.Hops = 1 }, want: map[string]rerank.Reason{}},
		{name: "not returned by the store", edges: "A-X causes 1", store: "", want: map[string]rerank.Reason{"X": rerank.ReasonNotReturned}},
		{name: "returned as superseded", edges: "A-X causes 1", store: "X:.8",
			edit: func(s []rerank.Candidate) { s[0].State = "superseded" }, want: map[string]rerank.Reason{"X": rerank.ReasonState}},
		{name: "returned of another user", edges: "A-X causes 1", store: "X:.8",
			edit: func(s []rerank.Candidate) { s[0].Space = spaceOf(t, "eve") }, want: map[string]rerank.Reason{"X": rerank.ReasonOtherSpace}},
		{name: "absolute floor", edges: "A-X causes 1", store: "X:.05",
			change: func(s *rerank.Settings) { s.Expand.DeltaMerge = 1 }, want: map[string]rerank.Reason{"X": rerank.ReasonFloor}},
		{name: "gate by type", edges: "A>X causes 1; A>Y elaborates 1", store: "X:.5 Y:.5",
			change: func(s *rerank.Settings) {
				s.Expand.DeltaByType = map[graphstore.RelationType]float64{graphstore.Causes: .35}
			},
			want: map[string]rerank.Reason{"Y": rerank.ReasonGate}},
		{name: "per seed", edges: "A>V causes 1; A>W causes 1; A>X causes 1; A>Y causes 1", store: "V:.69 W:.7 X:.7 Y:.7", // all just below A: cosines decide
			want: map[string]rerank.Reason{"V": rerank.ReasonPerSeed}},
		{name: "in total", edges: "A>X causes 1; B>Y causes 1; C>Z causes 1", store: "X:.7 Y:.65 Z:.6",
			change: func(s *rerank.Settings) { s.Expand.MaxExpand = 2 }, want: map[string]rerank.Reason{"Z": rerank.ReasonMaxExpand}},
		{name: "prefilter keeps the strongest ties", edges: "A>X causes 1; A-Y related 1", store: "X:.7 Y:.79",
			change: func(s *rerank.Settings) { s.Expand.PrefilterTopN = 1 }, want: map[string]rerank.Reason{"Y": rerank.ReasonBeyond}},
		{name: "seed outside the first k", edges: "A>X causes 1; C>Z causes 1", store: "X:.7 Z:.6", k: 2,
			want: map[string]rerank.Reason{"Z": rerank.ReasonSeedOutside}},
		{name: "the path leads over a fact the store hides", edges: "A>X causes 1; X-Y co_occurs 1", store: "Y:.79",
			want: map[string]rerank.Reason{"X": rerank.ReasonNotReturned, "Y": rerank.ReasonUnreached}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			store := poolOf(t, c.store)
			if c.edit != nil {
				c.edit(store)
			}
			_, x := expand(t, newRanker(t, c.change), requestOf(t, poolOf(t, pool), graphOf(t, c.edges)), store, orTen(c.k))
			if diff := cmp.Diff(c.want, refusals(x)); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			d := x.Diagnostics
			if d.Nominated != d.Beyond+d.Unfit+d.GatedOut+d.QuotaDropped+d.Discarded+d.Admitted {
				t.Errorf("diagnostics do not add up: %+v", d)
			}
		})
	}
}

func orTen(k int) int {
	if k == 0 {
		return 10
	}
	return k
}

// TestHiddenFactIsWalkedAround: the strongest path leads over a fact the store hides; a weaker path over facts that it
// shows counts instead, with its own strength.
func TestHiddenFactIsWalkedAround(t *testing.T) {
	g := graphOf(t, "A>H causes 1; H>Y causes 1; A-V related 1; V-Y related 1")
	_, x := expand(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.80"), g), poolOf(t, "V:.70 Y:.70"), 10)
	y := admittedOf(t, x, "Y")
	// .8*.5*.5*.6 = .12 instead of .8*.9*.9*.6
	if diff := cmp.Diff([]string{"A", "V", "Y"}, y.Path); diff != "" || math.Abs(y.Relaxed-.12) > 1e-9 || y.Via != graphstore.Related {
		t.Errorf("%+v", y)
	}
}

// TestRetiredFactsAreNotWalked: what the graph knows to be retired is not even asked about, unless history is.
func TestRetiredFactsAreNotWalked(t *testing.T) {
	fact := func(id string, s graphstore.State, change func(*graphstore.Fact)) graphstore.Fact {
		f := graphstore.Fact{ID: id, State: s}
		if change != nil {
			change(&f)
		}
		return f
	}
	facts := []graphstore.Fact{
		fact("active", graphstore.StateActive, nil),
		fact("unseen", graphstore.StateUnseen, nil),
		fact("shadowed", graphstore.StateShadowed, nil),
		fact("deleted", graphstore.StateDeleted, nil),
		fact("ended", graphstore.StateActive, func(f *graphstore.Fact) { f.ValidTo = day(20) }),
		fact("future", graphstore.StateActive, func(f *graphstore.Fact) { f.ValidFrom = day(21) }),
		fact("superseded", graphstore.StateSuperseded, func(f *graphstore.Fact) { f.SupersededBy = "successor" }),
		fact("successor", graphstore.StateActive, func(f *graphstore.Fact) { f.ValidFrom = day(10) }),
		fact("agent2", graphstore.StateActive, func(f *graphstore.Fact) { f.AgentID = "a2" }),
	}
	var edges []string
	for _, f := range facts {
		edges = append(edges, "A-"+f.ID+" related 1")
	}
	g := graphOf(t, strings.Join(edges, ";"), facts...)
	cases := []struct {
		name  string
		at    graphstore.Instant
		agent string
		want  []string
	}{
		{"now", 0, "", []string{"active", "agent2", "successor", "unseen"}},
		{"before the successor", day(9), "", []string{"active", "agent2", "ended", "superseded", "unseen"}},
		{"at the successor's start", day(10), "", []string{"active", "agent2", "ended", "successor", "unseen"}},
		{"one agent", 0, "a2", []string{"agent2", "unseen"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pool := poolOf(t, "A:.80")
			pool[0].AgentID = c.agent
			q := requestOf(t, pool, g)
			q.ValidAt, q.AgentID = c.at, c.agent
			r := newRanker(t, nil)
			nominated, err := r.Nominate(q, mustRank(t, r, q))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, nominated.IDs()); diff != "" { // equal ties come in the order of ids
				t.Errorf("nominated (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemovedMembersAreNotWalked: a pool member that the vector store calls retired is no way to others, whatever the
// graph says of it.
func TestRemovedMembersAreNotWalked(t *testing.T) {
	pool := poolOf(t, "A:.80 B:.75")
	pool[1].State = "superseded"
	r := newRanker(t, nil)
	q := requestOf(t, pool, graphOf(t, "A>B causes 1; B>X causes 1"))
	nominated, err := r.Nominate(q, mustRank(t, r, q))
	if err != nil || len(nominated.Nominees) != 0 {
		t.Errorf("nominated %+v, %v", nominated.Nominees, err)
	}
}

func TestExpansionOff(t *testing.T) {
	for name, change := range map[string]func(*rerank.Settings){
		"gamma 0": func(s *rerank.Settings) { s.Expand.Gamma = 0 }, "max expand 0": func(s *rerank.Settings) { s.Expand.MaxExpand = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			_, x := expand(t, newRanker(t, change), requestOf(t, poolOf(t, workedPool), graphOf(t, workedEdges)), poolOf(t, workedStore), 10)
			wantLayout(t, x, "A .80 B .55 D .52")
		})
	}
}

// TestStrongestNominees: what is left out of a walk must not be among the strongest.
func TestStrongestNominees(t *testing.T) {
	cases := []struct {
		name, edges string
		want        []string
	}{
		{"one hop of .5 before two of .9*.9*.6=.486", "A>P causes 1; P>X causes 1; A-Y related 1", []string{"P", "Y"}},
		{"two hops of .486 before one of .35", "A>P causes 1; P>X causes 1; A-Z semantic_neighbor 1", []string{"P", "X"}},
		{"two hops over a member of the pool", "A>B causes 1; B>X causes 1; B>Y causes .9; A-Z semantic_neighbor 1", []string{"X", "Y"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRanker(t, func(s *rerank.Settings) { s.Expand.PrefilterTopN = 2 })
			q := requestOf(t, poolOf(t, "A:.80 B:.40"), graphOf(t, c.edges))
			q.Explain = false
			nominated, err := r.Nominate(q, mustRank(t, r, q))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, nominated.IDs()); diff != "" {
				t.Errorf("nominated (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFanoutFollowsTheStrongest(t *testing.T) {
	r := newRanker(t, func(s *rerank.Settings) { s.Expand.Fanout = 2 })
	q := requestOf(t, poolOf(t, "A:.80"), graphOf(t, "A-P related .6; A-Q related .9; A-R related .9; A-S related .9"))
	nominated, err := r.Nominate(q, mustRank(t, r, q))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Q", "R"}, nominated.IDs()); diff != "" {
		t.Errorf("nominated (-want +got):\n%s", diff)
	}
}

func TestWalkOverBridges(t *testing.T) {
	g := newGraph(t, spaceOf(t, "u"))
	for _, f := range []string{"A", "X", "Y"} {
		g.mention(f, "acme") // three facts: damp .5, W .25
		g.mention(f, "user") // the owner ties nothing
	}
	for i := range 51 {
		g.mention([]string{"A", fmt.Sprint("far", i)}[min(i, 1)], "hub") // beyond the hub cap
	}
	r := newRanker(t, nil)
	q := requestOf(t, poolOf(t, "A:.80"), g.snapshot())
	nominated, err := r.Nominate(q, mustRank(t, r, q))
	if err != nil {
		t.Fatal(err)
	}
	want := []rerank.Nominee{
		{ID: "X", Seed: "A", Relaxed: .2, Via: graphstore.Mentions, Hops: 1, Path: []string{"A", "X"}},
		{ID: "Y", Seed: "A", Relaxed: .2, Via: graphstore.Mentions, Hops: 1, Path: []string{"A", "Y"}},
	}
	if diff := cmp.Diff(want, nominated.Nominees, approx); diff != "" {
		t.Errorf("nominated (-want +got):\n%s", diff)
	}
}

func TestExpandSettingsNameEveryViolation(t *testing.T) {
	s := rerank.DefaultSettings()
	s.Expand = rerank.ExpandSettings{
		Gamma: 2, SeedFloor: -1, MaxSeeds: 0, Hops: 4, HopDecay: 1.5, Fanout: 0, PrefilterTopN: 0, DeltaMerge: 2, DeltaSeparate: math.NaN(),
		DeltaByType: map[graphstore.RelationType]float64{graphstore.Causes: 3}, AdmitFloor: 7, MaxExpand: -1, MaxPerSeed: 0,
		Quotas: map[graphstore.RelationType]int{graphstore.TaggedWith: -2}, ExtraShare: 1.01,
	}
	_, err := rerank.New(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"RELAX_GAMMA 2", "SEED_FLOOR -1", "MAX_SEEDS 0: want 1 to 50", "EXPAND_HOPS 4: want 1 to 3", "HOP_DECAY 1.5",
		"FANOUT 0: want 1 to 200", "EXPAND_PREFILTER_TOP_N 0", "SEED_SIM_DELTA 2: want 0 to 1", "SEED_SIM_DELTA NaN",
		"SEED_SIM_DELTAS causes 3", "ADMIT_FLOOR 7", "MAX_EXPAND -1", "MAX_PER_SEED 0", "QUOTAS tagged_with -2", "EXTRA_SHARE 1.01",
	} {
		if !strings.Contains(err.Error(), "MEMORY_GRAPH_"+want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
}
