package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// smallWorld is a user, u, with facts of given cosines to (1, 0) and edges "A>X elaborates" of weight 1. What unfit names is not found
// by a search, as in an approximate index.
type smallWorld struct {
	facts map[string]float64
	edges []string
	unfit string
	edit  func(*reader.Config)
}

type unfit struct {
	vdb.Store
	ids []string
}

func (s unfit) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	found, err := s.Store.Search(ctx, q)
	return slices.DeleteFunc(found, func(m vdb.Match) bool { return slices.Contains(s.ids, m.ID) }), err
}

type oneGraph struct{ snap *graphstore.Snapshot }

func (g oneGraph) Acquire(context.Context, graphstore.Space) (*graphstore.Snapshot, error) {
	return g.snap, nil
}

// client returns a client of a service over the world.
func (w smallWorld) client(t *testing.T) *client {
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
		ends, name, _ := strings.Cut(e, " ")
		from, to, _ := strings.Cut(ends, ">")
		kind, err := graphstore.ParseRelationType(name)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, graphstore.PutEdge(u, graphstore.Edge{
			Source: from, Target: to, Type: kind, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: from},
		}))
	}
	snap, err := graphstore.NewSnapshot(u).With(changes)
	if err != nil {
		t.Fatal(err)
	}
	cfg := reader.Config{Rerank: rerank.DefaultSettings(), Budget: 5 * time.Second}
	if w.edit != nil {
		w.edit(&cfg)
	}
	r, err := reader.New(unfit{store, strings.Fields(w.unfit)}, oneGraph{snap}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	handler := server.New(r, struct{ server.Operator }{}, server.Config{Settings: explained(cfg)}).Handler()
	return &client{base: "http://localhost", http: &http.Client{Transport: handlerTransport{handler}}}
}

// explain returns what kith explain prints of a fact for the question (1, 0).
func (w smallWorld) explain(t *testing.T, id string, k int) (string, error) {
	t.Helper()
	var out bytes.Buffer
	x := explainer{e: &env{ctx: t.Context(), stdout: &out}, cl: w.client(t), id: id, req: server.SearchRequest{
		UserID: "u", Vector: []float32{1, 0}, K: &k, Explain: server.ExplainAll,
	}}
	err := x.run()
	return toSix(out.String()), err
}

// toSix rounds numbers of nine places to six: vectors are of 32 bits.
func toSix(text string) string {
	return regexp.MustCompile(`\d\.\d{9}`).ReplaceAllStringFunc(text, func(s string) string {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("%.6f", x)
	})
}

var w12 = smallWorld{facts: map[string]float64{"A": .80, "B": .70, "D": .62}, edges: []string{"A>D causes"}}

var w24 = smallWorld{
	facts: map[string]float64{"A": .80, "B": .55, "D": .52, "X": .65, "Y": .62, "Z": .50},
	edges: []string{"A>X elaborates", "X>Y co_occurs", "B>Z co_occurs"}, unfit: "X Y Z",
}

