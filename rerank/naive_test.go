package rerank_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// world is a graph as plain lists: what the naive ranking reads and what snapshots are built from.
type world struct {
	facts   []string
	links   []worldLink
	bridges []worldBridge
}

type worldLink struct {
	from, to string
	kind     graphstore.RelationType
	weight   float64
	batch    string
}

type worldBridge struct {
	fact, far string
	kind      graphstore.RelationType
}

var linkKinds = []graphstore.RelationType{
	graphstore.Causes, graphstore.Elaborates, graphstore.SameSeries, graphstore.Contrasts, graphstore.TemporalNext,
	graphstore.CoOccurs, graphstore.Related, graphstore.SemanticNeighbor,
}

func drawWorld(t *rapid.T) world {
	var w world
	for i := range rapid.IntRange(2, 14).Draw(t, "facts") {
		w.facts = append(w.facts, fmt.Sprintf("f%02d", i))
	}
	for i := range rapid.IntRange(0, 40).Draw(t, "links") {
		l := worldLink{
			from: rapid.SampledFrom(w.facts).Draw(t, "from"), to: rapid.SampledFrom(w.facts).Draw(t, "to"),
			kind: rapid.SampledFrom(linkKinds).Draw(t, "kind"), weight: rapid.Float64Range(.01, 1).Draw(t, "weight"),
			batch: fmt.Sprint("b", i),
		}
		if l.from != l.to {
			w.links = append(w.links, l)
		}
	}
	far := []string{"acme", "tokyo", "user", "bob", "hub"}
	for range rapid.IntRange(0, 30).Draw(t, "bridges") {
		b := worldBridge{
			fact: rapid.SampledFrom(w.facts).Draw(t, "fact"), far: rapid.SampledFrom(far).Draw(t, "far"),
			kind: rapid.SampledFrom([]graphstore.RelationType{graphstore.Mentions, graphstore.TaggedWith}).Draw(t, "bridge kind"),
		}
		if !slices.Contains(w.bridges, b) {
			w.bridges = append(w.bridges, b)
		}
	}
	return w
}

func (w world) snapshot(t testing.TB) *graphstore.Snapshot { return w.snapshotOf(t, nil) }

// snapshotOf gives facts states, active where none is given.
func (w world) snapshotOf(t testing.TB, states map[string]graphstore.State) *graphstore.Snapshot {
	g := newGraph(t, spaceOf(t, "u"))
	for _, f := range w.facts {
		if state, given := states[f]; given {
			g.putFact(graphstore.Fact{ID: f, State: state})
		}
		g.fact(f)
	}
	for _, l := range w.links {
		g.link(l.from, l.to, l.kind, l.weight, graphstore.Asserter{Kind: graphstore.ByBatch, ID: l.batch})
	}
	for _, b := range w.bridges {
		if b.kind == graphstore.Mentions {
			g.mention(b.fact, b.far)
		} else {
			g.tag(b.fact, b.far)
		}
	}
	return g.snapshot()
}

// drawPool draws distinct candidates, some unknown to the graph, with cosines on a grid so that ties occur, or off it.
func drawPool(t *rapid.T, w world, grid bool) []rerank.Candidate {
	space := spaceOf(ignoreTB{}, "u")
	ids := append(slices.Clone(w.facts), "stranger1", "stranger2")
	ids = rapid.Permutation(ids).Draw(t, "pool")[:rapid.IntRange(0, len(ids)).Draw(t, "pool size")]
	var pool []rerank.Candidate
	for _, id := range ids {
		cos := rapid.Float64Range(-.2, 1).Draw(t, "cosine")
		if grid {
			cos = float64(rapid.IntRange(-2, 10).Draw(t, "cosine/10")) / 10
		}
		pool = append(pool, rerank.Candidate{
			Space: space, ID: id, Cosine: cos, EpisodeID: rapid.SampledFrom([]string{"", "e1", "e2"}).Draw(t, "episode"),
		})
	}
	return pool
}

// ignoreTB lets generators use test constructors whose failures cannot happen.
type ignoreTB struct{ testing.TB }

func (ignoreTB) Helper() {}

func drawSettings(t *rapid.T) rerank.Settings {
	s := rerank.DefaultSettings()
	s.Beta = rapid.Float64Range(0, 1).Draw(t, "beta")
	s.Iterations = rapid.IntRange(1, 5).Draw(t, "iterations")
	s.SupportCap = rapid.Float64Range(.05, 3).Draw(t, "cap")
	s.SenderFloor = rapid.SampledFrom([]float64{0, .3, .6}).Draw(t, "floor")
	s.WeightMax = rapid.SampledFrom([]float64{.3, .95, 1}).Draw(t, "wmax")
	s.HubCap = rapid.SampledFrom([]int{0, 3, 50}).Draw(t, "hub cap")
	s.EpisodeRecall = rapid.Bool().Draw(t, "episodes")
	if rapid.Bool().Draw(t, "exclude nothing") {
		s.SupportExclude = nil
	}
	s.Priors[graphstore.Causes] = rapid.SampledFrom([]float64{0, .9, 1}).Draw(t, "prior of causes")
	return s
}

// naive computes graph scores straight from the formulas, with maps and loops, without snapshots.
func naive(w world, pool []rerank.Candidate, s rerank.Settings, speakers []string) map[string]float64 {
	return naiveOver(pool, s, func(u, v rerank.Candidate, base map[string]float64) float64 {
		return w.naiveWeight(u, v, pool, base, s, speakers)
	})
}

