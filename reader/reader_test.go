package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fixedGraph is a Graph of one snapshot.
type fixedGraph struct{ snap *graphstore.Snapshot }

func (g fixedGraph) Acquire(_ context.Context, s graphstore.Space) (*graphstore.Snapshot, error) {
	if s != g.snap.Space() {
		return graphstore.NewSnapshot(s), nil
	}
	return g.snap, nil
}

func newSpace(t testing.TB, user string) graphstore.Space {
	t.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// query is the unit vector that point's cosines are measured against.
var query = []float32{1, 0}

// point returns a fact whose cosine with query is cos.
func point(s graphstore.Space, id string, cos float64, edit ...func(*vdb.Payload)) vdb.Point {
	p := vdb.Point{Space: s, ID: id, Vector: []float32{float32(cos), float32(math.Sqrt(1 - cos*cos))}, Payload: vdb.Payload{Content: "about " + id, State: "active"}}
	for _, e := range edit {
		e(&p.Payload)
	}
	return p
}

type fixture struct {
	space   graphstore.Space
	vectors *vdbtest.Memory
	snap    *graphstore.Snapshot
}

// newFixture is worked example W12 of the ranking: A .80, B .70, D .62, and A causes D.
func newFixture(t testing.TB) fixture {
	t.Helper()
	s := newSpace(t, "u")
	f := fixture{space: s, vectors: vdbtest.NewMemory(2)}
	f.put(t, point(s, "A", .80), point(s, "B", .70), point(s, "D", .62))
	snap, err := graphstore.NewSnapshot(s).With([]graphstore.Change{
		graphstore.PutFact(s, graphstore.Fact{ID: "A", State: graphstore.StateActive}),
		graphstore.PutFact(s, graphstore.Fact{ID: "B", State: graphstore.StateActive}),
		graphstore.PutFact(s, graphstore.Fact{ID: "D", State: graphstore.StateActive}),
		graphstore.PutEdge(s, graphstore.Edge{Source: "A", Target: "D", Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "A"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.snap = snap
	return f
}

func (f fixture) put(t testing.TB, points ...vdb.Point) {
	t.Helper()
	if err := f.vectors.Upsert(context.Background(), points); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) reader(t testing.TB, store vdb.Store, graph Graph, edit ...func(*Config)) *Reader {
	t.Helper()
	cfg := Config{Rerank: rerank.DefaultSettings(), Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Budget: 2 * time.Second}
	for _, e := range edit {
		e(&cfg)
	}
	r, err := New(store, graph, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func order(a Answer) string {
	var ids []string
	for _, r := range a.Results {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// The numbers of W12: A .80 + .15*.9*.62 = .8837, D .62 + .15*.9*.80 = .728, B stays .70; D overtakes B.
func TestSearchRanksByTheGraph(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap})
	a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID            string
		Score, Graph  string
		Before, After int
	}
	var got []row
	for _, x := range a.Results {
		got = append(got, row{x.ID, fmt.Sprintf("%.4f", x.Score), fmt.Sprintf("%.6f", x.GraphScore), x.RankBefore, x.RankAfter})
	}
	want := []row{{"A", "0.8000", "0.883700", 1, 1}, {"D", "0.6200", "0.728000", 3, 2}, {"B", "0.7000", "0.700000", 2, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if a.Rerank.Status != StatusOK || a.Rerank.Changed != 2 || a.Recall != RecallDense {
		t.Errorf("account: %+v", a.Rerank)
	}
	if len(a.Paths) != 1 || a.Paths[0].String() != "A -causes-> D" {
		t.Errorf("paths: %v: want A -causes-> D", a.Paths)
	}
	if e := a.Results[1].Explanation; e == nil || len(e.Supporters) != 1 || e.Supporters[0].ID != "A" || math.Abs(e.Supporters[0].Share-.108) > 1e-6 {
		t.Errorf("explanation of D: %+v: want .15*.9*.80 = .108 from A", e)
	}
	cut, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, K: 2})
	if err != nil || order(cut) != "A D" {
		t.Errorf("k 2: %q, %v: the pool is ranked before it is cut", order(cut), err)
	}
}

func TestGraphOffIsTheRecall(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string]struct {
		graph Graph
		use   GraphUse
		off   bool
	}{
		"query says off":         {graph: fixedGraph{f.snap}, use: GraphOff},
		"configuration says off": {graph: fixedGraph{f.snap}, off: true},
		"there is none":          {},
	} {
		r := f.reader(t, f.vectors, tc.graph, func(c *Config) { c.GraphOff = tc.off })
		a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, Graph: tc.use})
		if err != nil || order(a) != "A B D" || a.Rerank.Status != StatusDisabled || a.Rerank.Reason == "" {
			t.Errorf("%s: %q, %v, %+v", name, order(a), err, a.Rerank)
		}
		for i, x := range a.Results {
			if x.GraphScore != x.Score || x.RankBefore != i+1 || x.RankAfter != i+1 {
				t.Errorf("%s: result %d is not the recall's: %+v", name, i, x)
			}
		}
	}
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.GraphOff = true })
	if a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, Graph: GraphOn}); err != nil || order(a) != "A D B" {
		t.Errorf("the query asks for the graph: %q, %v", order(a), err)
	}
}

