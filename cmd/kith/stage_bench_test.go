package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

const (
	stageDim     = 384
	stageCluster = 50  // facts about one thing
	stageTopic   = 500 // facts about one field of things
	stageResults = 10  // k
)

// BenchmarkStage measures all that the graph adds to one search (support, nominations, admission with the vector store's
// answer at hand, relation paths) beside the exact search of the same user for the same pool in the embedded store. Both
// run in turns in one process; figures are of the fastest tenth of those turns, because other load on the machine hits the
// search, which uses all cores, harder than the stage. percent is the stage's share of the search,
// allocs/result its allocations per result of ten. The users live in one store and come one after the other: x-alone is
// the smallest user's stage now to what it was when that user was alone.
//
// The user of 200,000 facts takes half a minute and a gigabyte to make. It is left out of short runs and of runs of one
// iteration.
func BenchmarkStage(b *testing.B) {
	sizes := []int{2_000, 20_000, 200_000}
	if once := flag.Lookup("test.benchtime").Value.String() == "1x"; once || testing.Short() {
		sizes = sizes[:2]
	}
	w := newStageWorld(b)
	var alone float64
	for _, n := range sizes {
		for _, pool := range []int{50, 200} {
			b.Run(fmt.Sprintf("facts=%d/pool=%d", n, pool), func(b *testing.B) {
				job := w.job(b, n, pool)
				b.ReportAllocs()
				for b.Loop() {
					job.stage(b)
				}
				b.StopTimer()
				took := job.measure(b)
				if alone == 0 {
					alone = took.stage
				}
				b.ReportMetric(took.search, "search-ns")
				b.ReportMetric(took.stage, "stage-ns")
				b.ReportMetric(100*took.stage/took.search, "percent")
				for i, name := range stageCalls {
					b.ReportMetric(took.calls[i], name+"-ns")
				}
				b.ReportMetric(testing.AllocsPerRun(20, func() { job.stage(b) })/stageResults, "allocs/result")
				b.ReportMetric(w.job(b, sizes[0], 50).measure(b).stage/alone, "x-alone")
			})
		}
	}
}

// stageCalls are the calls of one stage, in order.
var stageCalls = [...]string{"support", "nominate", "admit", "paths"}

// stageWorld is one vector store with the users made so far, by their number of facts.
type stageWorld struct {
	store *sqlite.Store
	rank  *rerank.Ranker
	users map[int]*stageUser
}

type stageUser struct {
	space graphstore.Space
	graph *graphstore.Snapshot
	query []float32
}

func newStageWorld(b *testing.B) *stageWorld {
	store, err := sqlite.New(filepath.Join(b.TempDir(), "vectors.db"), sqlite.Config{Dimension: stageDim, CacheBytes: 2 << 30})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	rank, err := rerank.New(rerank.DefaultSettings())
	if err != nil {
		b.Fatal(err)
	}
	return &stageWorld{store: store, rank: rank, users: map[int]*stageUser{}}
}

// user makes a user of n facts. Clusters of 50 are about one thing and topics of ten clusters about one field; a fact's
// vector is a third topic, a third cluster and a third its own, so that cosines are .7 inside a cluster, .35 inside a
// topic and 0 elsewhere. The query is about one thing in the middle.
func (w *stageWorld) user(b *testing.B, n int) *stageUser {
	if u, made := w.users[n]; made {
		return u
	}
	space, err := graphstore.NewSpace(fmt.Sprint("user of ", n))
	if err != nil {
		b.Fatal(err)
	}
	g := stageGraph{n: n, rng: rand.New(rand.NewPCG(1, uint64(n)))}
	g.name()
	u := &stageUser{space: space, graph: g.build(b, space)}
	points := make([]vdb.Point, 0, 5000)
	for i := range n {
		points = append(points, vdb.Point{Space: space, ID: g.ids[i], Vector: stageVector(i, uint64(i)), Payload: vdb.Payload{
			Content: fmt.Sprintf("What was said about thing %d of field %d, number %d.", i/stageCluster, i/stageTopic, i),
			State:   vdb.StateActive, EpisodeID: fmt.Sprint("e", i/20), MemoryAt: time.Unix(1_700_000_000+int64(i), 0),
		}})
		if len(points) == cap(points) || i == n-1 {
			if err := w.store.Upsert(context.Background(), points); err != nil {
				b.Fatal(err)
			}
			points = points[:0]
		}
	}
	u.query = stageVector(n/2, 1<<40)
	w.users[n] = u
	return u
}

// stageVector returns the vector of something in the cluster of fact i, with what is its own drawn from own.
func stageVector(i int, own uint64) []float32 {
	v := make([]float32, stageDim)
	for stream, seed := range []uint64{uint64(i / stageTopic), uint64(i / stageCluster), own} {
		rng := rand.New(rand.NewPCG(seed, uint64(stream)))
		for d := range v {
			v[d] += float32(rng.NormFloat64())
		}
	}
	return v
}

// stageGraph makes a memory of n facts with about 5n edges: of five that a fact asserts, three stay in its cluster, one
// in its topic and one leads anywhere. Each fact mentions one of three entities of its cluster.
type stageGraph struct {
	n   int
	rng *rand.Rand
	ids []string
}

func (g *stageGraph) name() {
	for range g.n {
		var id uuid.UUID
		for i := range id {
			id[i] = byte(g.rng.Uint32())
		}
		g.ids = append(g.ids, id.String())
	}
}

