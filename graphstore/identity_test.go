package graphstore_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// merges is a graph with entities a to f, and facts 1 to 6 of which each mentions the entity of its number; 1 mentions b
// too.
func merges(t testing.TB, rows ...graphstore.Merge) *graphstore.Snapshot {
	t.Helper()
	sp := space(t, "u")
	var changes []graphstore.Change
	mention := func(fact, entity string) {
		changes = append(changes, graphstore.PutEdge(sp, graphstore.Edge{Source: fact, Target: entity, Type: graphstore.Mentions, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: fact}}))
	}
	for i, e := range strings.Split("abcdef", "") {
		fact := fmt.Sprint(i + 1)
		changes = append(changes, graphstore.PutEntity(sp, graphstore.Entity{ID: e, Type: "thing", Name: e, Norm: e, Mentions: 1}),
			graphstore.PutFact(sp, graphstore.Fact{ID: fact, State: graphstore.StateActive}))
		mention(fact, e)
	}
	mention("1", "b")
	return with(t, graphstore.NewSnapshot(sp), append(changes, putMerges(sp, rows)...)...)
}

func putMerges(sp graphstore.Space, rows []graphstore.Merge) []graphstore.Change {
	changes := make([]graphstore.Change, len(rows))
	for i, m := range rows {
		changes[i] = graphstore.PutMerge(sp, m)
	}
	return changes
}

// row says at a version that one entity is another.
func row(merged, kept string, version int64) graphstore.Merge {
	return graphstore.Merge{Merged: merged, Kept: kept, Step: graphstore.StepMerged, Stamp: graphstore.Stamp{Version: version, Rank: graphstore.RankAdd, EventID: "e"}}
}