func TestBreakerSkipsAndProbes(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.BreakerFailures, c.BreakerPause = 3, 20*time.Millisecond })
	works := r.stages.rank
	calls := 0
	r.stages.rank = func(rerank.Request) (rerank.Result, error) { calls++; return rerank.Result{}, errors.New("boom") }
	search := func() Answer {
		a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for range 3 {
		search()
	}
	if a := search(); a.Rerank.Stage != StageBreaker || calls != 3 {
		t.Fatalf("after 3 failures: %+v, %d calls: want the breaker open", a.Rerank, calls)
	}
	r.stages.rank = works
	deadline := time.Now().Add(5 * time.Second)
	for search().Rerank.Status != StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("the breaker never let a probe through")
		}
	}
}

func TestCallerCancels(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap})
	ctx, cancel := context.WithCancel(context.Background())
	works := r.stages.rank
	r.stages.rank = func(q rerank.Request) (rerank.Result, error) { cancel(); return works(q) }
	if _, err := r.Search(ctx, Query{Space: f.space, Vector: query}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the graph stage: %v", err)
	}
	if _, err := r.Search(ctx, Query{Space: f.space, Vector: query}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestBadQueries(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap})
	good := Query{Space: f.space, Vector: query}
	for name, tc := range map[string]struct {
		edit func(*Query)
		want string
	}{
		"no user":         {func(q *Query) { q.Space = graphstore.Space{} }, "user_id"},
		"nothing asked":   {func(q *Query) { q.Vector = nil }, "vector, text: both empty"},
		"k negative":      {func(q *Query) { q.K = -1 }, "k: -1: want 1 to 200"},
		"k huge":          {func(q *Query) { q.K = 1e9 }, "k: 1000000000: want 1 to 200"},
		"pool under k":    {func(q *Query) { q.K, q.Pool = 20, 10 }, "pool: 10: want k (20) to 200"},
		"dimension":       {func(q *Query) { q.Vector = []float32{1, 0, 0} }, "3 dimensions, the collection has 2"},
		"NaN":             {func(q *Query) { q.Vector = []float32{1, float32(math.NaN())} }, "vector[1] = NaN"},
		"infinite":        {func(q *Query) { q.Vector = []float32{float32(math.Inf(1)), 0} }, "vector[0] = +Inf"},
		"zero vector":     {func(q *Query) { q.Vector = []float32{0, 0} }, "all zero"},
		"agent with NUL":  {func(q *Query) { q.AgentID = "a\x00b" }, "agent_id"},
		"graph use":       {func(q *Query) { q.Graph = "perhaps" }, `graph: "perhaps"`},
		"state in filter": {func(q *Query) { q.Filter.Match = []vdb.FieldMatch{{Field: "state", Any: []string{"deleted"}}} }, "valid_at"},
		"user in filter":  {func(q *Query) { q.Filter.Match = []vdb.FieldMatch{{Field: "user_id", Any: []string{"v"}}} }, "reserved"},
		"empty condition": {func(q *Query) { q.Filter.Match = []vdb.FieldMatch{{Field: "tags"}} }, "no values"},
	} {
		q := good
		tc.edit(&q)
		_, err := r.Search(context.Background(), q)
		if !errors.Is(err, ErrBadQuery) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v: want a bad query that says %q", name, err, tc.want)
		}
	}
}

