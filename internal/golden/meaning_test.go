package golden

import (
	"context"
	"maps"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
)

// The plain arm is the order of the exact cosines of all facts of the user that are active and valid. Facts may change places
// only where their exact cosines are closer than the store rounds.
func plainIsTheOrderOfAllCosines(t *testing.T, w *world, _ []answers) {
	for i := range w.data.questions {
		q := &w.data.questions[i]
		for _, k := range []int{reader.DefaultK, reader.MaxPool} {
			got, err := w.ask(w.standard, q, reader.GraphOff, k, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := byCosine(&w.data, q)
			sameOrder(t, q, got.items, want[:min(k, len(want))], want)
		}
	}
}

func sameOrder(t *testing.T, q *sample.Question, got []item, want, all []scored) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("question %s: %d results: want %d", q.ID, len(got), len(want))
	}
	exact := map[string]float64{}
	for _, f := range all {
		exact[f.point.ID] = f.cosine
	}
	for i := range got {
		cos, known := exact[got[i].id]
		if !known || !closeTo(got[i].score, cos, roundingOfStore) || !closeTo(cos, want[i].cosine, 2*roundingOfStore) {
			t.Errorf("question %s: place %d: %s with %f: want %s with %f", q.ID, i+1, got[i].id, got[i].score, want[i].point.ID, want[i].cosine)
		}
	}
}

// The default arm and the expanding one are what the four calls of the ranking make of exact cosines, put together by hand.
func armsAreTheFourCallsByHand(t *testing.T, w *world, all []answers) {
	attached := 0
	for i := range all {
		q := all[i].question
		sameItems(t, q, all[i].by[armDefault][0], byHand(t, w, rerank.DefaultSettings(), reader.MinPool, q))
		want := byHand(t, w, expandingSettings(), reader.DefaultK, q)
		sameItems(t, q, all[i].by[armExpand][0], want)
		attached += len(want.items) - reader.DefaultK
	}
	if attached <= 0 {
		t.Error("nothing was attached: the expanding arm shows nothing of expansion")
	}
}

func sameItems(t *testing.T, q *sample.Question, got, want shown) {
	t.Helper()
	if len(got.items) != len(want.items) {
		t.Errorf("question %s: %d items: want %d", q.ID, len(got.items), len(want.items))
		return
	}
	for i, g := range got.items {
		h := want.items[i]
		if g.id != h.id || !closeTo(g.graph, h.graph, 3*roundingOfStore) || (g.attached == nil) != (h.attached == nil) {
			t.Errorf("question %s: item %d: %s %f: want %s %f", q.ID, i+1, g.id, g.graph, h.id, h.graph)
		}
	}
}