func undone(m graphstore.Merge) graphstore.Merge {
	m.Undone = true
	return m
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name string
		rows []graphstore.Merge
		want string // who a, b, c, d, e, f are
	}{
		{"no decisions", nil, "abcdef"},
		{"one", []graphstore.Merge{row("b", "a", 1)}, "aacdef"},
		{"it has a direction", []graphstore.Merge{row("a", "b", 1)}, "bbcdef"},
		{"a chain", []graphstore.Merge{row("a", "b", 1), row("b", "c", 2), row("c", "d", 3)}, "ddddef"},
		{"a chain decided from its end", []graphstore.Merge{row("a", "b", 3), row("b", "c", 2), row("c", "d", 1)}, "ddddef"},
		{"two into one", []graphstore.Merge{row("a", "c", 1), row("b", "c", 1)}, "cccdef"},
		{"one into two: the latest", []graphstore.Merge{row("a", "b", 1), row("a", "c", 2)}, "cbcdef"},
		{"one into two at once: the smaller", []graphstore.Merge{row("a", "c", 1), row("a", "b", 1)}, "bbcdef"},
		{"undone", []graphstore.Merge{undone(row("a", "b", 1))}, "abcdef"},
		{"undone on one of two: the other", []graphstore.Merge{row("a", "b", 1), undone(row("a", "c", 2))}, "bbcdef"},
		{"undone in the middle of a chain", []graphstore.Merge{row("a", "b", 1), undone(row("b", "c", 2)), row("c", "d", 3)}, "bbddef"},
		{"each into the other: the smallest", []graphstore.Merge{row("a", "b", 1), row("b", "a", 2)}, "aacdef"},
		{"round in a circle: the smallest", []graphstore.Merge{row("c", "d", 1), row("d", "b", 2), row("b", "c", 3)}, "abbbef"},
		{"into a circle: the smallest on it, not of all", []graphstore.Merge{row("a", "c", 1), row("c", "d", 1), row("d", "c", 1)}, "cbccef"},
		{"no longer a circle", []graphstore.Merge{row("a", "b", 1), undone(row("b", "a", 2))}, "bbcdef"},
		{"an entity that is nobody", []graphstore.Merge{row("ghost", "a", 1), row("f", "e", 1)}, "abcdee"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := merges(t, tt.rows...)
			var got string
			for _, e := range strings.Split("abcdef", "") {
				got += s.Resolve(e)
			}
			if got != tt.want {
				t.Errorf("abcdef are %s: want %s", got, tt.want)
			}
			if s.Resolve("unheard of") != "unheard of" {
				t.Error("an id that no row names is another's")
			}
			if err := graphstoretest.CheckSnapshot(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// Merging takes nothing away: undone, or without the row, everything is as it was, and records are never touched.
func TestMergesAreUndoneWhole(t *testing.T) {
	sp := space(t, "u")
	plain, chain := merges(t), []graphstore.Merge{row("a", "b", 1), row("b", "c", 2)}
	merged := merges(t, chain...)
	first, _ := merged.Node("1")
	for b := range merged.Bridges(first) { // a and b, both are c now: the facts 1, 1, 2 and 3 are on it
		info := merged.BridgeInfo(b)
		if info.ID != "c" || info.Name != "c" || info.Degree != 3 || len(merged.BridgeFacts(b)) != 4 || merged.BridgeDegree(b) != 3 {
			t.Errorf("bridge of fact 1: %+v of %d contributions", info, len(merged.BridgeFacts(b)))
		}
	}
	shadowed, err := merged.With([]graphstore.Change{graphstore.PutFact(sp, graphstore.Fact{ID: "1", State: graphstore.StateDeleted})})
	if err != nil {
		t.Fatal(err)
	}
	third, _ := shadowed.Node("3")
	for b := range shadowed.Bridges(third) {
		if d := shadowed.BridgeDegree(b); d != 2 { // 2 and 3
			t.Errorf("degree %d of c without fact 1: want 2", d)
		}
	}
	if e, _ := merged.Entity("a"); e.Mentions != 1 || len(merged.EdgesTo(graphstore.KindEntity, "a")) != 1 {
		t.Errorf("the merged entity %+v lost its own edges", e)
	}
	deleted := []graphstore.Change{graphstore.DeleteKey(sp, chain[0].Key()), graphstore.DeleteKey(sp, chain[1].Key())}
	apart, err := merged.With(deleted)
	if err != nil {
		t.Fatal(err)
	}
	again, err := merged.With([]graphstore.Change{graphstore.PutMerge(sp, undone(chain[0])), graphstore.PutMerge(sp, undone(chain[1]))})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*graphstore.Snapshot{"deleted": apart, "undone": again} {
		for i, e := range strings.Split("abcdef", "") {
			n, _ := s.Node(fmt.Sprint(i + 1))
			if s.Resolve(e) != e {
				t.Errorf("%s: %s is %s", name, e, s.Resolve(e))
			}
			if got, want := bridges(s, n), bridges(plain, n); !slices.Equal(got, want) {
				t.Errorf("%s: fact %d has %v: want %v", name, i+1, got, want)
			}
		}
		if err := graphstoretest.CheckSnapshot(s); err != nil {
			t.Error(err)
		}
	}
	if apart.Digest() != plain.Digest() {
		t.Error("rows came and went, and something else changed")
	}
}

// What is decided in one version is not decided in another that was made of the same one.
func TestMergesOfVersionsApart(t *testing.T) {
	base := merges(t, row("b", "a", 1), row("c", "a", 2)) // a, b and c, with room for one more
	var versions []*graphstore.Snapshot
	for _, rows := range [][]graphstore.Merge{{row("d", "a", 3)}, {row("e", "f", 3), row("d", "a", 3)}, {row("f", "a", 3)}} {
		versions = append(versions, with(t, base, putMerges(base.Space(), rows)...))
	}
	for i, want := range []string{"aaaaef", "aaaaff", "aaadea"} {
		var got string
		for _, e := range strings.Split("abcdef", "") {
			got += versions[i].Resolve(e)
		}
		if got != want {
			t.Errorf("version %d: abcdef are %s: want %s", i, got, want)
		}
		if err := graphstoretest.CheckSnapshot(versions[i]); err != nil {
			t.Error(err)
		}
	}
}

// Many readers of one snapshot that nobody has asked yet see the same.
func TestMergesAskedByManyAtOnce(t *testing.T) {
	for range 50 {
		s := merges(t, row("a", "b", 1), row("b", "c", 2))
		n, _ := s.Node("1")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for b := range s.Bridges(n) {
					if info := s.BridgeInfo(b); info.ID != "c" || info.Degree != 3 || len(s.BridgeFacts(b)) != 4 {
						t.Errorf("%+v of %d contributions: want c with 3 facts of 4", info, len(s.BridgeFacts(b)))
					}
				}
			})
		}
		wg.Wait()
	}
}