// broken is a vector store that returns another user's fact, or fails.
type broken struct {
	vdb.Store
	extra []vdb.Match
	err   error
}

func (b broken) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	if b.err != nil {
		return nil, b.err
	}
	found, err := b.Store.Search(ctx, q)
	return append(b.extra, found...), err
}

func TestForeignFactsNeverReachAnAnswer(t *testing.T) {
	f := newFixture(t)
	other := newSpace(t, "v")
	store := broken{Store: f.vectors, extra: []vdb.Match{{Point: point(other, "A", .99), Score: .99}, {Point: vdb.Point{ID: "X"}, Score: .98}}}
	for _, use := range []GraphUse{GraphOn, GraphOff} {
		a, err := f.reader(t, store, fixedGraph{f.snap}).Search(context.Background(), Query{Space: f.space, Vector: query, Graph: use})
		if err != nil || len(a.Results) != 3 || a.Rerank.Foreign != 2 || a.Results[0].ID != "A" || a.Results[0].Score > .9 {
			t.Errorf("graph %s: %q, %v, foreign %d", use, order(a), err, a.Rerank.Foreign)
		}
	}
}

func TestStoreFailureIsAnError(t *testing.T) {
	f := newFixture(t)
	for _, want := range []error{vdb.ErrUnavailable, vdb.ErrNoCollection, vdb.ErrClosed} {
		r := f.reader(t, broken{Store: f.vectors, err: fmt.Errorf("ask: %w", want)}, fixedGraph{f.snap})
		if _, err := r.Search(context.Background(), Query{Space: f.space, Vector: query}); !errors.Is(err, want) {
			t.Errorf("%v became %v", want, err)
		}
	}
}

func TestUnknownUserHasAnEmptyAnswer(t *testing.T) {
	f := newFixture(t)
	a, err := f.reader(t, f.vectors, fixedGraph{f.snap}).Search(context.Background(), Query{Space: newSpace(t, "nobody"), Vector: query})
	if err != nil || len(a.Results) != 0 || a.Rerank.Status != StatusOK {
		t.Errorf("%v, %+v", err, a)
	}
}

// A fact superseded on Nov 10 with window [Nov 1, Nov 10) is found at Nov 5, not at Nov 10 (half-open), not now.
func TestValidAt(t *testing.T) {
	f := newFixture(t)
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	f.put(t, point(f.space, "old", .95, func(p *vdb.Payload) { p.State, p.ValidFrom, p.ValidTo = "superseded", day(1), day(10) }))
	for _, use := range []GraphUse{GraphOn, GraphOff} {
		r := f.reader(t, f.vectors, fixedGraph{f.snap})
		for _, tc := range []struct {
			at   time.Time
			want bool
		}{{time.Time{}, false}, {day(1), true}, {day(5), true}, {day(10), false}, {day(1).Add(-time.Microsecond), false}} {
			a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, ValidAt: tc.at, Graph: use})
			if err != nil || strings.Contains(order(a), "old") != tc.want {
				t.Errorf("graph %s, valid at %s: %q, %v: want old found: %v", use, tc.at, order(a), err, tc.want)
			}
		}
	}
}

// Sixty facts that are out of date and nearer than twenty good ones take no place in the pool.
func TestExpiredFactsTakeNoPlace(t *testing.T) {
	f := newFixture(t)
	ended := now.Add(-time.Hour)
	for i := range 60 {
		f.put(t, point(f.space, fmt.Sprintf("expired %02d", i), .95, func(p *vdb.Payload) { p.ValidTo = ended }))
	}
	for i := range 20 {
		f.put(t, point(f.space, fmt.Sprintf("good %02d", i), .90))
	}
	for _, use := range []GraphUse{GraphOn, GraphOff} {
		a, err := f.reader(t, f.vectors, fixedGraph{f.snap}).Search(context.Background(), Query{Space: f.space, Vector: query, Graph: use})
		if err != nil || len(a.Results) != 10 || !strings.HasPrefix(order(a), "good 00") {
			t.Errorf("graph %s: %q, %v: want ten good ones", use, order(a), err)
		}
	}
}

