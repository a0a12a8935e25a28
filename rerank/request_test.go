package rerank_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

func TestBadRequests(t *testing.T) {
	cases := []struct {
		name   string
		change func(*rerank.Request)
		want   string
	}{
		{"no space", func(q *rerank.Request) { q.Space = graphstore.Space{} }, "user id is empty"},
		{"graph of another user", func(q *rerank.Request) { q.Graph = graphstore.NewSnapshot(spaceOf(t, "eve")) }, `graph of space "eve"`},
		{"no time", func(q *rerank.Request) { q.Now = 0 }, "now: absent"},
		{"empty id", func(q *rerank.Request) { q.Pool[1].ID = "" }, "pool[1]: id is empty"},
		{"pool too large", func(q *rerank.Request) { q.Pool = make([]rerank.Candidate, rerank.MaxPool+1) }, "pool: 10001 candidates: want at most 10000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := requestOf(t, poolOf(t, "A:.8 B:.6"), nil)
			c.change(&q)
			_, err := newRanker(t, nil).Rerank(q)
			if !errors.Is(err, rerank.ErrBadRequest) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	q := requestOf(t, nil, nil)
	if res := mustRank(t, newRanker(t, nil), q); len(res.Items) != 0 || len(res.Removed) != 0 {
		t.Errorf("empty pool: %+v", res)
	}
}

func TestRemovedHaveReasons(t *testing.T) {
	pool := poolOf(t, "A:.9 B:.8 C:.7 D:.6 E:.5 F:.4 A:.3 D:.2")
	pool[1].Space = spaceOf(t, "eve")
	pool[2].Space = graphstore.Space{}
	pool[3].State = "shadowed" // its second mention is in order and stays
	pool[4].ValidFrom = day(21)
	pool[5].ValidTo = day(20)
	got := mustRank(t, newRanker(t, nil), requestOf(t, pool, nil))
	want := []rerank.Removed{
		{ID: "B", Index: 1, Reason: rerank.ReasonOtherSpace}, {ID: "C", Index: 2, Reason: rerank.ReasonOtherSpace},
		{ID: "D", Index: 3, Reason: rerank.ReasonState}, {ID: "E", Index: 4, Reason: rerank.ReasonNotYet},
		{ID: "F", Index: 5, Reason: rerank.ReasonNoLonger}, {ID: "A", Index: 6, Reason: rerank.ReasonDuplicate},
	}
	if diff := cmp.Diff(want, got.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	wantItems(t, got, "A .9 D .2")
}

// TestTheStoreDecides: the graph may lag behind; a fact it calls deleted still ranks if the store returned it as active,
// and one it calls active does not if the store says otherwise.
func TestTheStoreDecides(t *testing.T) {
	g := graphOf(t, "A>B causes 1; A>C causes 1", graphstore.Fact{ID: "A", State: graphstore.StateDeleted},
		graphstore.Fact{ID: "B", State: graphstore.StateUnseen}, graphstore.Fact{ID: "C", State: graphstore.StateActive})
	pool := poolOf(t, "A:.80 B:.60 C:.59")
	pool[2].State = "superseded"
	// A and B support each other: .8+.15*.9*.6, .6+.15*.9*.8
	wantItems(t, mustRank(t, newRanker(t, nil), requestOf(t, pool, g)), "A .881 B .708")
}

func TestNonFiniteCosineKeepsItsPlace(t *testing.T) {
	pool := poolOf(t, "A:.80 B:.70 C:-.10 N:0 D:-.20 E:-.30")
	pool[3].Cosine = math.NaN()
	res := mustRank(t, newRanker(t, nil), requestOf(t, pool, graphOf(t, "A-B co_occurs 1; N-E causes 1")))
	// A .8+.15*.55*.7, B .7+.15*.55*.8; N sends nothing, so E stays at 0 and so do C, N, D in their order
	wantItems(t, res, "A .85775 B .766 C 0 N 0 D 0 E 0")
}

// TestNonFiniteCosineSupportsNobody: not even as one more neighbour that dilutes the others, where there is no floor.
func TestNonFiniteCosineSupportsNobody(t *testing.T) {
	pool := poolOf(t, "A:.80 V:.60 N:0")
	pool[2].Cosine = math.Inf(1)
	r := newRanker(t, func(s *rerank.Settings) { s.SenderFloor = 0 })
	res := mustRank(t, r, requestOf(t, pool, graphOf(t, "V-A co_occurs 1; V-N co_occurs 1")))
	// V .6+.15*.55*.8 as in W20a; N .15*.55*.6
	wantItems(t, res, "A .8495 V .666 N .0495")
}

// TestRelevanceReplacesTheCosine: a pool fused from two channels keeps its order where the graph says nothing.
func TestRelevanceReplacesTheCosine(t *testing.T) {
	pool := poolOf(t, "A:.40 B:.80 C:.30 D:.20")
	for i, relevance := range []float64{.9, .7, .65, .2} {
		pool[i].Relevance = &relevance
	}
	res := mustRank(t, newRanker(t, nil), requestOf(t, pool, graphOf(t, "A>C causes 1")))
	// C .65+.15*.9*.9 passes B; A .9+.15*.9*.65
	wantItems(t, res, "A .98775 C .7715 B .7 D .2")
	if res.Items[0].Score != .40 {
		t.Errorf("score %v: want the cosine as it came", res.Items[0].Score)
	}
}
