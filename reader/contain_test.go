package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// newMergeFixture is worked example W24 of the ranking: the pool A .80, B .55, D .52 (a pool of 3), and outside of it X .65, Y .62,
// Z .50 with A elaborates X, X co_occurs Y, B co_occurs Z. X and Y would be in the pool by their cosines; the test store
// keeps them out of it.
func newMergeFixture(t testing.TB) (fixture, *keptOut) {
	t.Helper()
	s := newSpace(t, "u")
	f := fixture{space: s, vectors: vdbtest.NewMemory(2)}
	f.put(t, point(s, "A", .80), point(s, "B", .55), point(s, "D", .52), point(s, "X", .65), point(s, "Y", .62), point(s, "Z", .50))
	changes := []graphstore.Change{}
	for _, id := range []string{"A", "B", "D", "X", "Y", "Z"} {
		changes = append(changes, graphstore.PutFact(s, graphstore.Fact{ID: id, AgentID: "mine", State: graphstore.StateActive}))
	}
	for _, e := range []struct {
		from, to string
		typ      graphstore.RelationType
	}{{"A", "X", graphstore.Elaborates}, {"X", "Y", graphstore.CoOccurs}, {"B", "Z", graphstore.CoOccurs}} {
		changes = append(changes, graphstore.PutEdge(s, graphstore.Edge{Source: e.from, Target: e.to, Type: e.typ, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: e.from}}))
	}
	snap, err := graphstore.NewSnapshot(s).With(changes)
	if err != nil {
		t.Fatal(err)
	}
	f.snap = snap
	return f, &keptOut{Store: f.vectors, ids: map[string]bool{"X": true, "Y": true, "Z": true}}
}

// keptOut is a store whose search does not find some points, and that counts its calls.
type keptOut struct {
	vdb.Store
	ids   map[string]bool
	calls atomic.Int64
}

func (k *keptOut) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	k.calls.Add(1)
	all, err := k.Store.Search(ctx, q)
	var out []vdb.Match
	for _, m := range all {
		if !k.ids[m.ID] {
			out = append(out, m)
		}
	}
	return out, err
}

func (k *keptOut) Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error) {
	k.calls.Add(1)
	return k.Store.Score(ctx, q, ids)
}

// attached renders an answer as "A[X Y] B[Z] D".
func attached(a Answer) string {
	var parts []string
	for _, r := range a.Results {
		part := r.ID
		if len(r.Attached) > 0 {
			var ids []string
			for _, x := range r.Attached {
				ids = append(ids, x.ID)
			}
			part += "[" + strings.Join(ids, " ") + "]"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// W24: f(X) = .65+.3*.72 = .866 cut at A's .80 less a millionth, f(Y) = .62+.3*.2376 = .69128, f(Z) = .50+.3*.3025 = .59075 cut at .55 less a
// millionth. Two calls to the vector store, and no more.
func TestWorkedExpansionThroughTheReader(t *testing.T) {
	f, store := newMergeFixture(t)
	r := f.reader(t, store, fixedGraph{f.snap})
	a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, ExplainAll: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := attached(a); got != "A[X Y] B[Z] D" || a.Rerank.Status != StatusOK {
		t.Fatalf("%s, %+v", got, a.Rerank)
	}
	var got []string
	for _, res := range a.Results {
		for _, x := range res.Attached {
			got = append(got, fmt.Sprintf("%s %s %d %.6f %.6f", x.ID, x.Expansion.Seed, x.Expansion.Hops, x.Expansion.Relaxed, x.GraphScore))
		}
	}
	want := []string{"X A 1 0.720000 0.799999", "Y A 2 0.237600 0.691280", "Z B 1 0.302500 0.549999"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attached (-want +got):\n%s", diff)
	}
	if n := store.calls.Load(); n != 2 {
		t.Errorf("%d calls to the vector store, want 2", n)
	}
}

func TestSeparateExpansionTakesPlaces(t *testing.T) { // W25
	f, store := newMergeFixture(t)
	r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) {
		c.Rerank.Expand.MergeSeed, c.Rerank.Expand.DeltaSeparate, c.Rerank.Expand.ExtraShare = false, .2, 1
	})
	a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query})
	if err != nil || attached(a) != "A X Y B Z D" {
		t.Fatalf("%s, %v: want A X Y B Z D", attached(a), err)
	}
	for i, x := range a.Results {
		if x.RankAfter != i+1 || (x.Expansion != nil) != store.ids[x.ID] || (x.RankBefore == 0) != store.ids[x.ID] {
			t.Errorf("result %d: %+v", i, x)
		}
	}
}

