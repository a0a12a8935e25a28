package rerank_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

func drawExpandSettings(t *rapid.T) rerank.Settings {
	s := drawSettings(t)
	s.Expand.Gamma = rapid.Float64Range(.01, 1).Draw(t, "gamma")
	s.Expand.SeedFloor = rapid.SampledFrom([]float64{0, .5}).Draw(t, "seed floor")
	s.Expand.Hops = rapid.IntRange(1, 3).Draw(t, "hops")
	s.Expand.HopDecay = rapid.SampledFrom([]float64{.3, .6, 1}).Draw(t, "decay")
	s.Expand.MergeSeed = rapid.Bool().Draw(t, "merge")
	s.Expand.DeltaMerge = rapid.SampledFrom([]float64{.2, 1}).Draw(t, "delta merge")
	s.Expand.DeltaSeparate = rapid.SampledFrom([]float64{.2, 1}).Draw(t, "delta separate")
	s.Expand.ExtraShare = rapid.SampledFrom([]float64{0, .3, .7, 1}).Draw(t, "share")
	s.Expand.MaxPerSeed = rapid.IntRange(1, 5).Draw(t, "per seed")
	return s
}

// drawStore draws what the vector store says of the facts outside the pool; some are missing or not eligible.
func drawStore(t *rapid.T, w world, pool []rerank.Candidate) []rerank.Candidate {
	var store []rerank.Candidate
	for _, id := range w.facts {
		if slices.ContainsFunc(pool, func(c rerank.Candidate) bool { return c.ID == id }) {
			continue
		}
		c := rerank.Candidate{Space: spaceOf(ignoreTB{}, "u"), ID: id, Cosine: rapid.Float64Range(-.2, 1).Draw(t, "cosine outside")}
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0:
			continue
		case 1:
			c.State = "superseded"
		case 2:
			c.Space = spaceOf(ignoreTB{}, "eve")
		}
		store = append(store, c)
	}
	return store
}

func TestPropertyExpansionKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, rapid.Bool().Draw(rt, "grid"))
		pool = pool[:len(pool)/2]
		store := drawStore(rt, w, pool)
		s := drawExpandSettings(rt)
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		k := rapid.IntRange(1, 8).Draw(rt, "k")
		ranked, x := expand(t, r, requestOf(t, pool, w.snapshot(t)), store, k)

		score := map[string]float64{}
		var kept []string
		seen := map[string]bool{}
		added := 0
		for i, p := range x.Places {
			if seen[p.ID()] {
				rt.Fatalf("%s occurs twice: %s", p.ID(), layout(x))
			}
			seen[p.ID()] = true
			all := p.Attached
			if p.Item != nil {
				score[p.ID()] = p.Item.GraphScore
				kept = append(kept, p.ID())
			} else {
				all = []rerank.Admitted{*p.Added}
				if i < k {
					added++
				}
			}
			for _, n := range all {
				checkAdmitted(rt, n, score, store)
			}
		}
		var before []string
		for _, item := range ranked.Items {
			before = append(before, item.ID)
		}
		if diff := cmp.Diff(before, kept); diff != "" {
			rt.Fatalf("pool members moved (-before +after):\n%s", diff)
		}
		if float64(added) > math.Ceil(s.Expand.ExtraShare*float64(k)) || s.Expand.MergeSeed && added > 0 {
			rt.Fatalf("%d added facts among the first %d, share %v", added, k, s.Expand.ExtraShare)
		}
		d := x.Diagnostics
		if d.Nominated != d.Beyond+d.Unfit+d.GatedOut+d.QuotaDropped+d.Discarded+d.Admitted {
			rt.Fatalf("diagnostics do not add up: %+v", d)
		}
	})
}