func TestExplain(t *testing.T) {
	calibrated := w12
	calibrated.edit = func(c *reader.Config) { c.Rerank.CalLo, c.Rerank.CalHi = .1, 1 }
	separate := w24
	separate.edit = func(c *reader.Config) {
		c.Rerank.Expand.MergeSeed, c.Rerank.Expand.DeltaSeparate, c.Rerank.Expand.ExtraShare = false, .2, 1
	}
	capped := smallWorld{facts: map[string]float64{"A": 1, "B": 1, "D": 1, "E": 1, "H": .60}, edges: []string{"H>A causes", "H>B causes", "H>D causes", "H>E causes"}}
	many := smallWorld{facts: map[string]float64{}}
	for i := range 60 {
		many.facts[fmt.Sprintf("f%02d", i+1)] = .9 - float64(i)/100
	}
	for name, tc := range map[string]struct {
		world smallWorld
		id    string
		k     int
		want  []string
	}{
		"W12: .62 + .15*.9*.80 = .728": {w12, "D", 10, []string{
			"D  about D\nplace 2; place 3 in the recall", "graph score 0.728000", "  0.620000", "base score: cosine 0.620000", "as it is",
			" +0.108000", " from A over causes 0.9000: weight 0.900000 x its score 0.800000 / sqrt(1) x beta 0.15", "= 0.728000",
		}},
		"W12: B has no edge": {w12, "B", 10, []string{"place 3; place 2 in the recall", "nobody supports it", "= 0.700000"}},
		"beyond the results": {w12, "B", 1, []string{"not among the 1 results, but in the pool", "place 3; place 2 in the recall"}},
		"calibrated: (.70-.1)/.9 = .666667": {calibrated, "B", 10, []string{
			"  0.666667", "base score: (cosine 0.7000", " - 0.1) / (1 - 0.1)", "= 0.666667",
		}},
		"W9: raw support 4*.9/sqrt(4) = 1.80 is cut to 1, a share is .15/4 = .0375": {capped, "H", 10, []string{
			"graph score 0.750000", " +0.037500", "from E over causes", "support 1.800000 counts as 1",
		}},
		"W24: .62 + .3*.2376 = .69128, gate .80-.20": {w24, "Y", 10, []string{
			"attached to A, result 1", "graph score 0.691280", " +0.071280", "for its tie", "path: A - X - Y (2 hops from A, the first over elaborates)",
			"gamma 0.3 x relaxed 0.237600", "gate: asks for a base score of 0.6000", "margin +0.0200", "number 2 of at most 6 over elaborates",
		}},
		"W24: .65 + .3*.72 = .866 is held at .80 - .000001": {w24, "X", 10, []string{"graph score 0.799999", " +0.216000", " -0.066001", "held below"}},
		"W25: X competes for a place":                       {separate, "X", 6, []string{"place 2, added by the graph", "graph score 0.799999"}},
		"W14: .59 is .01 below the gate": {
			smallWorld{facts: map[string]float64{"A": .80, "X": .59}, edges: []string{"A>X co_occurs"}, unfit: "X"}, "X", 10,
			[]string{"X was put forward and refused: too far from the question", "one hop from A over co_occurs; relaxed 0.4400", "asks for 0.6000", "(margin -0.0100"},
		},
		"its seed is not shown": {w24, "Z", 1, []string{"Z was put forward and refused: B, to which it would be added, is not among the results"}},
		"beyond the pool":       {many, "f55", 10, []string{"f55 is not in the pool of 50 candidates", "it would be candidate 55, with score 0.360000"}},
		"not there":             {w12, "Q", 10, []string{"Q is not in the pool of 3 candidates", "nor is it among the first 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.world.explain(t, tc.id, tc.k)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("missing %q in\n%s", want, got)
				}
			}
		})
	}
}

// Parts that do not make the score are a fault, and are not passed over.
func TestExplainChecksItsSums(t *testing.T) {
	x := explainer{e: &env{stdout: &bytes.Buffer{}}}
	for sum, ok := range map[float64]bool{.5: true, .5 + 5e-10: true, .5 + 2e-9: false, math.NaN(): false} {
		if err := x.total(fact{id: "A", graphScore: .5}, sum); (err == nil) != ok {
			t.Errorf("sum %v of score .5: %v", sum, err)
		}
	}
}

func TestExplainWithoutTheGraph(t *testing.T) {
	off := w12
	off.edit = func(c *reader.Config) { c.GraphOff = true }
	got, err := off.explain(t, "D", 10)
	if err != nil || !strings.Contains(got, "the graph did not rank this answer: disabled") || !strings.Contains(got, "the graph has no part in it") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = off.explain(t, "D", 1); err != nil || !strings.Contains(got, "not among the 1 results, but in the pool") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestSearchPrintsWhatTheGraphAdded(t *testing.T) {
	a, err := w24.client(t).search(t.Context(), server.SearchRequest{UserID: "u", Vector: []float32{1, 0}, Explain: server.ExplainAll, MinSeq: 7})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printAnswer(&env{stdout: &out}, a)
	for _, want := range []string{
		" 1.   = 0.8000  A  about A\n",
		"      + 0.8000  X  about X\n          added: one hop from A over elaborates\n          0.6500 of its own\n         +0.2160 for its tie\n         -0.0660 held below",
		"added: 2 hops from A, the first over elaborates",
		"how they connect:\n  0.6490  A -elaborates-> X\n  0.3492  X -co_occurs- Y\n",
		"3 results by dense recall; graph ok; 0 of 3 candidates moved, 3 facts added, 3 paths",
		"the event asked for was not applied in time",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("missing %q in\n%s", want, out.String())
		}
	}
}