// naiveOver is naive over given weights of the edges from u to v.
func naiveOver(pool []rerank.Candidate, s rerank.Settings, weightOf func(u, v rerank.Candidate, base map[string]float64) float64) map[string]float64 {
	base := map[string]float64{}
	for _, c := range pool {
		base[c.ID] = math.Max(0, math.Min(1, c.Cosine))
	}
	x := base
	for range s.Iterations {
		next := map[string]float64{}
		for _, v := range pool {
			sum, degree := 0.0, 0
			for _, u := range pool {
				weight := weightOf(u, v, base)
				if u.ID == v.ID || weight == 0 || base[u.ID] < s.SenderFloor-1e-9 {
					continue
				}
				degree++
				sum += weight * math.Min(x[u.ID], 1)
			}
			support := 0.0
			if degree > 0 {
				support = sum / math.Sqrt(float64(degree))
			}
			next[v.ID] = base[v.ID] + s.Beta*math.Min(support, s.SupportCap)
		}
		x = next
	}
	return x
}

// naiveWeight is W of the edge from u to v.
func (w world) naiveWeight(u, v rerank.Candidate, pool []rerank.Candidate, base map[string]float64, s rerank.Settings, speakers []string) float64 {
	best := w.naiveEdges(u, v, s, speakers)
	if s.EpisodeRecall && slices.Contains(naivePeers(v, pool, base), u.ID) {
		best[graphstore.Episode] = s.EpisodeWeight
	}
	return naiveFold(best, s)
}

func naiveFold(best map[graphstore.RelationType]float64, s rerank.Settings) float64 {
	miss := 1.0
	for kind, weight := range best {
		if !slices.Contains(s.SupportExclude, kind) {
			miss *= 1 - s.Priors[kind]*weight
		}
	}
	return math.Min(1-miss, s.WeightMax)
}

// naiveEdges returns the best weight of each type between two facts.
func (w world) naiveEdges(u, v rerank.Candidate, s rerank.Settings, speakers []string) map[graphstore.RelationType]float64 {
	best := map[graphstore.RelationType]float64{}
	for _, l := range w.links {
		if l.from == u.ID && l.to == v.ID || l.from == v.ID && l.to == u.ID {
			best[l.kind] = math.Max(best[l.kind], l.weight)
		}
	}
	for _, kind := range []graphstore.RelationType{graphstore.Mentions, graphstore.TaggedWith} {
		miss := 1.0
		for _, b := range w.bridges {
			never := kind == graphstore.Mentions && (slices.Contains(s.Owners, b.far) || slices.Contains(speakers, b.far))
			if b.kind == kind && b.fact == u.ID && slices.Contains(w.bridges, worldBridge{v.ID, b.far, kind}) && !never {
				miss *= 1 - naiveDamp(w.degree(b), s.HubCap)
			}
		}
		if miss < 1 {
			best[kind] = 1 - miss
		}
	}
	return best
}

func (w world) degree(b worldBridge) int {
	n := 0
	for _, o := range w.bridges {
		if o.far == b.far && o.kind == b.kind {
			n++
		}
	}
	return n
}

func naiveDamp(df, hubCap int) float64 {
	if df < 2 || df > hubCap {
		return 0
	}
	return 1 / (1 + math.Log2(float64(df-1)))
}

// naivePeers are the two best other members of v's episode.
func naivePeers(v rerank.Candidate, pool []rerank.Candidate, base map[string]float64) []string {
	var others []string
	for _, c := range pool {
		if c.ID != v.ID && c.EpisodeID != "" && c.EpisodeID == v.EpisodeID {
			others = append(others, c.ID)
		}
	}
	slices.Sort(others)
	slices.SortStableFunc(others, func(a, b string) int {
		switch {
		case base[a] > base[b]:
			return -1
		case base[a] < base[b]:
			return 1
		default:
			return 0
		}
	})
	return others[:min(2, len(others))]
}

func TestPropertyAgreesWithTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		pool := drawPool(rt, w, rapid.Bool().Draw(rt, "grid"))
		s := drawSettings(rt)
		q := rerank.Request{Space: spaceOf(t, "u"), Pool: pool, Graph: w.snapshot(t), Now: day(20), Speakers: []string{"bob"}}
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		res := mustRank(t, r, q)
		want := naive(w, pool, s, q.Speakers)
		if len(res.Items) != len(pool) {
			rt.Fatalf("%d items of %d candidates", len(res.Items), len(pool))
		}
		for _, item := range res.Items {
			if math.Abs(item.GraphScore-want[item.ID]) > 1e-12 {
				rt.Fatalf("%s: graph score %v, formulas say %v", item.ID, item.GraphScore, want[item.ID])
			}
		}
		checkOrder(rt, res, pool)
	})
}

// checkOrder asserts the rule of order on the scores of the result itself.
func checkOrder(rt *rapid.T, res rerank.Result, pool []rerank.Candidate) {
	boosted := slices.ContainsFunc(res.Items, func(i rerank.Ranked) bool { return i.GraphScore > i.Base })
	for i := 1; i < len(res.Items); i++ {
		a, b := res.Items[i-1], res.Items[i]
		var ok bool
		switch {
		case !boosted:
			ok = a.Index < b.Index
		case a.GraphScore != b.GraphScore:
			ok = a.GraphScore > b.GraphScore
		case pool[a.Index].Cosine != pool[b.Index].Cosine:
			ok = pool[a.Index].Cosine > pool[b.Index].Cosine
		default:
			ok = a.Index < b.Index
		}
		if !ok {
			rt.Fatalf("order: %+v before %+v", a, b)
		}
	}
}