// checkAdmitted asserts that a fact is eligible, comes after its seed, with a lower score, over eligible facts only.
// score holds the pool members placed so far.
func checkAdmitted(rt *rapid.T, n rerank.Admitted, score map[string]float64, store []rerank.Candidate) {
	seed, placed := score[n.Seed]
	if !placed || n.GraphScore >= seed {
		rt.Fatalf("%+v does not come below its seed, placed: %v", n, score)
	}
	if len(n.Path) != n.Hops+1 || n.Path[0] != n.Seed || n.Path[n.Hops] != n.ID {
		rt.Fatalf("path of %+v", n)
	}
	for _, id := range n.Path[1:] {
		if i := slices.IndexFunc(store, func(c rerank.Candidate) bool { return c.ID == id }); i >= 0 {
			if c := store[i]; c.State != "" || c.Space.UserID() != "u" {
				rt.Fatalf("%+v leads over %+v", n, c)
			}
		}
	}
}

// TestPropertyNominationsAgreeWithAllPaths enumerates every simple path and takes the strongest.
func TestPropertyNominationsAgreeWithAllPaths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, false)
		pool = pool[:len(pool)/2]
		distinctCosines(pool)
		s := drawExpandSettings(rt)
		s.Expand.Fanout, s.Expand.MaxSeeds, s.Expand.PrefilterTopN = 200, 50, 1000
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		q := requestOf(t, pool, w.snapshot(t))
		nominated, err := r.Nominate(q, mustRank(t, r, q))
		if err != nil {
			rt.Fatal(err)
		}
		want := w.naiveRelaxed(pool, s)
		if len(nominated.Nominees) != len(want) {
			rt.Fatalf("nominated %v, all paths reach %v", nominated.IDs(), want)
		}
		for _, n := range nominated.Nominees {
			if math.Abs(n.Relaxed-want[n.ID]) > 1e-12 {
				rt.Fatalf("%+v, strongest path gives %v", n, want[n.ID])
			}
		}
		if !slices.IsSortedFunc(nominated.Nominees, func(a, b rerank.Nominee) int { return -compareFloat(a.Relaxed, b.Relaxed) }) {
			rt.Fatalf("order: %+v", nominated.Nominees)
		}
	})
}

// TestPropertyLeavingOutChangesNothing: a request without explanations leaves out of the walk what cannot be among the
// strongest. The strongest must be the same, with their seeds and paths, as when all is walked.
func TestPropertyLeavingOutChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, rapid.IntRange(5, 60).Draw(rt, "facts"))
		pool := drawPool(rt, w, rapid.Bool().Draw(rt, "grid"))
		pool = pool[:len(pool)/4]
		s := drawExpandSettings(rt)
		s.Expand.Fanout = rapid.IntRange(1, 8).Draw(rt, "fanout")
		s.Expand.PrefilterTopN = rapid.IntRange(1, 40).Draw(rt, "prefilter")
		s.Expand.MaxSeeds = rapid.IntRange(1, 10).Draw(rt, "max seeds")
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		q := requestOf(t, pool, w.snapshot(t))
		all, err := r.Nominate(q, mustRank(t, r, q))
		if err != nil {
			rt.Fatal(err)
		}
		if all.Reached != len(all.Nominees)+len(all.Beyond) {
			rt.Fatalf("reached %d, listed %d and %d", all.Reached, len(all.Nominees), len(all.Beyond))
		}
		q.Explain = false
		some, err := r.Nominate(q, mustRank(t, r, q))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(all.Nominees, some.Nominees); diff != "" || some.Reached > all.Reached || some.Beyond != nil {
			rt.Fatalf("reached %d of %d (-all +some):\n%s", some.Reached, all.Reached, diff)
		}
	})
}