// The payload of a superseded fact does not say until when it was valid; the graph knows what retired it, on Nov 10.
func TestSupersededFactEndsWhereItsSuccessorBegins(t *testing.T) {
	f := newFixture(t)
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	f.put(t, point(f.space, "old", .95, func(p *vdb.Payload) { p.State = "superseded" }))
	snap, err := f.snap.With([]graphstore.Change{
		graphstore.PutFact(f.space, graphstore.Fact{ID: "old", State: graphstore.StateSuperseded, SupersededBy: "A", SupersededAt: graphstore.InstantOf(day(20))}),
		graphstore.PutFact(f.space, graphstore.Fact{ID: "A", State: graphstore.StateActive, ValidFrom: graphstore.InstantOf(day(10))}),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := f.reader(t, f.vectors, fixedGraph{snap})
	for at, want := range map[time.Time]bool{day(9): true, day(10): false, day(15): false} {
		a, err := r.Search(context.Background(), Query{Space: f.space, Vector: query, ValidAt: at})
		if err != nil || strings.Contains(order(a), "old") != want {
			t.Errorf("valid at %s: %q, %v: want old found: %v", at, order(a), err, want)
		}
	}
}

// Searches whose callers go away in between do not keep a failing stage's breaker closed.
func TestBreakerIgnoresCancelledCallers(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.BreakerFailures = 3 })
	calls := 0
	var gone context.CancelFunc
	r.stages.rank = func(rerank.Request) (rerank.Result, error) {
		if calls++; calls%3 == 0 {
			gone()
		}
		return rerank.Result{}, errors.New("boom")
	}
	for range 30 {
		var ctx context.Context
		ctx, gone = context.WithCancel(context.Background())
		if _, err := r.Search(ctx, Query{Space: f.space, Vector: query}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		gone()
	}
	if calls != 4 { // two failures, a cancelled one that says nothing, the third failure
		t.Errorf("the stage ran %d times: want 4 until the breaker opened", calls)
	}
}

// While one search fails and another works in turn there is one episode, one line of warning.
func TestTroubleIsOneEpisode(t *testing.T) {
	f := newFixture(t)
	var lines strings.Builder
	clock := now
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	})
	r.clock = func() time.Time { return clock }
	works := r.stages.rank
	for i := range 20 {
		r.stages.rank = works
		if i%2 == 0 {
			r.stages.rank = func(rerank.Request) (rerank.Result, error) { return rerank.Result{}, errors.New("boom") }
		}
		if _, err := r.Search(context.Background(), Query{Space: f.space, Vector: query}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(lines.String(), "\n"); n != 1 || !strings.Contains(r.Trouble(), "boom") {
		t.Errorf("%d lines, trouble %q: want 1 line and the reason\n%s", n, r.Trouble(), &lines)
	}
	clock = clock.Add(troubleQuiet)
	if _, err := r.Search(context.Background(), Query{Space: f.space, Vector: query}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(lines.String(), "works again") || r.Trouble() != "" {
		t.Errorf("trouble %q after quiet: %s", r.Trouble(), &lines)
	}
}

func TestTextIsKeywordRecall(t *testing.T) {
	f := newFixture(t)
	a, err := f.reader(t, f.vectors, fixedGraph{f.snap}).Search(context.Background(), Query{Space: f.space, Text: "D"})
	if err != nil || a.Recall != RecallKeyword || order(a) != "D" || a.Rerank.Status != StatusDisabled {
		t.Errorf("%q, %v, %+v", order(a), err, a)
	}
}

func TestBadConfiguration(t *testing.T) {
	_, err := New(vdbtest.NewMemory(2), nil, Config{Rerank: rerank.DefaultSettings(), Budget: -1, BreakerFailures: -1})
	if err == nil || !strings.Contains(err.Error(), "budget") || !strings.Contains(err.Error(), "breaker failures -1") {
		t.Errorf("%v: want both violations named", err)
	}
	bad := rerank.DefaultSettings()
	bad.Beta = 2
	if _, err := New(vdbtest.NewMemory(2), nil, Config{Rerank: bad}); err == nil || !strings.Contains(err.Error(), "MEMORY_GRAPH_PROPAGATE_BETA") {
		t.Errorf("%v: want the setting named", err)
	}
}
