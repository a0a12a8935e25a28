package rerank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

func drawRanker(t testing.TB, rt *rapid.T, change func(*rerank.Settings)) *rerank.Ranker {
	s := drawSettings(rt)
	if change != nil {
		change(&s)
	}
	r, err := rerank.New(s)
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

func TestPropertyNoGraphIsIdentity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, false)
		r := drawRanker(t, rt, func(s *rerank.Settings) { s.EpisodeRecall = false })
		for _, g := range []*graphstore.Snapshot{nil, graphstore.NewSnapshot(spaceOf(t, "u")), (world{facts: w.facts}).snapshot(t)} {
			res := mustRank(t, r, requestOf(t, pool, g))
			for i, item := range res.Items {
				if item.ID != pool[i].ID || item.Score != pool[i].Cosine || item.GraphScore != item.Base || item.RankBefore != i+1 || item.RankAfter != i+1 {
					rt.Fatalf("place %d: %+v", i, item)
				}
			}
		}
	})
}

func TestPropertyBoostIsBoundedAndExplained(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		s := drawSettings(rt)
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		res := mustRank(t, r, requestOf(t, drawPool(rt, w, true), w.snapshot(t)))
		for _, item := range res.Items {
			if item.GraphScore < item.Base || item.GraphScore > item.Base+s.Beta*s.SupportCap {
				rt.Fatalf("boost out of bounds: %+v", item)
			}
			sum := 0.0
			for _, u := range item.Explanation.Supporters {
				sum += u.Share
				checkSupporter(rt, u, s)
			}
			if math.Abs(sum-item.Boost()) > 1e-9 {
				rt.Fatalf("%s: shares sum to %v, boost is %v", item.ID, sum, item.Boost())
			}
			if item.Explanation.CapBound != (item.Support > s.SupportCap) {
				rt.Fatalf("%s: cap bound %v at support %v of %v", item.ID, item.Explanation.CapBound, item.Support, s.SupportCap)
			}
		}
	})
}

// checkSupporter recomputes the folded weight from the relations that the explanation names.
func checkSupporter(rt *rapid.T, u rerank.Supporter, s rerank.Settings) {
	miss, best := 1.0, 0.0
	for _, x := range u.Relations {
		miss *= 1 - x.Strength
		best = math.Max(best, x.Strength)
		if bridge := x.Type == graphstore.Mentions || x.Type == graphstore.TaggedWith; bridge != (len(x.Over) > 0) {
			rt.Fatalf("relation %+v: bridges", x)
		}
		if x.Type == u.Top && x.Strength != best {
			rt.Fatalf("top %s is not the strongest: %+v", u.Top, u.Relations)
		}
	}
	if math.Abs(u.Weight-math.Min(1-miss, s.WeightMax)) > 1e-12 {
		rt.Fatalf("weight %v of %+v", u.Weight, u.Relations)
	}
}

// TestPropertyEdgeOrderAndRepeatsChangeNothing compares bit for bit: same bytes out, however the graph came about.
func TestPropertyEdgeOrderAndRepeatsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		r := drawRanker(t, rt, nil)
		q := requestOf(t, drawPool(rt, w, false), w.snapshot(t))
		want := mustRank(t, r, q)

		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		other := world{facts: slices.Clone(w.facts), links: slices.Clone(w.links), bridges: slices.Clone(w.bridges)}
		for i, l := range w.links {
			if i%2 == 0 { // the same statement by another asserter, the other way round, weaker
				other.links = append(other.links, worldLink{l.to, l.from, l.kind, l.weight * .9, fmt.Sprint("again", i)})
			}
		}
		rng.Shuffle(len(other.facts), func(i, j int) { other.facts[i], other.facts[j] = other.facts[j], other.facts[i] })
		rng.Shuffle(len(other.links), func(i, j int) { other.links[i], other.links[j] = other.links[j], other.links[i] })
		rng.Shuffle(len(other.bridges), func(i, j int) { other.bridges[i], other.bridges[j] = other.bridges[j], other.bridges[i] })
		q.Graph = other.snapshot(t)
		if diff := cmp.Diff(want, mustRank(t, r, q)); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestPropertyRelabellingPermutes renames all facts. Ids only order sums and equal scores, so scores stay within rounding and
