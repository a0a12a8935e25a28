package rerank_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// The worked examples are written as in the specification: a pool is "A:.80 B:.60", edges are "A-B co_occurs 1" or
// "B>A temporal_next 1", separated by semicolons.

func spaceOf(t testing.TB, user string) graphstore.Space {
	t.Helper()
	space, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func day(d int) graphstore.Instant {
	t, err := parseDay(d)
	if err != nil {
		panic(err)
	}
	return t
}

func parseDay(d int) (graphstore.Instant, error) {
	var i graphstore.Instant
	err := i.UnmarshalText(fmt.Appendf(nil, "2026-01-%02dT00:00:00Z", d))
	return i, err
}

func poolOf(t testing.TB, text string) []rerank.Candidate {
	t.Helper()
	space := spaceOf(t, "u")
	var pool []rerank.Candidate
	for _, item := range strings.Fields(text) {
		id, cos, ok := strings.Cut(item, ":")
		x, err := strconv.ParseFloat(cos, 64)
		if !ok || err != nil {
			t.Fatalf("pool item %q: want id:cosine", item)
		}
		pool = append(pool, rerank.Candidate{Space: space, ID: id, Cosine: x})
	}
	return pool
}

// graphOf builds the graph of the edges. It goes through the builder without validation, as a damaged store would, so
// that a self-loop or a zero weight can be tested. A repeated edge is asserted by somebody else.
func graphOf(t testing.TB, edges string, facts ...graphstore.Fact) *graphstore.Snapshot {
	t.Helper()
	g := newGraph(t, spaceOf(t, "u"))
	for _, f := range facts {
		g.putFact(f)
	}
	for i, text := range strings.Split(edges, ";") {
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		weight, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatalf("edge %q: %v", text, err)
		}
		kind, err := graphstore.ParseRelationType(f[1])
		if err != nil {
			kind = graphstore.Related // what a producer's unknown relation is stored as
		}
		from, to, ok := strings.Cut(strings.ReplaceAll(f[0], ">", "-"), "-")
		if !ok {
			t.Fatalf("edge %q: want A-B or A>B", text)
		}
		g.link(from, to, kind, weight, graphstore.Asserter{Kind: graphstore.ByBatch, ID: fmt.Sprint(i)})
	}
	return g.snapshot()
}

type graphBuilder struct {
	t     testing.TB
	space graphstore.Space
	b     *graphstore.Builder
	known map[string]bool
	once  bool // assert bridges once
}

func newGraph(t testing.TB, space graphstore.Space) *graphBuilder {
	return &graphBuilder{t: t, space: space, b: graphstore.NewBuilder(graphstore.NewSnapshot(space)), known: map[string]bool{}}
}

func (g *graphBuilder) add(c graphstore.Change) {
	g.t.Helper()
	if err := g.b.Add(c); err != nil {
		g.t.Fatal(err)
	}
}

func (g *graphBuilder) putFact(f graphstore.Fact) {
	g.add(graphstore.PutFact(g.space, f))
	g.known["f"+f.ID] = true
}

func (g *graphBuilder) fact(id string) {
	if !g.known["f"+id] {
		g.putFact(graphstore.Fact{ID: id, State: graphstore.StateActive})
	}
}

func (g *graphBuilder) link(from, to string, kind graphstore.RelationType, weight float64, by graphstore.Asserter) {
	g.fact(from)
	g.fact(to)
	g.add(graphstore.PutEdge(g.space, graphstore.Edge{Source: from, Target: to, Type: kind, Weight: weight, Asserter: by}))
}

func (g *graphBuilder) mention(fact, entity string) {
	g.fact(fact)
	if !g.known["e"+entity] {
		g.known["e"+entity] = true
		g.add(graphstore.PutEntity(g.space, graphstore.Entity{ID: "id-" + entity, Type: "thing", Name: entity, Norm: entity}))
	}
	g.bridge(fact, "id-"+entity, graphstore.Mentions)
}

func (g *graphBuilder) tag(fact, topic string) {
	g.fact(fact)
	if !g.known["t"+topic] {
		g.known["t"+topic] = true
		g.add(graphstore.PutTopic(g.space, graphstore.Topic{ID: topic, Name: topic}))
	}
	g.bridge(fact, topic, graphstore.TaggedWith)
}

// bridge asserts the tie by two asserters, unless once is set: that is still one tie.
func (g *graphBuilder) bridge(fact, far string, kind graphstore.RelationType) {
	if !g.once {
		g.add(graphstore.PutEdge(g.space, graphstore.Edge{
			Source: fact, Target: far, Type: kind, Weight: .5, Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b"},
		}))
	}
	g.add(graphstore.PutEdge(g.space, graphstore.Edge{
		Source: fact, Target: far, Type: kind, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: fact},
	}))
}

func (g *graphBuilder) snapshot() *graphstore.Snapshot { return g.b.Snapshot() }

func newRanker(t testing.TB, change func(*rerank.Settings)) *rerank.Ranker {
	t.Helper()
	s := rerank.DefaultSettings()
	if change != nil {
		change(&s)
	}
	r, err := rerank.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func requestOf(t testing.TB, pool []rerank.Candidate, g *graphstore.Snapshot) rerank.Request {
	t.Helper()
	return rerank.Request{Space: spaceOf(t, "u"), Pool: pool, Graph: g, Now: day(20), Explain: true}
}

func mustRank(t testing.TB, r *rerank.Ranker, q rerank.Request) rerank.Result {
	t.Helper()
	res, err := r.Rerank(q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// wantItems asserts order and graph scores, written "A .851150 B .686000", to the precision of the specification.
func wantItems(t *testing.T, res rerank.Result, want string) {
	t.Helper()
	f := strings.Fields(want)
	if len(res.Items) != len(f)/2 {
		t.Fatalf("%d items, want %d: %s", len(res.Items), len(f)/2, show(res))
	}
	for i, item := range res.Items {
		score, err := strconv.ParseFloat(f[2*i+1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if item.ID != f[2*i] || math.Abs(item.GraphScore-score) > 1e-6 {
			t.Fatalf("place %d: got %s %.6f, want %s %.6f: %s", i+1, item.ID, item.GraphScore, f[2*i], score, show(res))
		}
	}
}

// wantSupport asserts supports before the cap, written "A .341 B .440".
func wantSupport(t *testing.T, res rerank.Result, want string) {
	t.Helper()
	f := strings.Fields(want)
	for i := 0; i < len(f); i += 2 {
		support, err := strconv.ParseFloat(f[i+1], 64)
		if err != nil {
			t.Fatal(err)
		}
		item := itemOf(t, res, f[i])
		if math.Abs(item.Support-support) > 1e-6 {
			t.Errorf("%s: support %.6f, want %.6f", item.ID, item.Support, support)
		}
	}
}

func itemOf(t testing.TB, res rerank.Result, id string) rerank.Ranked {
	t.Helper()
	for _, item := range res.Items {
		if item.ID == id {
			return item
		}
	}
	t.Fatalf("no item %s: %s", id, show(res))
	return rerank.Ranked{}
}

func show(res rerank.Result) string {
	var b strings.Builder
	for _, item := range res.Items {
		fmt.Fprintf(&b, "%s:%.6f ", item.ID, item.GraphScore)
	}
	return b.String()
}