// The vector store decides what may be added: it gets the caller's filter, and what it does not return does not appear, nor
// what is reached only over that.
func TestContainedExpansionFailsClosedPerFact(t *testing.T) {
	f, store := newMergeFixture(t)
	f.put(t, point(f.space, "X", .65, func(p *vdb.Payload) { p.AgentID = "other" }))
	for _, id := range []string{"A", "B", "D", "Y", "Z"} {
		cos := map[string]float64{"A": .80, "B": .55, "D": .52, "Y": .62, "Z": .50}[id]
		f.put(t, point(f.space, id, cos, func(p *vdb.Payload) { p.AgentID = "mine" }))
	}
	r := f.reader(t, store, fixedGraph{f.snap})
	a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, AgentID: "mine", ExplainAll: true})
	if err != nil || attached(a) != "A B[Z] D" {
		t.Fatalf("%s, %v: want A B[Z] D: X is another agent's, and Y is reached over X only", attached(a), err)
	}
	reasons := map[string]rerank.Reason{}
	for _, x := range a.Refused {
		reasons[x.ID] = x.Reason
	}
	// X, which the query's own condition keeps out, is not named.
	want := map[string]rerank.Reason{"Y": rerank.ReasonUnreached}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// Every stage is made to fail in every way. The answer is that of the stages before, byte for byte, and names stage and
// reason; a strict query gets the error.
func TestContainedFailures(t *testing.T) {
	f, store := newMergeFixture(t)
	q := Query{Space: f.space, Vector: query, Explain: true}
	upTo := map[string]func(*Config){ // what the stages before leave
		StageSupport: nil, // the recall
		StageWalk:    func(c *Config) { c.Rerank.Expand.Gamma, c.Rerank.Paths.Enabled = 0, false },
		StagePaths:   func(c *Config) { c.Rerank.Paths.Enabled = false },
	}
	before := map[string]Answer{}
	for stage, edit := range upTo {
		var g Graph
		if edit != nil {
			g = fixedGraph{f.snap}
		}
		r := f.reader(t, store, g, func(c *Config) {
			if edit != nil {
				edit(c)
			}
		})
		a, err := r.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		before[stage] = a
	}
	before[StageView], before[StageVectors], before[StageAdmit] = before[StageSupport], before[StageWalk], before[StageWalk]
	if attached(before[StageWalk]) != "A B D" || attached(before[StagePaths]) != "A[X Y] B[Z] D" {
		t.Fatal("the stages make no difference: the test shows nothing")
	}
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	boom := errors.New("boom")
	ways := map[string]struct {
		fail   func() error
		reason string
	}{
		"error":          {func() error { return boom }, "boom"},
		"panic":          {func() error { panic("no map") }, "panic: no map"},
		"panic of error": {func() error { panic(boom) }, "panic: boom"},
		"hangs":          {func() error { <-release; return nil }, "budget spent"},
	}
	for _, stage := range []string{StageView, StageSupport, StageWalk, StageVectors, StageAdmit, StagePaths} {
		for name, way := range ways {
			t.Run(stage+"/"+name, func(t *testing.T) {
				r, err := New(store, fixedGraph{f.snap}, Config{Rerank: rerank.DefaultSettings(), Budget: 100 * time.Millisecond,
					Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
				if err != nil {
					t.Fatal(err) // not closed: what hangs is waited for there
				}
				inject(r, stage, way.fail)
				a, err := r.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before[stage].Results, a.Results); diff != "" {
					t.Errorf("results (-before +degraded):\n%s", diff)
				}
				if diff := cmp.Diff(before[stage].Paths, a.Paths, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("paths (-before +degraded):\n%s", diff)
				}
				if a.Rerank.Status != StatusDegraded || a.Rerank.Stage != stage || !strings.Contains(a.Rerank.Reason, way.reason) {
					t.Errorf("account: %+v: want stage %s, reason %q", a.Rerank, stage, way.reason)
				}
				strict := q
				strict.Graph = GraphStrict
				if _, err := r.Search(t.Context(), strict); err == nil || !strings.Contains(err.Error(), stage) {
					t.Errorf("strict: %v, want an error that names %s", err, stage)
				}
			})
		}
	}
}

// inject makes a stage of the reader fail. Walk and admit share two functions with each other's stages, so these fail by the call that
// is theirs: admit is called in the walk without nominees.
func inject(r *Reader, stage string, fail func() error) {
	s := &r.stages
	switch stage {
	case StageView:
		s.view = func(context.Context, graphstore.Space) (*graphstore.Snapshot, error) { return nil, fail() }
	case StageSupport:
		s.rank = func(rerank.Request) (rerank.Result, error) { return rerank.Result{}, fail() }
	case StageWalk:
		s.nominate = func(rerank.Request, rerank.Result) (rerank.Nominations, error) { return rerank.Nominations{}, fail() }
	case StageVectors:
		s.score = func(context.Context, vdb.Query, []string) ([]vdb.Match, error) { return nil, fail() }
	case StageAdmit:
		works := s.admit
		s.admit = func(q rerank.Request, ranked rerank.Result, n rerank.Nominations, scored []rerank.Candidate, k int) (rerank.Expansion, error) {
			if len(n.Nominees) > 0 {
				return rerank.Expansion{}, fail()
			}
			return works(q, ranked, n, scored, k)
		}
	case StagePaths:
		works := s.paths
		s.paths = func(q rerank.PathQuery) (rerank.PathResult, error) {
			if q.OnlyKnown {
				return rerank.PathResult{}, fail()
			}
			return works(q)
		}
	}
}

// A vector store that fails the second call costs the expansion, and after some failures is not asked any more; the graph's order stays.
func TestContainedByABreakerOfItsOwn(t *testing.T) {
	f, store := newMergeFixture(t)
	r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.BreakerFailures, c.BreakerPause = 3, time.Hour })
	asked := 0
	r.stages.score = func(context.Context, vdb.Query, []string) ([]vdb.Match, error) {
		asked++
		return nil, vdb.ErrUnavailable
	}
	for range 5 {
		a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query})
		if err != nil || attached(a) != "A B D" || a.Rerank.Status != StatusDegraded || a.Rerank.Pool != 3 {
			t.Fatalf("%s, %v, %+v", attached(a), err, a.Rerank)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
}

