package reader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// twoLists is a store whose hybrid answer is given.
type twoLists struct {
	vdb.Store
	both vdb.HybridMatches
}

func (s twoLists) Hybrid(context.Context, vdb.HybridQuery) (vdb.HybridMatches, error) {
	return s.both, nil
}

func match(s graphstore.Space, id string, score float64) vdb.Match {
	return vdb.Match{Point: vdb.Point{Space: s, ID: id, Payload: vdb.Payload{State: "active"}}, Score: score}
}

// Fused with weight .7 and half 5, calibrated from .2 to .7:
//
//	A: cosine .60 -> .8, keyword 5 -> .5: .7*.8+.3*.5 = .71
//	B: cosine .65 -> .9, no word:         .7*.9       = .63
//	C: keyword 15 -> .75, not among the nearest (cosine .40 is known, and counts 0): .3*.75 = .225
//	D: cosine .10 -> 0 below the calibration, no word: 0
func TestHybridFusesRawScores(t *testing.T) {
	f := newFixture(t)
	s := f.space
	store := twoLists{f.vectors, vdb.HybridMatches{
		Dense:   []vdb.Match{match(s, "B", .65), match(s, "A", .60), match(s, "D", .10)},
		Keyword: []vdb.Match{match(s, "C", 15), match(s, "A", 5)},
		Cosines: []float64{.40, .60},
	}}
	r := f.reader(t, store, nil, func(c *Config) { c.Rerank.CalLo, c.Rerank.CalHi = .2, .7 })
	a, err := r.Search(t.Context(), Query{Space: s, Vector: query, Text: "words", Mode: ModeHybrid})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range a.Results {
		line := fmt.Sprintf("%s %.4f dense", x.ID, x.Score)
		if x.Channels.Dense != nil {
			line += fmt.Sprintf(" %.2f found %v", *x.Channels.Dense, x.Channels.DenseFound)
		}
		if x.Channels.Keyword != nil {
			line += fmt.Sprintf(" keyword %v", *x.Channels.Keyword)
		}
		got = append(got, line)
	}
	want := []string{"A 0.7100 dense 0.60 found true keyword 5", "B 0.6300 dense 0.65 found true", "C 0.2250 dense 0.40 found false keyword 15", "D 0.0000 dense 0.10 found true"}
	if diff := cmp.Diff(want, got); diff != "" || a.Recall != RecallHybrid {
		t.Errorf("%s (-want +got):\n%s", a.Recall, diff)
	}
}

