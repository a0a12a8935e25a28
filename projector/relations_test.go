package projector

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestRelations(t *testing.T) {
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: "f"}
	edge := func(from, to string, typ graphstore.RelationType, w float64, detail string) graphstore.Edge {
		return graphstore.Edge{Source: from, Target: to, Type: typ, Weight: w, Detail: detail, Asserter: by}
	}
	w := func(x float64) Optional[float64] { return Some(x) }
	tests := []struct {
		name   string
		refs   []RelationRef
		want   []graphstore.Edge
		report Report
	}{
		{"directed ones keep their direction", []RelationRef{{To: "a", Type: "causes"}, {To: "a", Type: "elaborates"}},
			[]graphstore.Edge{edge("f", "a", graphstore.Causes, 1, ""), edge("f", "a", graphstore.Elaborates, 1, "")}, Report{}},
		{"undirected ones store the smaller id first", []RelationRef{{To: "a", Type: "contrasts", Weight: w(.5)}, {To: "z", Type: "same_series"}, {To: "a", Type: "related"}},
			[]graphstore.Edge{edge("f", "z", graphstore.SameSeries, 1, ""), edge("a", "f", graphstore.Contrasts, .5, ""), edge("a", "f", graphstore.Related, 1, "")}, Report{}},
		{"unknown types are kept by name", []RelationRef{{To: "z", Type: "likes", Weight: w(.8)}},
			[]graphstore.Edge{edge("f", "z", graphstore.Related, .8, "likes")}, Report{UnknownRelations: 1}},
		{"types that are not for producers are unknown", []RelationRef{{To: "x", Type: "co_occurs"}, {To: "y", Type: "mentions"}, {To: "z", Type: "Causes"}},
			[]graphstore.Edge{edge("f", "x", graphstore.Related, 1, "co_occurs"), edge("f", "y", graphstore.Related, 1, "mentions"), edge("f", "z", graphstore.Related, 1, "Causes")}, Report{UnknownRelations: 3}},
		{"no type", []RelationRef{{To: "z"}}, []graphstore.Edge{edge("f", "z", graphstore.Related, 1, "")}, Report{UnknownRelations: 1}},
		{"one edge folds to the best weight", []RelationRef{{To: "z", Type: "likes", Weight: w(.3)}, {To: "z", Type: "hates", Weight: w(.9)}, {To: "z", Type: "related", Weight: w(.5)}},
			[]graphstore.Edge{edge("f", "z", graphstore.Related, .9, "hates")}, Report{UnknownRelations: 2, Folded: 2}},
		{"of equal weights the smallest name", []RelationRef{{To: "z", Type: "likes"}, {To: "z", Type: "hates"}},
			[]graphstore.Edge{edge("f", "z", graphstore.Related, 1, "hates")}, Report{UnknownRelations: 2, Folded: 1}},
		{"weights are clamped", []RelationRef{{To: "x", Type: "related", Weight: w(17)}, {To: "y", Type: "related", Weight: w(math.Inf(1))}},
			[]graphstore.Edge{edge("f", "x", graphstore.Related, 1, ""), edge("f", "y", graphstore.Related, 1, "")}, Report{}},
		{"weights that drop", []RelationRef{{To: "x", Weight: w(0)}, {To: "y", Weight: w(-.1)}, {To: "z", Weight: w(math.NaN())}}, nil, Report{BadWeights: 3}},
		{"to itself", []RelationRef{{To: "f", Type: "causes"}}, nil, Report{SelfLinks: 1}},
		{"one fact in two spellings", []RelationRef{{To: "5C56C793-69F3-4FBF-87E6-C4BF54C28C26", Type: "causes", Weight: w(.5)}, {To: "{5c56c793-69f3-4fbf-87e6-c4bf54c28c26}", Type: "causes"}},
			[]graphstore.Edge{edge("f", "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", graphstore.Causes, 1, "")}, Report{Folded: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			view, report := project(t, mustNew(t, Config{}), event(t, "e", 1, written(related("f", tt.refs...))))
			if diff := cmp.Diff(tt.want, edges(view, "f", graphstore.RelationTypes()...)); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
			tt.report.Added = 1
			if report != tt.report {
				t.Errorf("report %+v: want %+v", report, tt.report)
			}
		})
	}
}

