package rerank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// pipeline is all that the four calls return for one request.
type pipeline struct {
	request   rerank.Request
	ranked    rerank.Result
	nominated rerank.Nominations
	scored    []rerank.Candidate
	expansion rerank.Expansion
	paths     rerank.PathResult
}

// runPipeline makes the four calls. vectors is what the vector store returns if it is asked for an id; change may alter the
// query for paths.
func runPipeline(t testing.TB, r *rerank.Ranker, q rerank.Request, vectors map[string]rerank.Candidate, k int, change func(*rerank.PathQuery)) pipeline {
	t.Helper()
	p := pipeline{request: q, ranked: mustRank(t, r, q)}
	var err error
	if p.nominated, err = r.Nominate(q, p.ranked); err != nil {
		t.Fatal(err)
	}
	for _, id := range p.nominated.IDs() {
		if c, returned := vectors[id]; returned {
			p.scored = append(p.scored, c)
		}
	}
	if p.expansion, err = r.Admit(q, p.ranked, p.nominated, p.scored, k); err != nil {
		t.Fatal(err)
	}
	pq := rerank.PathQuery{Request: q, Expansion: p.expansion, Nominated: p.nominated, Scored: p.scored, K: k}
	if change != nil {
		change(&pq)
	}
	if p.paths, err = r.Paths(pq); err != nil {
		t.Fatal(err)
	}
	return p
}

// added returns all facts that expansion added.
func (p *pipeline) added() []rerank.Admitted {
	var all []rerank.Admitted
	for _, place := range p.expansion.Places {
		if place.Added != nil {
			all = append(all, *place.Added)
		}
		all = append(all, place.Attached...)
	}
	return all
}

// shown returns every id that any result shows, with where it was seen.
func (p *pipeline) shown() map[string]string {
	seen := map[string]string{}
	for _, item := range p.ranked.Items {
		seen[item.ID] = "ranked"
		for _, s := range item.Explanation.Supporters {
			seen[s.ID] = "supporter of " + item.ID
		}
	}
	for _, place := range p.expansion.Places {
		seen[place.ID()] = "placed"
	}
	for _, n := range p.added() {
		for _, id := range n.Path {
			seen[id] = "on the way to " + n.ID
		}
	}
	for i := range p.paths.Paths {
		for _, id := range p.paths.Paths[i].IDs() {
			seen[id] = "on path " + p.paths.Paths[i].String()
		}
	}
	return seen
}

// drawLinkedWorld draws a world in which most facts are tied: from one number, so that it does not shrink to nothing.
func drawLinkedWorld(t *rapid.T, facts int) world {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "world"), 0))
	var w world
	for i := range facts {
		w.facts = append(w.facts, fmt.Sprintf("f%02d", i))
	}
	for i := range 2 * facts {
		from, to := rng.IntN(facts), rng.IntN(facts)
		if from != to {
			w.links = append(w.links, worldLink{
				w.facts[from], w.facts[to], linkKinds[rng.IntN(len(linkKinds))], math.Ceil(rng.Float64()*20) / 20, fmt.Sprint("b", i),
			})
		}
	}
	for i := range facts { // an entity of three facts
		w.bridges = append(w.bridges, worldBridge{w.facts[i], fmt.Sprint("entity", i/3), graphstore.Mentions})
	}
	return w
}

// drawnStatements are what the vector store and the graph say of the facts of a world; the graph may lag behind.
type drawnStatements struct {
	vectors map[string]rerank.Candidate
	graph   map[string]graphstore.State
}

// drawStatements lets both say anything. foreign also draws candidates of other users, under ids of this one's facts.
func drawStatements(t *rapid.T, w world, foreign bool) drawnStatements {
	d := drawnStatements{map[string]rerank.Candidate{}, map[string]graphstore.State{}}
	states := []string{"", "", "", "active", "superseded", "shadowed", "deleted"}
	spaces := []graphstore.Space{spaceOf(ignoreTB{}, "u")}
	if foreign {
		spaces = append(spaces, spaces[0], spaceOf(ignoreTB{}, "eve"), graphstore.Space{})
	}
	for _, id := range w.facts {
		d.graph[id] = rapid.SampledFrom([]graphstore.State{
			graphstore.StateActive, graphstore.StateActive, graphstore.StateUnseen, graphstore.StateSuperseded, graphstore.StateDeleted,
		}).Draw(t, "state in the graph")
		d.vectors[id] = rerank.Candidate{
			Space: rapid.SampledFrom(spaces).Draw(t, "space"), ID: id,
			Cosine: rapid.Float64Range(.2, 1).Draw(t, "cosine"),
			State:  rapid.SampledFrom(states).Draw(t, "state"), EpisodeID: rapid.SampledFrom([]string{"", "e1"}).Draw(t, "episode"),
			ValidTo:  rapid.SampledFrom([]graphstore.Instant{0, 0, 0, day(10), day(25)}).Draw(t, "valid to"),
			MemoryAt: rapid.SampledFrom([]graphstore.Instant{0, day(3), day(9)}).Draw(t, "memory at"),
			Keyword:  rapid.Float64Range(0, 1).Draw(t, "keyword"),
		}
	}
	return d
}

// eligible applies the rules to what the vector store says.
func (d drawnStatements) eligible(id string) bool {
	c := d.vectors[id]
	return c.Space.UserID() == "u" && (c.State == "" || c.State == "active") && c.ValidTo != day(10)
}

// pool returns the statements about some of the facts.
func (d drawnStatements) pool(t *rapid.T, w world) []rerank.Candidate {
	var pool []rerank.Candidate
	for _, id := range rapid.Permutation(w.facts).Draw(t, "pool")[:len(w.facts)/2] {
		pool = append(pool, d.vectors[id])
	}
	return pool
}

// drawPipelineRanker draws settings under which much happens.
func drawPipelineRanker(t testing.TB, rt *rapid.T) (*rerank.Ranker, rerank.Settings) {
	s := drawExpandSettings(rt)
	s.Expand.SeedFloor, s.Paths.HighFloor = rapid.SampledFrom([]float64{.2, .6}).Draw(rt, "seed floor"), .2
	s.Expand.KeywordBonus = rapid.SampledFrom([]float64{0, .2}).Draw(rt, "keyword bonus")
	s.Expand.EpisodeBonus = rapid.SampledFrom([]float64{0, .1}).Draw(rt, "episode bonus")
	s.Paths.PerNode = rapid.IntRange(1, 10).Draw(rt, "per node")
	r, err := rerank.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// all returns the statements about all facts, also about those that nobody asked for.
func (d drawnStatements) all(w world) []rerank.Candidate {
	var all []rerank.Candidate
	for _, id := range slices.Sorted(slices.Values(w.facts)) {
		all = append(all, d.vectors[id])
	}
	return all
}