// A graph that cannot be had leaves episodes, where they are switched on: W23 with the pool A .80 e1, B .60 e1, D .70 e1, F .61, G .58 e1.
func TestContainedGraphLeavesEpisodes(t *testing.T) {
	s := newSpace(t, "u")
	f := fixture{space: s, vectors: vdbtest.NewMemory(2), snap: graphstore.NewSnapshot(s)}
	e1 := func(p *vdb.Payload) { p.EpisodeID = "e1" }
	f.put(t, point(s, "A", .80, e1), point(s, "B", .60, e1), point(s, "D", .70, e1), point(s, "F", .61), point(s, "G", .58, e1))
	want := "A .853086 D .757170 B .661253 G .641253 F .610000"
	for name, tc := range map[string]struct {
		graph  Graph
		off    bool
		status Status
	}{
		"no graph":     {nil, false, StatusDisabled},
		"switched off": {fixedGraph{f.snap}, true, StatusDisabled},
		"fails":        {noGraph{}, false, StatusDegraded},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.reader(t, f.vectors, tc.graph, func(c *Config) { c.Rerank.EpisodeRecall, c.GraphOff = true, tc.off })
			a, err := r.Search(t.Context(), Query{Space: s, Vector: query})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range a.Results {
				got = append(got, x.ID, strings.TrimPrefix(fmt.Sprintf("%.6f", x.GraphScore), "0"))
			}
			if strings.Join(got, " ") != want || a.Rerank.Status != tc.status || !a.Rerank.EpisodesOnly {
				t.Errorf("%s, %+v: want %s, %s", got, a.Rerank, want, tc.status)
			}
			plain, err := r.Search(t.Context(), Query{Space: s, Vector: query, Graph: GraphOff})
			if err != nil || order(plain) != "A D F B G" {
				t.Errorf("graph off: %s, %v: want the recall's order", order(plain), err)
			}
		})
	}
}

type noGraph struct{}

func (noGraph) Acquire(context.Context, graphstore.Space) (*graphstore.Snapshot, error) {
	return nil, errNotThere
}

// A speaker ties every fact of the conversation together; named, it ties none.
func TestSpeakersAreNoBridges(t *testing.T) {
	f := newFixture(t)
	changes := []graphstore.Change{graphstore.PutEntity(f.space, graphstore.Entity{ID: "thing:bob", Type: "thing", Name: "Bob", Norm: "bob", Mentions: 2})}
	for _, id := range []string{"B", "D"} {
		changes = append(changes, graphstore.PutEdge(f.space, graphstore.Edge{Source: id, Target: "thing:bob", Type: graphstore.Mentions, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: id}}))
	}
	snap, err := f.snap.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	r := f.reader(t, f.vectors, fixedGraph{snap})
	boost := func(speakers ...string) float64 {
		a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, Speakers: speakers})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Results {
			if x.ID == "B" {
				return x.GraphScore - x.Base
			}
		}
		t.Fatal("no B")
		return 0
	}
	if got := boost(); got <= 0 {
		t.Fatalf("B gets %v over Bob: the test shows nothing", got)
	}
	if got := boost("bob"); got != 0 {
		t.Errorf("B gets %v over a speaker", got)
	}
}