// naiveRelaxed returns, for facts outside the pool, the largest base score of a seed times the strength of a path.
func (w world) naiveRelaxed(pool []rerank.Candidate, s rerank.Settings) map[string]float64 {
	base := map[string]float64{}
	for _, c := range pool {
		base[c.ID] = math.Max(0, math.Min(1, c.Cosine))
	}
	s.SupportExclude = nil // walks follow every type
	tie := func(a, b string) float64 {
		u, v := rerank.Candidate{ID: a}, rerank.Candidate{ID: b}
		for _, c := range pool {
			if c.ID == a {
				u = c
			}
			if c.ID == b {
				v = c
			}
		}
		return math.Max(w.naiveWeight(u, v, pool, base, s, nil), w.naiveWeight(v, u, pool, base, s, nil))
	}
	relaxed := map[string]float64{}
	var follow func(path []string, strength float64)
	follow = func(path []string, strength float64) {
		end := path[len(path)-1]
		if _, member := base[end]; !member && strength > 0 {
			relaxed[end] = math.Max(relaxed[end], base[path[0]]*strength)
		}
		if len(path) > s.Expand.Hops {
			return
		}
		for _, next := range w.facts {
			if weight := tie(end, next); !slices.Contains(path, next) && weight > 0 {
				if len(path) > 1 {
					weight *= s.Expand.HopDecay
				}
				follow(append(slices.Clone(path), next), strength*weight)
			}
		}
	}
	for _, c := range pool {
		if base[c.ID] >= s.Expand.SeedFloor-1e-9 && slices.Contains(w.facts, c.ID) {
			follow([]string{c.ID}, 1)
		}
	}
	return relaxed
}

func TestPropertyExpansionDoesNotDependOnEdgeOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, true)
		pool = pool[:len(pool)/2]
		store := drawStore(rt, w, pool)
		s := drawExpandSettings(rt)
		s.Expand.Fanout = rapid.IntRange(1, 4).Draw(rt, "fanout")
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		q := requestOf(t, pool, w.snapshot(t))
		_, want := expand(t, r, q, store, 5)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for _, list := range []func(){
			func() { shuffle(rng, w.facts) }, func() { shuffle(rng, w.links) }, func() { shuffle(rng, w.bridges) },
		} {
			list()
		}
		q.Graph = w.snapshot(t)
		_, got := expand(t, r, q, store, 5)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func shuffle[T any](rng *rand.Rand, list []T) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// TestGraphOfAnotherSpaceIsRefused: the graph of another user is refused, and what a store returns of one is dropped;
// see also the stores drawn above.
func TestGraphOfAnotherSpaceIsRefused(t *testing.T) {
	r := newRanker(t, nil)
	q := requestOf(t, poolOf(t, "A:.8"), graphOf(t, "A>X causes 1"))
	ranked := mustRank(t, r, q)
	q.Graph = graphstore.NewSnapshot(spaceOf(t, "eve"))
	if _, err := r.Nominate(q, ranked); err == nil {
		t.Error("the graph of another user was walked")
	}
}

func TestResultsOfAnotherRequestAreRefused(t *testing.T) {
	r := newRanker(t, nil)
	g := graphOf(t, "A>X causes 1")
	q := requestOf(t, poolOf(t, "A:.8 B:.7"), g)
	ranked := mustRank(t, r, q)
	other := requestOf(t, poolOf(t, "C:.8 B:.7"), g)
	if _, err := r.Nominate(other, ranked); err == nil {
		t.Error("nominate took a foreign result")
	}
	if _, err := r.Admit(other, ranked, rerank.Nominations{}, nil, 10); err == nil {
		t.Error("admit took a foreign result")
	}
	if _, err := r.Admit(q, ranked, rerank.Nominations{}, nil, 0); err == nil {
		t.Error("admit took k 0")
	}
	foreign := rerank.Nominations{Nominees: []rerank.Nominee{{ID: "X", Seed: "nobody"}, {ID: "B", Seed: "A"}}}
	x, err := r.Admit(q, ranked, foreign, poolOf(t, "X:.8 B:.8"), 10)
	if err != nil || layout(x) != "A 0.800000 B 0.700000" || x.Diagnostics.Unfit != 2 {
		t.Errorf("foreign nominations: %s %+v %v", layout(x), x.Diagnostics, err)
	}
}