func (g *stageGraph) build(b *testing.B, space graphstore.Space) *graphstore.Snapshot {
	made := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	add := func(c graphstore.Change) {
		if err := made.Add(c); err != nil {
			b.Fatal(err)
		}
	}
	for i, id := range g.ids {
		add(graphstore.PutFact(space, graphstore.Fact{
			ID: id, State: graphstore.StateActive, MemoryAt: graphstore.InstantOf(time.Unix(1_700_000_000+int64(i), 0)),
		}))
	}
	for e := range (g.n + stageCluster - 1) / stageCluster * 3 {
		name := fmt.Sprint("entity ", e)
		add(graphstore.PutEntity(space, graphstore.Entity{ID: name, Type: "thing", Name: name, Norm: name}))
	}
	for i, id := range g.ids {
		edge := func(to string, t graphstore.RelationType, weight float64) {
			if to == id {
				return
			}
			e := graphstore.Edge{
				Source: id, Target: to, Type: t, Weight: weight, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: id},
			}
			add(graphstore.PutEdge(space, e.Normalized()))
		}
		for _, t := range []graphstore.RelationType{graphstore.CoOccurs, graphstore.TemporalNext, graphstore.Elaborates} {
			edge(g.near(i, stageCluster), t, .5+g.rng.Float64()/2)
		}
		edge(g.near(i, stageTopic), graphstore.SemanticNeighbor, .5+g.rng.Float64()/2)
		edge(g.near(i, g.n), graphstore.Causes, .5+g.rng.Float64()/2)
		edge(fmt.Sprint("entity ", i/stageCluster*3+i%3), graphstore.Mentions, 1)
	}
	return made.Snapshot()
}

// near returns the id of a fact in i's group of a size.
func (g *stageGraph) near(i, size int) string {
	first := i / size * size
	return g.ids[first+g.rng.IntN(min(size, g.n-first))]
}

// stageJob is one search with everything the stage needs of the vector store.
type stageJob struct {
	w       *stageWorld
	query   vdb.Query
	request rerank.Request
	scored  []rerank.Candidate // the vector store's answer about the nominees
}

func (w *stageWorld) job(b *testing.B, n, pool int) *stageJob {
	u := w.user(b, n)
	j := &stageJob{w: w, query: vdb.Query{Space: u.space, Vector: u.query, Limit: pool}}
	j.request = rerank.Request{
		Space: u.space, Graph: u.graph, Pool: stageCandidates(j.search(b)), Now: graphstore.InstantOf(time.Unix(1_800_000_000, 0)),
	}
	nominated := j.nominate(b, j.support(b))
	if len(nominated.Nominees) == 0 {
		b.Fatal("nobody was nominated")
	}
	matches, err := w.store.Score(context.Background(), vdb.Query{Space: u.space, Vector: u.query}, nominated.IDs())
	if err != nil {
		b.Fatal(err)
	}
	j.scored = stageCandidates(matches)
	return j
}

func stageCandidates(matches []vdb.Match) []rerank.Candidate {
	all := make([]rerank.Candidate, len(matches))
	for i, m := range matches {
		all[i] = rerank.Candidate{
			Space: m.Space, ID: m.ID, Cosine: m.Score, State: m.Payload.State, EpisodeID: m.Payload.EpisodeID,
			MemoryAt: graphstore.InstantOf(m.Payload.MemoryAt),
		}
	}
	return all
}

func (j *stageJob) search(b *testing.B) []vdb.Match {
	matches, err := j.w.store.Search(context.Background(), j.query)
	if err != nil || len(matches) != j.query.Limit {
		b.Fatalf("%d matches, %v", len(matches), err)
	}
	return matches
}

func (j *stageJob) support(b *testing.B) rerank.Result {
	ranked, err := j.w.rank.Rerank(j.request)
	if err != nil {
		b.Fatal(err)
	}
	return ranked
}

func (j *stageJob) nominate(b *testing.B, ranked rerank.Result) rerank.Nominations {
	nominated, err := j.w.rank.Nominate(j.request, ranked)
	if err != nil {
		b.Fatal(err)
	}
	return nominated
}

// stage makes the four calls and returns when each was done.
func (j *stageJob) stage(b *testing.B) (done [len(stageCalls)]time.Time) {
	ranked := j.support(b)
	done[0] = time.Now()
	nominated := j.nominate(b, ranked)
	done[1] = time.Now()
	x, err := j.w.rank.Admit(j.request, ranked, nominated, j.scored, stageResults)
	if err != nil {
		b.Fatal(err)
	}
	done[2] = time.Now()
	if _, err := j.w.rank.Paths(rerank.PathQuery{
		Request: j.request, Expansion: x, Nominated: nominated, Scored: j.scored, K: stageResults,
	}); err != nil {
		b.Fatal(err)
	}
	done[3] = time.Now()
	return done
}

// stageTimes are nanoseconds, each of the fastest tenth of the turns.
type stageTimes struct {
	search, stage float64
	calls         [len(stageCalls)]float64
}

// measure lets search and stage take turns.
func (j *stageJob) measure(b *testing.B) stageTimes {
	const turns = 101
	var search, stage []float64
	var calls [len(stageCalls)][]float64
	for range turns {
		start := time.Now()
		j.search(b)
		search = append(search, float64(time.Since(start)))
		start = time.Now()
		done := j.stage(b)
		stage = append(stage, float64(done[len(done)-1].Sub(start)))
		for i, at := range done {
			calls[i] = append(calls[i], float64(at.Sub(start)))
			start = at
		}
	}
	took := stageTimes{search: fastTenth(search), stage: fastTenth(stage)}
	for i := range calls {
		took.calls[i] = fastTenth(calls[i])
	}
	return took
}

// fastTenth returns the slowest of the fastest tenth.
func fastTenth(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/10]
}
