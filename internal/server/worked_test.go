package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// missing is a store whose search does not find some facts, as that of an approximate index, or of a pool that ends before them.
type missing struct {
	vdb.Store
	ids []string
}

func (m missing) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	found, err := m.Store.Search(ctx, q)
	return slices.DeleteFunc(found, func(x vdb.Match) bool { return slices.Contains(m.ids, x.ID) }), err
}

type edge struct {
	from, to string
	kind     graphstore.RelationType
}

// world is a user, u, with facts of given cosines to (1, 0), some of which a search does not find, and edges of weight 1.
type world struct {
	facts map[string]float64
	unfit []string
	edges []edge
	edit  func(*reader.Config)
}

func (w world) server(t *testing.T) *Server {
	t.Helper()
	u, err := graphstore.NewSpace("u")
	if err != nil {
		t.Fatal(err)
	}
	store := vdbtest.NewMemory(2)
	var changes []graphstore.Change
	for id, cos := range w.facts {
		p := vdb.Point{Space: u, ID: id, Vector: []float32{float32(cos), float32(math.Sqrt(1 - cos*cos))}, Payload: vdb.Payload{Content: "about " + id}}
		if err := store.Upsert(t.Context(), []vdb.Point{p}); err != nil {
			t.Fatal(err)
		}
		changes = append(changes, graphstore.PutFact(u, graphstore.Fact{ID: id, State: graphstore.StateActive}))
	}
	for _, e := range w.edges {
		changes = append(changes, graphstore.PutEdge(u, graphstore.Edge{
			Source: e.from, Target: e.to, Type: e.kind, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: e.from},
		}))
	}
	snap, err := graphstore.NewSnapshot(u).With(changes)
	if err != nil {
		t.Fatal(err)
	}
	cfg := reader.Config{Rerank: rerank.DefaultSettings(), Logger: quiet(), Budget: 5 * time.Second, AppliedSeq: func() uint64 { return 40 }}
	if w.edit != nil {
		w.edit(&cfg)
	}
	r, err := reader.New(missing{store, w.unfit}, snapshot{snap}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return New(r, operator{health: Health{Ready: true}}, Config{
		Version: "test", Logger: quiet(), Settings: Settings{CalHi: cfg.Rerank.CalHi, Beta: cfg.Rerank.Beta, Gamma: cfg.Rerank.Expand.Gamma},
	})
}

