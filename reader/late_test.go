package reader

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// The caller may use its slices again when Search has returned, although a stage that was late still reads them: the race detector
// sees it otherwise, and what is read is what was asked with.
func TestContainedStageKeepsItsOwnQuery(t *testing.T) {
	f, store := newMergeFixture(t)
	for _, id := range []string{"A", "B", "D"} {
		cos := map[string]float64{"A": .80, "B": .55, "D": .52}[id]
		f.put(t, point(f.space, id, cos, func(p *vdb.Payload) { p.Tags = []string{"t"} }))
	}
	r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.Budget = 50 * time.Millisecond })
	answered, over := make(chan struct{}), make(chan vdb.Query, 1)
	r.stages.score = func(_ context.Context, q vdb.Query, _ []string) ([]vdb.Match, error) {
		<-answered
		over <- vdb.Query{Vector: []float32{q.Vector[0]}, Filter: vdb.Filter{Match: []vdb.FieldMatch{{Any: []string{q.Filter.Match[0].Any[0]}}}}}
		return nil, nil
	}
	vector, values := []float32{1, 0}, []string{"t"}
	a, err := r.Search(t.Context(), Query{Space: f.space, Vector: vector, Filter: vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: values}}}})
	if err != nil || a.Rerank.Stage != StageVectors {
		t.Fatalf("%v, %+v", err, a.Rerank)
	}
	vector[0], values[0] = 7, "changed"
	close(answered)
	if read := <-over; read.Vector[0] != 1 || read.Filter.Match[0].Any[0] != "t" {
		t.Errorf("the late stage read %+v", read)
	}
}

// hungGraph does not answer, and ignores that nobody waits any more.
type hungGraph struct {
	release chan struct{}
	asked   *atomic.Int64
}

func (g hungGraph) Acquire(context.Context, graphstore.Space) (*graphstore.Snapshot, error) {
	g.asked.Add(1)
	<-g.release
	return nil, errNotThere
}

// A graph that hangs is not asked by every search, and leaves episodes.
func TestContainedGraphThatHangs(t *testing.T) {
	f, store := newMergeFixture(t)
	for _, p := range []vdb.Point{
		point(f.space, "A", .80, func(p *vdb.Payload) { p.EpisodeID = "e" }),
		point(f.space, "B", .55, func(p *vdb.Payload) { p.EpisodeID = "e" }),
	} {
		f.put(t, p)
	}
	g := hungGraph{make(chan struct{}), new(atomic.Int64)}
	r := f.reader(t, store, g, func(c *Config) {
		c.Budget, c.BreakerFailures, c.BreakerPause, c.Rerank.EpisodeRecall = 60*time.Millisecond, 3, time.Hour, true
	})
	for range 8 {
		a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query})
		if err != nil || a.Rerank.Status != StatusDegraded {
			t.Fatalf("%v, %+v", err, a.Rerank)
		}
		if a.Rerank.Stage == StageView && (!a.Rerank.EpisodesOnly || a.Results[0].GraphScore <= .80) {
			t.Errorf("%+v: want episodes to rank", a.Rerank)
		}
	}
	if n := g.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	close(g.release)
}

// The snapshot of an answer was taken when the graph was at 0; that the event is applied while the search goes on changes nothing.
func TestMinSeqIsThatOfTheSnapshot(t *testing.T) {
	f, store := newMergeFixture(t)
	var applied atomic.Uint64
	r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.Budget, c.AppliedSeq = 200*time.Millisecond, applied.Load })
	works := r.stages.paths
	r.stages.paths = func(q rerank.PathQuery) (rerank.PathResult, error) { applied.Store(5); return works(q) }
	a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, MinSeq: 5})
	if err != nil || a.AppliedSeq != 0 || a.MinSeqApplied {
		t.Errorf("%v, applied %d, %v: want 0 and not applied", err, a.AppliedSeq, a.MinSeqApplied)
	}
}

// scripted is an embedder that behaves by the number of the call.
type scripted struct {
	calls []func() ([]float32, error)
	asked int
}

func (e *scripted) Embed(context.Context, string) ([]float32, error) {
	e.asked++
	return e.calls[min(e.asked, len(e.calls))-1]()
}