func bridges(s *graphstore.Snapshot, n graphstore.Node) []string {
	var all []string
	for b := range s.Bridges(n) {
		all = append(all, fmt.Sprintf("%+v", s.BridgeInfo(b)))
	}
	slices.Sort(all)
	return all
}

// Random merge logs over random mentions, changed step by step and made at once. What is gathered when somebody asks is right
// whichever version is asked first: some are asked at once, all in the end, the latest first.
func TestMergesMatchNaive(t *testing.T) {
	sp := space(t, "u")
	entity := rapid.SampledFrom(strings.Split("abcdefg", ""))
	rapid.Check(t, func(t *rapid.T) {
		snap := graphstore.NewSnapshot(sp)
		var versions []*graphstore.Snapshot
		step := func(changes ...graphstore.Change) {
			next, err := snap.With(changes)
			if err != nil { // a node that is needed
				return
			}
			snap = next
			versions = append(versions, snap)
			if !rapid.Bool().Draw(t, "asked at once") {
				return
			}
			if err := graphstoretest.CheckSnapshot(snap); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"entity": func(t *rapid.T) {
				e := entity.Draw(t, "entity")
				step(graphstore.PutEntity(sp, graphstore.Entity{ID: e, Type: "thing", Name: e, Norm: e}))
			},
			"mention": func(t *rapid.T) {
				f, e := entity.Draw(t, "fact"), entity.Draw(t, "entity")
				step(graphstore.PutFact(sp, graphstore.Fact{ID: f, State: graphstore.State(rapid.IntRange(1, 4).Draw(t, "state"))}),
					graphstore.PutEntity(sp, graphstore.Entity{ID: e, Type: "thing", Name: e, Norm: e}),
					graphstore.PutEdge(sp, graphstore.Edge{Source: f, Target: e, Type: graphstore.Mentions, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: entity.Draw(t, "by")}}))
			},
			"no mention": func(t *rapid.T) {
				step(graphstore.DeleteKey(sp, graphstore.Key{Relation: graphstore.Mentions, Node: entity.Draw(t, "fact"), Target: entity.Draw(t, "entity"),
					Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: entity.Draw(t, "by")}}))
			},
			"no entity": func(t *rapid.T) {
				step(graphstore.DeleteKey(sp, graphstore.Key{Kind: graphstore.KindEntity, Node: entity.Draw(t, "entity")}))
			},
			"merge": func(t *rapid.T) {
				m := row(entity.Draw(t, "merged"), entity.Draw(t, "kept"), rapid.Int64Range(0, 3).Draw(t, "version"))
				m.Undone = rapid.IntRange(0, 4).Draw(t, "undone") == 0
				if m.Merged != m.Kept {
					step(graphstore.PutMerge(sp, m))
				}
			},
			"no merge": func(t *rapid.T) {
				step(graphstore.DeleteKey(sp, graphstore.Key{Kind: graphstore.KindMerge, Node: entity.Draw(t, "merged"), Target: entity.Draw(t, "kept")}))
			},
		})
		for i, v := range slices.Backward(versions) {
			if err := graphstoretest.CheckSnapshot(v); err != nil {
				t.Fatalf("version %d of %d: %v", i, len(versions), err)
			}
		}
		all := slices.Collect(snap.Records())
		atOnce, err := graphstore.NewSnapshot(sp).With(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := graphstoretest.CheckSnapshot(atOnce); err != nil {
			t.Fatalf("at once: %v", err)
		}
	})
}