// What the graph added to a score is the sum of the shares of its supporters; of an attached fact it is gamma times its
// tie, held back where the score would pass that of its seed.
func explanationsSumUp(t *testing.T, w *world, _ []answers) {
	boosted, attached := 0, 0
	for i := range w.data.questions {
		q := &w.data.questions[i]
		space, err := graphstore.NewSpace(q.UserID)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*reader.Reader{w.standard, w.reference, w.expanding} {
			a, err := r.Search(context.Background(), reader.Query{Space: space, Vector: q.Vector, K: 10, Pool: 10, Graph: reader.GraphStrict, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			for j := range a.Results {
				if sumsUp(t, q, &a.Results[j]) {
					boosted++
				}
				attached += len(a.Results[j].Attached)
			}
		}
	}
	if boosted == 0 || attached == 0 {
		t.Errorf("%d boosted, %d attached: there was nothing to sum up", boosted, attached)
	}
}

func sumsUp(t *testing.T, q *sample.Question, res *reader.Result) (boosted bool) {
	t.Helper()
	sum := res.Base
	for _, s := range res.Explanation.Supporters {
		sum += s.Share
	}
	if !closeTo(sum, res.GraphScore, 1e-9) {
		t.Errorf("question %s: %s: base and shares are %.12f, the score %.12f", q.ID, res.ID, sum, res.GraphScore)
	}
	for i := range res.Attached {
		n := &res.Attached[i]
		parts, gamma := n.Expansion.Parts, rerank.DefaultSettings().Expand.Gamma
		sum := parts.Base + parts.Tie + parts.Keyword + parts.Episode + parts.Held
		want := min(n.Base+gamma*n.Expansion.Relaxed, res.GraphScore-1e-6)
		if !closeTo(n.GraphScore, want, 1e-9) || !closeTo(n.GraphScore, sum, 1e-9) || n.Expansion.Seed != res.ID {
			t.Errorf("question %s: %s, attached to %s for %s: score %.12f: want %.12f, the parts sum to %.12f", q.ID, n.ID, res.ID, n.Expansion.Seed, n.GraphScore, want, sum)
		}
	}
	return res.GraphScore > res.Base
}

// A relabelled graph is a control only if it is the true graph with other names: as many facts in every state, edges of every
// type, entities and topics, of every user.
func relabellingKeepsTheShape(t *testing.T, w *world, _ []answers) {
	again := map[uint64]graphs{}
	for _, seed := range []uint64{0, 1, 0} {
		g, err := project(relabel(w.data, seed))
		if err != nil {
			t.Fatal(err)
		}
		for space, snap := range g {
			if got, want := shape(snap), shape(w.graph[space]); !maps.Equal(got, want) {
				t.Errorf("seed %d: %s: %v: want %v", seed, space, got, want)
			}
			if snap.Digest() == w.graph[space].Digest() {
				t.Errorf("seed %d: %s is the true graph", seed, space)
			}
			if before := again[seed]; before != nil && before[space].Digest() != snap.Digest() {
				t.Errorf("seed %d: %s is another graph the second time", seed, space)
			}
		}
		again[seed] = g
	}
}

// shape counts the records of a graph by what they are.
func shape(s *graphstore.Snapshot) map[string]int {
	counts := map[string]int{"edges": s.Edges(), "entities": s.Entities(), "topics": s.Topics(), "unseen": s.Unseen()}
	for n := range s.Nodes() {
		counts["fact "+s.State(n).String()]++
		counts["links"] += len(s.Links(n))
		for _, l := range s.Links(n) {
			counts["link "+l.Type.String()]++
		}
	}
	return counts
}

// The equal-item controls show exactly as many items as their arm, in the plain order.
func equalItemsAreEqual(t *testing.T, _ *world, all []answers) {
	for i := range all {
		equalItems(t, &all[i], armEqual, armDefault)
		equalItems(t, &all[i], armEqualWider, armExpand)
	}
}

func equalItems(t *testing.T, a *answers, controlArm, arm string) {
	t.Helper()
	plain, control, with := a.by[armPlain][0].ids(), a.by[controlArm][0].ids(), a.by[arm][0].ids()
	if len(control) != len(with) || len(control) < len(plain) {
		t.Errorf("question %s: %d items: want %d, and not fewer than %d", a.question.ID, len(control), len(with), len(plain))
		return
	}
	for i, id := range plain {
		if control[i] != id {
			t.Errorf("question %s: place %d: %s: want %s", a.question.ID, i+1, control[i], id)
		}
	}
}

// On the questions that several facts answer together, and so need a connection, graphs that say of every fact what is true of
// another are not better than the true one.
func relabelledIsNotBetter(t *testing.T, _ *world, all []answers) {
	for _, g := range groups(all) {
		if g.name != sample.KindMultiHop {
			continue
		}
		for _, m := range []string{"recall@5", recallTen, ndcgTen, "recall"} {
			if with, control := g.mean(armDefault, m), g.mean(armRelabel, m); control > with {
				t.Errorf("%s: relabelled %.4f, true %.4f: the connections do not matter", m, control, with)
			}
		}
		return
	}
	t.Error("no multi-hop questions")
}