// Two facts that assert one edge are two contributions: deleting one leaves the other.
func TestTwoFactsAssertOneEdge(t *testing.T) {
	p := mustNew(t, Config{})
	one := event(t, "e1", 1, written(related("a", RelationRef{To: "b", Type: "related"})))
	two := event(t, "e2", 2, written(related("b", RelationRef{To: "a", Type: "related", Weight: Some(.5)})))
	view, _ := project(t, p, one, two, one, two)
	if n := len(edges(view, "a", graphstore.Related)); n != 2 {
		t.Fatalf("%d edges: want 2", n)
	}
	view, _ = apply(t, p, view, event(t, "e3", 3, FactDeleted{FactID: "a"}))
	left := edges(view, "a", graphstore.Related)
	if len(left) != 1 || left[0].Asserter.ID != "b" || left[0].Weight != .5 {
		t.Errorf("left %+v: want b's", left)
	}
}

func TestNeighbors(t *testing.T) {
	refs := []NeighborRef{{"a", .76}, {"b", .99}, {"c", .75}, {"d", .75 - 5e-10}, {"e", .7499}, {"h", 1.2}, {"g", .8}, {"z", .8}, {"y", .9},
		{"f", 1}, {"k", -.9}, {"l", math.NaN()}, {"g", .1}, {"b", .8}}
	view, report := project(t, mustNew(t, Config{}), event(t, "e", 1, written(FactWrite{ID: "f", Op: OpAdd, Neighbors: Some(refs)})))
	got := map[string]float64{}
	for _, e := range edges(view, "f", graphstore.SemanticNeighbor) {
		got[far(e, "f")] = e.Weight
	}
	// h is clamped to 1; g and z have equal scores and the smaller id comes first; a, c and d are good but not among five.
	want := map[string]float64{"h": 1, "b": .99, "y": .9, "g": .8, "z": .8}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("neighbours (-want +got):\n%s", diff)
	}
	// low: e, and the second g; bad: k and l; self: f; folded: the second b.
	if want := (Report{Added: 1, LowScores: 2, BadWeights: 2, SelfLinks: 1, Folded: 1, ExcessNeighbors: 3}); report != want {
		t.Errorf("report %+v: want %+v", report, want)
	}
	view, _ = project(t, mustNew(t, Config{MaxNeighbors: 7}), event(t, "e", 1, written(FactWrite{ID: "f", Op: OpAdd, Neighbors: Some(refs)})))
	if n := len(edges(view, "c", graphstore.SemanticNeighbor)); n != 1 {
		t.Errorf("a score of exactly the threshold made %d edges: want 1", n)
	}
}

func TestUnseenFacts(t *testing.T) {
	p := mustNew(t, Config{})
	first := event(t, "e1", 1, written(related("a", RelationRef{To: "x", Type: "causes"}), related("b", RelationRef{To: "x", Type: "causes"})))
	view, _ := project(t, p, first)
	if f := fact(t, view, "x"); f.State != graphstore.StateUnseen || !f.Registers.Latest().IsZero() || view.Present() != 2 {
		t.Errorf("x %+v, %d present", f, view.Present())
	}
	view, _ = apply(t, p, view, event(t, "e2", 2, written(FactWrite{ID: "a", Op: OpUpdate, Relations: Some[[]RelationRef](nil)})))
	fact(t, view, "x") // b still names it
	gone, _ := apply(t, p, view, event(t, "e3", 3, FactDeleted{FactID: "b"}))
	if _, ok := gone.Fact("x"); ok {
		t.Error("nothing names x, but its node is there")
	}
	seen, _ := apply(t, p, view, event(t, "e3", 3, written(add("x"))))
	if f := fact(t, seen, "x"); f.State != graphstore.StateActive {
		t.Errorf("x %+v: want active", f)
	}
	seen, _ = apply(t, p, seen, event(t, "e4", 4, FactDeleted{FactID: "b"}))
	fact(t, seen, "x") // a written fact stays without edges
}