// the order stays where scores differ by more than that.
func TestPropertyRelabellingPermutes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, false)
		distinctCosines(pool)
		r := drawRanker(t, rt, nil)
		want := mustRank(t, r, requestOf(t, pool, w.snapshot(t)))

		names := rapid.Permutation(w.facts).Draw(rt, "names")
		rename := func(id string) string {
			if i := slices.Index(w.facts, id); i >= 0 {
				return "new" + names[i]
			}
			return id
		}
		var other world
		for _, f := range w.facts {
			other.facts = append(other.facts, rename(f))
		}
		for _, l := range w.links {
			other.links = append(other.links, worldLink{rename(l.from), rename(l.to), l.kind, l.weight, l.batch})
		}
		for _, b := range w.bridges {
			other.bridges = append(other.bridges, worldBridge{rename(b.fact), b.far, b.kind})
		}
		renamed := slices.Clone(pool)
		for i := range renamed {
			renamed[i].ID = rename(renamed[i].ID)
		}
		got := mustRank(t, r, requestOf(t, renamed, other.snapshot(t)))
		for i, item := range want.Items {
			same := itemOf(t, got, rename(item.ID))
			if math.Abs(same.GraphScore-item.GraphScore) > 1e-12 {
				rt.Fatalf("%s: %v became %v", item.ID, item.GraphScore, same.GraphScore)
			}
			if math.Abs(got.Items[i].GraphScore-item.GraphScore) > 1e-12 {
				rt.Fatalf("place %d: %v became %v", i, item.GraphScore, got.Items[i].GraphScore)
			}
		}
	})
}

// distinctCosines moves the cosines apart, because ids decide who are the best two of an episode among equals.
func distinctCosines(pool []rerank.Candidate) {
	for i := range pool {
		pool[i].Cosine = math.Max(.01, math.Min(pool[i].Cosine, .9)) + float64(i)*1e-6
	}
}

func TestPropertyRemovedLeaveNoTrace(t *testing.T) {
	states := []string{"", "active", "superseded", "shadowed", "deleted", "no such state"}
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, true)
		for i := range pool {
			pool[i].State = rapid.SampledFrom(states).Draw(rt, "state")
			pool[i].AgentID = rapid.SampledFrom([]string{"", "a1", "a2"}).Draw(rt, "agent")
			pool[i].ValidTo = rapid.SampledFrom([]graphstore.Instant{0, day(10), day(25)}).Draw(rt, "valid to")
			if rapid.IntRange(0, 4).Draw(rt, "other space") == 0 {
				pool[i].Space = rapid.SampledFrom([]graphstore.Space{{}, spaceOf(t, "somebody else")}).Draw(rt, "space")
			}
		}
		q := requestOf(t, pool, w.snapshot(t))
		q.AgentID = rapid.SampledFrom([]string{"", "a1"}).Draw(rt, "asked agent")
		r := drawRanker(t, rt, nil)
		res := mustRank(t, r, q)

		var allowed []rerank.Candidate
		for _, c := range pool {
			active := c.State == "" || c.State == "active"
			valid := c.ValidTo == 0 || c.ValidTo == day(25)
			if c.Space == q.Space && active && valid && (q.AgentID == "" || c.AgentID == q.AgentID) {
				allowed = append(allowed, c)
			}
		}
		if len(res.Items) != len(allowed) || len(res.Items)+len(res.Removed) != len(pool) {
			rt.Fatalf("%d items, %d removed, want %d of %d", len(res.Items), len(res.Removed), len(allowed), len(pool))
		}
		// The removed leave no trace: the rest ranks as if they had never been recalled.
		q.Pool = allowed
		alone := mustRank(t, r, q)
		for i := range alone.Items {
			a, b := alone.Items[i], res.Items[i]
			if a.ID != b.ID || a.GraphScore != b.GraphScore || a.RankBefore != b.RankBefore {
				rt.Fatalf("place %d: %+v, without the removed %+v", i, b, a)
			}
		}
	})
}

func TestPropertyTinyBetaKeepsRanks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, false)
		distinctCosines(pool)
		slices.SortFunc(pool, func(a, b rerank.Candidate) int { return -compareFloat(a.Cosine, b.Cosine) })
		for i := 1; i < len(pool); i++ {
			if pool[i-1].Cosine-pool[i].Cosine < 1e-9 {
				rt.Skip("tie")
			}
		}
		r := drawRanker(t, rt, func(s *rerank.Settings) { s.Beta = 1e-12 })
		for i, item := range mustRank(t, r, requestOf(t, pool, w.snapshot(t))).Items {
			if item.ID != pool[i].ID {
				rt.Fatalf("place %d: %s, want %s", i, item.ID, pool[i].ID)
			}
		}
	})
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func TestPropertyAnyFloatIsSafe(t *testing.T) {
	weird := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1), 2, .5}
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, true)
		for i := range pool {
			pool[i].Cosine = rapid.SampledFrom(weird).Draw(rt, "cosine")
			if rapid.Bool().Draw(rt, "has relevance") {
				x := rapid.SampledFrom(weird).Draw(rt, "relevance")
				pool[i].Relevance = &x
			}
		}
		res := mustRank(t, drawRanker(t, rt, nil), requestOf(t, pool, w.snapshot(t)))
		for _, item := range res.Items {
			if !(item.Base >= 0 && item.Base <= 1 && item.GraphScore >= item.Base && item.GraphScore <= 4) {
				rt.Fatalf("%+v", item)
			}
		}
	})
}