// An embedder that panics, fails, or gives nothing is a failure like any other, and one that works again is used again.
func TestContainedEmbedderComesBack(t *testing.T) {
	f := newFixture(t)
	e := &scripted{calls: []func() ([]float32, error){
		func() ([]float32, error) { return nil, errors.New("down") },
		func() ([]float32, error) { panic("no model") },
		func() ([]float32, error) { return nil, nil },
		func() ([]float32, error) { return query, nil },
	}}
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.Embedder, c.BreakerFailures, c.BreakerPause = e, 1, time.Millisecond })
	var notes []string
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) { // the breaker's pause is real time
		a, err := r.Search(t.Context(), Query{Space: f.space, Text: "about D"})
		if err != nil {
			t.Fatal(err)
		}
		if a.Recall == RecallDense {
			break
		}
		notes = append(notes, a.RecallNote)
		if time.Now().After(deadline) {
			t.Fatalf("never used again: %q", notes)
		}
	}
	all := strings.Join(notes, "; ")
	for _, want := range []string{"down", "panic: no model", "empty vector"} {
		if !strings.Contains(all, want) {
			t.Errorf("notes %q: want %q among them", all, want)
		}
	}
}

// A vector of the wrong length that the caller did not send is not the caller's mistake.
func TestEmbedderThatDoesNotFit(t *testing.T) {
	f := newFixture(t)
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.Embedder = &fixedEmbedder{vector: []float32{1, 0, 0}} })
	a, err := r.Search(t.Context(), Query{Space: f.space, Text: "about D"})
	if err != nil || a.Recall != RecallKeyword || !strings.Contains(a.RecallNote, "3 dimensions") || a.Results[0].ID != "D" {
		t.Errorf("%v, %s, %q", err, a.Recall, a.RecallNote)
	}
	if _, err := r.Search(t.Context(), Query{Space: f.space, Vector: []float32{1, 0, 0}}); !errors.Is(err, ErrBadQuery) {
		t.Errorf("the caller's own: %v", err)
	}
}

// noWords is a store without an index of words.
type noWords struct{ vdb.Store }

func (noWords) Keyword(context.Context, vdb.KeywordQuery) ([]vdb.Match, error) {
	return nil, vdb.ErrUnsupported
}

func TestNoWordsAndNoEmbedder(t *testing.T) {
	f := newFixture(t)
	down := f.reader(t, noWords{f.vectors}, nil, func(c *Config) { c.Embedder = &fixedEmbedder{err: errors.New("endpoint is down")} })
	if _, err := down.Search(t.Context(), Query{Space: f.space, Text: "x"}); !errors.Is(err, vdb.ErrUnavailable) || !strings.Contains(err.Error(), "endpoint is down") {
		t.Errorf("endpoint down: %v, want unavailable and why", err)
	}
	none := f.reader(t, noWords{f.vectors}, nil)
	if _, err := none.Search(t.Context(), Query{Space: f.space, Text: "x"}); !errors.Is(err, vdb.ErrUnsupported) {
		t.Errorf("no endpoint: %v, want unsupported", err)
	}
}

// Facts that a query's own condition keeps out are not named among the refusals, not even those the store was never asked about.
func TestRefusedNamesNothingFilteredOut(t *testing.T) {
	f, store := newMergeFixture(t)
	for id, cos := range map[string]float64{"A": .80, "B": .55, "D": .52, "X": .65, "Y": .62, "Z": .50} {
		tag := "public"
		if id == "X" || id == "Z" {
			tag = "secret"
		}
		f.put(t, point(f.space, id, cos, func(p *vdb.Payload) { p.Tags = []string{tag} }))
	}
	for topN, public := range map[int]string{50: "Y", 1: ""} {
		r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.Rerank.Expand.PrefilterTopN = topN })
		q := Query{Space: f.space, Vector: query, ExplainAll: true}
		open, err := r.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"public"}}}
		closed, err := r.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range closed.Refused {
			if x.ID != public {
				t.Errorf("top %d: %s is named", topN, x.ID)
			}
		}
		if topN == 1 && len(open.Refused) == 0 {
			t.Error("without a condition nothing is refused: the test shows nothing")
		}
	}
}