// The graph ranks a hybrid pool from its fused scores: with D causes A and beta .15, A .71 and D .40 become .71 + .15*.9*.40 = .764
// and .40 + .15*.9*.71 = .49585.
func TestHybridIsRankedByTheGraph(t *testing.T) {
	f := newFixture(t)
	s := f.space

	store := twoLists{f.vectors, vdb.HybridMatches{
		Dense:   []vdb.Match{match(s, "B", .63/.7), match(s, "A", .8)},
		Keyword: []vdb.Match{match(s, "A", 5), match(s, "D", 1e18), match(newSpace(t, "other"), "Z", 9)},
		Cosines: []float64{.8, math.NaN(), .1},
	}}
	r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.Rerank.Expand.Gamma = 0 })
	a, err := r.Search(t.Context(), Query{Space: s, Vector: query, Text: "words", Mode: ModeHybrid, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	// A .7*.8+.3*.5 = .71, B .63, D .3*1 = .30 (the sender floor, with its hair): A .71+.135*.30 = .7505, D .30+.135*.71 = .39585
	var got []string
	for _, x := range a.Results {
		got = append(got, fmt.Sprintf("%s %.5f %.5f", x.ID, x.Base, x.GraphScore))
	}
	if diff := cmp.Diff([]string{"A 0.71000 0.75050", "B 0.63000 0.63000", "D 0.30000 0.39585"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Rerank.Foreign != 1 {
		t.Errorf("%d foreign facts dropped, want 1", a.Rerank.Foreign)
	}
}

// The word finds what no vector is near to, in each script by the same spelling, through a whole store.
func TestHybridFindsWordsOfAnyScript(t *testing.T) {
	s := newSpace(t, "u")
	f := fixture{space: s, vectors: vdbtest.NewMemory(2), snap: graphstore.NewSnapshot(s)}
	words := map[string]string{"han": "咖啡", "hindi": "कॉफ़ी", "french": "café", "english": "coffee"}
	for id, word := range words {
		f.put(t, point(s, id, -.5, func(p *vdb.Payload) { p.Content = "she likes " + word + " very much" }))
	}
	for i := range 60 {
		f.put(t, point(s, fmt.Sprintf("near%d", i), .9))
	}
	r := f.reader(t, f.vectors, fixedGraph{f.snap})
	for id, word := range words {
		a, err := r.Search(t.Context(), Query{Space: s, Vector: query, Text: word, Mode: ModeHybrid, K: 64})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, x := range a.Results {
			if x.Channels.Keyword != nil {
				found[x.ID] = true
			}
		}
		if len(found) != 1 || !found[id] {
			t.Errorf("%s finds %v, want %s alone", word, found, id)
		}
		dense, err := r.Search(t.Context(), Query{Space: s, Vector: query, K: 50})
		if err != nil || strings.Contains(order(dense), id) {
			t.Errorf("%s is near by its vector: the test shows nothing: %v", id, err)
		}
	}
}

// fixedEmbedder gives one vector for every text.
type fixedEmbedder struct {
	vector []float32
	err    error
	asked  atomic.Int64
}

func (e *fixedEmbedder) Embed(context.Context, string) ([]float32, error) {
	e.asked.Add(1)
	return e.vector, e.err
}

func TestTextIsEmbeddedOrSearchedByKeyword(t *testing.T) {
	f := newFixture(t)
	text := "about D"
	for name, tc := range map[string]struct {
		embedder Embedder
		mode     Mode
		want     Recall
		first    string
		note     string
	}{
		"embedded":            {&fixedEmbedder{vector: query}, "", RecallDense, "A", ""},
		"embedded for hybrid": {&fixedEmbedder{vector: query}, ModeHybrid, RecallHybrid, "", ""},
		"no endpoint":         {nil, "", RecallKeyword, "D", "no embeddings endpoint"},
		"endpoint fails":      {&fixedEmbedder{err: errors.New("model is gone")}, "", RecallKeyword, "D", "model is gone"},
		"hybrid without":      {nil, ModeHybrid, RecallKeyword, "D", "no embeddings endpoint"},
		"keyword asked for":   {&fixedEmbedder{vector: query}, ModeKeyword, RecallKeyword, "D", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) {
				if tc.embedder != nil {
					c.Embedder = tc.embedder
				}
			})
			a, err := r.Search(t.Context(), Query{Space: f.space, Text: text, Mode: tc.mode})
			if err != nil || len(a.Results) == 0 {
				t.Fatalf("%v, %d results", err, len(a.Results))
			}
			if a.Recall != tc.want || !strings.Contains(a.RecallNote, tc.note) || (tc.note == "") != (a.RecallNote == "") {
				t.Errorf("recall %s, note %q", a.Recall, a.RecallNote)
			}
			if tc.first != "" && a.Results[0].ID != tc.first {
				t.Errorf("%s is first, want %s", a.Results[0].ID, tc.first)
			}
			if ranked := a.Rerank.Status == StatusOK; ranked != (tc.want != RecallKeyword) {
				t.Errorf("account: %+v", a.Rerank)
			}
			if e, ok := tc.embedder.(*fixedEmbedder); ok && tc.mode != ModeKeyword && e.asked.Load() != 1 {
				t.Errorf("endpoint was asked %d times", e.asked.Load())
			}
		})
	}
}

func TestCancelledWhileEmbedding(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := f.reader(t, f.vectors, nil, func(c *Config) { c.Embedder = cancelling{cancel} })
	if _, err := r.Search(ctx, Query{Space: f.space, Text: "about D"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the caller's own cancellation", err)
	}
}

type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Embed(context.Context, string) ([]float32, error) {
	c.cancel()
	return nil, errors.New("aborted")
}

func TestMinSeq(t *testing.T) {
	f := newFixture(t)
	var applied atomic.Uint64
	applied.Store(7)
	r := f.reader(t, f.vectors, fixedGraph{f.snap}, func(c *Config) { c.AppliedSeq = applied.Load; c.Budget = 300 * time.Millisecond })
	search := func(min uint64, use GraphUse) Answer {
		t.Helper()
		a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, MinSeq: min, Graph: use})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := search(7, GraphOn); a.AppliedSeq != 7 || !a.MinSeqApplied {
		t.Errorf("is there: %d, %v", a.AppliedSeq, a.MinSeqApplied)
	}
	if a := search(8, GraphOn); a.AppliedSeq != 7 || a.MinSeqApplied || a.Rerank.Status != StatusOK || order(a) != "A D B" {
		t.Errorf("does not come: %d, %v, %+v: want the graph as it is, and said so", a.AppliedSeq, a.MinSeqApplied, a.Rerank)
	}
	if a := search(8, GraphOff); a.AppliedSeq != 7 || a.MinSeqApplied || a.Rerank.GraphTook != 0 {
		t.Errorf("graph off: %d, %v, waited %v", a.AppliedSeq, a.MinSeqApplied, a.Rerank.GraphTook)
	}
	coming := make(chan struct{})
	r.cfg.AppliedSeq = func() uint64 {
		select {
		case <-coming:
			return 9
		default:
			close(coming)
			return 7
		}
	}
	if a := search(9, GraphOn); a.AppliedSeq != 9 || !a.MinSeqApplied {
		t.Errorf("comes while waiting: %d, %v", a.AppliedSeq, a.MinSeqApplied)
	}
}