func ask200(t *testing.T, s *Server, body string) SearchResponse {
	t.Helper()
	w := post(s, body)
	var got SearchResponse
	dec := json.NewDecoder(strings.NewReader(w.Body.String()))
	if err := dec.Decode(&got); err != nil || w.Code != http.StatusOK || got.GraphRerank.Status != "ok" {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return got
}

func scored(id string, score float64) string { return fmt.Sprintf("%s %.6f", id, score) }

// order is every place of an answer with its graph score, facts attached to it in brackets.
func order(a SearchResponse) (lines []string) {
	for _, r := range a.Results {
		line := scored(r.ID, r.GraphScore)
		for _, x := range r.Attached {
			line += fmt.Sprintf(" [%s from %s via %s hops %d relaxed %.6f]", scored(x.ID, x.GraphScore), x.ExpandedFrom, x.Via, x.Hops, x.Relaxed)
		}
		if r.ExpandedFrom != "" {
			line += fmt.Sprintf(" from %s via %s hops %d relaxed %.6f", r.ExpandedFrom, r.Via, r.Hops, *r.Relaxed)
		}
		lines = append(lines, line)
	}
	return lines
}

// sums checks what every explanation promises, on the numbers as they came in JSON.
func sums(t *testing.T, id string, score float64, x *Explanation) {
	t.Helper()
	if x == nil {
		t.Fatalf("%s: no explanation", id)
	}
	sum := x.Base
	for _, s := range x.Supporters {
		sum += s.Share
	}
	if p := x.Added; p != nil {
		sum = p.Parts.Base + p.Parts.Tie + p.Parts.Keyword + p.Parts.Episode + p.Parts.Held
	}
	if math.Abs(sum-score) > 1e-9 || math.Abs(x.Base+x.Boost-score) > 1e-9 {
		t.Errorf("%s: parts sum to %v, base and boost to %v, score %v", id, sum, x.Base+x.Boost, score)
	}
}

// W12: A .80 + .15*.9*.62 = .8837, D .62 + .15*.9*.80 = .728 overtakes B .70.
func TestSearchW12(t *testing.T) {
	s := world{facts: map[string]float64{"A": .80, "B": .70, "D": .62}, edges: []edge{{"A", "D", graphstore.Causes}}}.server(t)
	got := ask200(t, s, `{"user_id": "u", "vector": [1, 0], "explain": true, "min_seq": 40}`)
	if diff := cmp.Diff([]string{"A 0.883700", "D 0.728000", "B 0.700000"}, order(got)); diff != "" {
		t.Error(diff)
	}
	for _, r := range got.Results {
		sums(t, r.ID, r.GraphScore, r.Explanation)
	}
	if x := got.Results[1].Explanation; len(x.Supporters) != 1 || x.Supporters[0].ID != "A" || x.Supporters[0].Top != "causes" || math.Abs(x.Supporters[0].Share-.108) > 1e-6 {
		t.Errorf("D: %+v: want .15*.9*.80 = .108 from A over causes", x)
	}
	// A -causes-> D: .9 * sqrt(.80*.62) = .633846; the other pairs have no path of two hops.
	if p := got.RelatedPaths; len(p) != 1 || p[0].Text != "A -causes-> D" || math.Abs(p[0].Score-.633846) > 1e-6 {
		t.Errorf("paths %+v", p)
	}
	if got.AppliedSeq != 40 || got.MinSeqApplied == nil || !*got.MinSeqApplied {
		t.Errorf("applied %d, min_seq %v", got.AppliedSeq, got.MinSeqApplied)
	}
	if got.Settings == nil || got.Settings.Beta != .15 || got.Refused != nil {
		t.Errorf("settings %+v, refused %v: want the first only", got.Settings, got.Refused)
	}
	plain := ask200(t, s, `{"user_id": "u", "vector": [1, 0], "explain": false}`)
	if plain.Settings != nil || plain.Results[0].Explanation != nil || plain.MinSeqApplied != nil {
		t.Errorf("%+v: want nothing that was not asked for", plain)
	}
}

var w24 = world{
	facts: map[string]float64{"A": .80, "B": .55, "D": .52, "X": .65, "Y": .62, "Z": .50},
	unfit: []string{"X", "Y", "Z"},
	edges: []edge{{"A", "X", graphstore.Elaborates}, {"X", "Y", graphstore.CoOccurs}, {"B", "Z", graphstore.CoOccurs}},
}

// W24: X relaxed .80*.9, held at its seed; Y .62 + .3*.8*.9*.55*.6; Z held at B. Paths, of which A-X-Y shows no new hop:
// .9*sqrt(.80*.65) = .648999, .55*sqrt(.65*.62) = .3491526, .55*sqrt(.55*.50) = .288422.
func TestSearchW24Merge(t *testing.T) {
	got := ask200(t, w24.server(t), `{"user_id": "u", "vector": [1, 0], "explain": "all"}`)
	want := []string{
		"A 0.800000 [X 0.799999 from A via elaborates hops 1 relaxed 0.720000] [Y 0.691280 from A via elaborates hops 2 relaxed 0.237600]",
		"B 0.550000 [Z 0.549999 from B via co_occurs hops 1 relaxed 0.302500]",
		"D 0.520000",
	}
	if diff := cmp.Diff(want, order(got)); diff != "" {
		t.Error(diff)
	}
	for _, r := range got.Results {
		sums(t, r.ID, r.GraphScore, r.Explanation)
		for _, x := range r.Attached {
			sums(t, x.ID, x.GraphScore, x.Explanation)
		}
	}
	y := got.Results[0].Attached[1]
	if x := y.Explanation.Added; math.Abs(x.Parts.Tie-.07128) > 1e-6 || math.Abs(x.GateMargin-.02) > 1e-6 || !slices.Equal(x.Path, []string{"A", "X", "Y"}) || x.Quota != 6 || x.QuotaPlace != 2 {
		t.Errorf("Y: %+v: want tie .3*.2376, margin .62-(.80-.20), the second of 6 over elaborates", x)
	}
	if y.Payload["content"] != "about Y" || math.Abs(y.Score-.62) > 1e-6 {
		t.Errorf("Y: %+v", y)
	}
	var paths []string
	for _, p := range got.RelatedPaths {
		paths = append(paths, fmt.Sprintf("%s %.6f", p.Text, p.Score))
	}
	if diff := cmp.Diff([]string{"A -elaborates-> X 0.648999", "X -co_occurs- Y 0.349153", "B -co_occurs- Z 0.288422"}, paths); diff != "" {
		t.Error(diff)
	}
	if h := got.RelatedPaths[0].Hops[0]; h.From != "A" || h.To != "X" || h.Type != "elaborates" || h.Direction != "forward" || math.Abs(h.Weight-.9) > 1e-9 || len(h.Relations) != 1 {
		t.Errorf("hop %+v", h)
	}
	if g := got.GraphRerank; g.Pool != 3 || g.Seeds != 3 || g.Nominated != 3 || g.Fetched != 3 || g.Admitted != 3 || g.GatedOut+g.QuotaDropped+g.Beyond+g.Unfit+g.Discarded != 0 || g.Paths != 3 {
		t.Errorf("account %+v", g)
	}
	for _, stage := range []string{reader.StageView, reader.StageSupport, reader.StageWalk, reader.StageVectors, reader.StageAdmit, reader.StagePaths} {
		if _, ok := got.GraphRerank.StagesMS[stage]; !ok {
			t.Errorf("stages %v: %s is missing", got.GraphRerank.StagesMS, stage)
		}
	}
}

// W25: the same facts compete for places.
func TestSearchW25Separate(t *testing.T) {
	w := w24
	w.edit = func(c *reader.Config) {
		c.Rerank.Expand.MergeSeed, c.Rerank.Expand.DeltaSeparate, c.Rerank.Expand.ExtraShare = false, .2, 1
	}
	got := ask200(t, w.server(t), `{"user_id": "u", "vector": [1, 0], "k": 6, "explain": true}`)
	want := []string{
		"A 0.800000", "X 0.799999 from A via elaborates hops 1 relaxed 0.720000", "Y 0.691280 from A via elaborates hops 2 relaxed 0.237600",
		"B 0.550000", "Z 0.549999 from B via co_occurs hops 1 relaxed 0.302500", "D 0.520000",
	}
	if diff := cmp.Diff(want, order(got)); diff != "" {
		t.Error(diff)
	}
	for i, r := range got.Results {
		sums(t, r.ID, r.GraphScore, r.Explanation)
		if r.RankAfter != i+1 || (r.ExpandedFrom != "") != (r.RankBefore == 0) {
			t.Errorf("%s: ranks %d to %d: want 0 before for an added one", r.ID, r.RankBefore, r.RankAfter)
		}
	}
}

// W14: .59 is .01 below the gate at .80-.20.
func TestSearchSaysWhyRefused(t *testing.T) {
	s := world{facts: map[string]float64{"A": .80, "X": .59}, unfit: []string{"X"}, edges: []edge{{"A", "X", graphstore.CoOccurs}}}.server(t)
	got := ask200(t, s, `{"user_id": "u", "vector": [1, 0], "explain": "all"}`)
	if len(got.Refused) != 1 {
		t.Fatalf("%+v", got.Refused)
	}
	r := got.Refused[0]
	if r.ID != "X" || r.Reason != "gate" || r.ExpandedFrom != "A" || r.Base == nil || math.Abs(*r.Base-.59) > 1e-6 || math.Abs(*r.GateMargin+.01) > 1e-6 || math.Abs(r.Relaxed-.44) > 1e-6 {
		t.Errorf("%+v", r)
	}
	if got.GraphRerank.GatedOut != 1 {
		t.Errorf("account %+v", got.GraphRerank)
	}
}

// An event that does not come in time is said so; the answer is given.
func TestSearchMinSeqNotReached(t *testing.T) {
	w := w24
	w.edit = func(c *reader.Config) { c.Budget = 300 * time.Millisecond }
	got := ask200(t, w.server(t), `{"user_id": "u", "vector": [1, 0], "min_seq": 41}`)
	if got.MinSeqApplied == nil || *got.MinSeqApplied || got.AppliedSeq != 40 || len(got.Results) != 3 {
		t.Errorf("%+v", got)
	}
}

// The words of a hybrid search count beside its vector: with weight .7 and half 5, a fused score is .7*cosine without a word.
func TestSearchModes(t *testing.T) {
	s := world{facts: map[string]float64{"A": .80, "B": .70}}.server(t)
	got := ask200(t, s, `{"user_id": "u", "vector": [1, 0], "text": "nothing shared", "mode": "hybrid"}`)
	if got.Recall != "hybrid" || len(got.Results) != 2 {
		t.Fatalf("%+v", got)
	}
	c := got.Results[0].Channels
	if c == nil || c.Keyword != nil || !c.DenseFound || math.Abs(*c.Dense-.80) > 1e-6 || math.Abs(c.Fused-.56) > 1e-6 || math.Abs(got.Results[0].Score-.56) > 1e-6 {
		t.Errorf("%+v", c)
	}
	for body, want := range map[string][2]string{
		`{"user_id": "u", "text": "about", "mode": "keyword"}`: {"keyword", ""},
		`{"user_id": "u", "text": "about"}`:                    {"keyword", "no embeddings endpoint is configured"},
	} {
		w := post(s, body)
		var got SearchResponse
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Recall != want[0] || !strings.Contains(got.RecallNote, want[1]) || (want[1] == "") != (got.RecallNote == "") {
			t.Errorf("%s: %s: want %v", body, w.Body, want)
		}
	}
}