// The parts of every score sum to it, with everything on.
func TestPropertyExplanationsSum(t *testing.T) {
	f, store := newMergeFixture(t)
	for _, merge := range []bool{true, false} {
		r := f.reader(t, store, fixedGraph{f.snap}, func(c *Config) { c.Rerank.Expand.MergeSeed, c.Rerank.Expand.ExtraShare = merge, 1 })
		a, err := r.Search(t.Context(), Query{Space: f.space, Vector: query, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, x := range a.Results {
			for _, x := range append([]Result{x}, x.Attached...) {
				seen++
				sum := x.Base
				if x.Explanation != nil {
					for _, s := range x.Explanation.Supporters {
						sum += s.Share
					}
				}
				if x.Expansion != nil {
					sum = x.Expansion.Parts.Sum()
				}
				if math.Abs(sum-x.GraphScore) > 1e-9 {
					t.Errorf("%s: the parts make %v, the score is %v", x.ID, sum, x.GraphScore)
				}
			}
		}
		if seen != 6 {
			t.Errorf("%d facts, want 6", seen)
		}
	}
}

// Eight clients search while the graph's snapshots are replaced by equal ones and points are written for another user: every answer is
// the serial one.
func TestConcurrentSearchesAreTheSerialOnes(t *testing.T) {
	f, store := newMergeFixture(t)
	r := f.reader(t, store, fixedGraph{f.snap})
	queries := make([]Query, 40)
	want := make([]string, len(queries))
	render := func(a Answer) string {
		var b strings.Builder
		for _, x := range a.Results {
			fmt.Fprintf(&b, "%s %x %x %d;", x.ID, x.GraphScore, x.Base, x.RankAfter)
			for _, y := range x.Attached {
				fmt.Fprintf(&b, "+%s %x;", y.ID, y.GraphScore)
			}
		}
		for _, p := range a.Paths {
			fmt.Fprintf(&b, "%s %x;", p.String(), p.Score)
		}
		return b.String()
	}
	for i := range queries {
		angle := float64(i) * .03
		queries[i] = Query{Space: f.space, Vector: []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}, K: 1 + i%5, Explain: i%2 == 0}
		a, err := r.Search(t.Context(), queries[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i] = render(a)
	}
	distinct := append([]string(nil), want...)
	sort.Strings(distinct)
	if distinct[0] == distinct[len(distinct)-1] {
		t.Fatal("all answers are equal: the test shows nothing")
	}
	done := make(chan struct{})
	go func() { // writes going on
		defer close(done)
		other := newSpace(t, "other")
		for i := range 300 {
			if err := f.vectors.Upsert(context.Background(), []vdb.Point{point(other, fmt.Sprint(i%50), .9)}); err != nil {
				t.Error(err)
			}
		}
	}()
	errs := make(chan error, 8)
	for c := range 8 {
		go func() {
			for n := range 200 {
				i := (n*7 + c) % len(queries)
				a, err := r.Search(context.Background(), queries[i])
				if err == nil && render(a) != want[i] {
					err = fmt.Errorf("query %d: %s, serially %s", i, render(a), want[i])
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	<-done
}

// failingEmbedder fails by the text: "down" is its own fault, "odd" the text's.
type failingEmbedder struct{ asked int }

func (e *failingEmbedder) Embed(_ context.Context, text string) ([]float32, error) {
	e.asked++
	return nil, errors.New(text)
}

func (e *failingEmbedder) Fault(err error) bool { return err.Error() == "down" }

// An endpoint that is down is not asked for every search; one that refuses texts is.
func TestContainedEmbedder(t *testing.T) {
	f := newFixture(t)
	for text, want := range map[string]int{"down": 3, "odd": 6} {
		e := &failingEmbedder{}
		r := f.reader(t, f.vectors, nil, func(c *Config) { c.Embedder, c.BreakerFailures, c.BreakerPause = e, 3, time.Hour })
		for range 6 {
			a, err := r.Search(t.Context(), Query{Space: f.space, Text: text})
			if err != nil || a.Recall != RecallKeyword || a.RecallNote == "" {
				t.Fatalf("%v, %+v", err, a)
			}
		}
		if e.asked != want {
			t.Errorf("%s: asked %d times, want %d", text, e.asked, want)
		}
	}
}
