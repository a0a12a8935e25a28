package rerank_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// What a caller that falls back to the output of the step before relies on.

// compareSnapshots compares snapshots by identity: they are immutable.
var compareSnapshots = cmp.Comparer(func(a, b *graphstore.Snapshot) bool { return a == b })

// compareSpaces compares spaces, which keep their fields to themselves.
var compareSpaces = cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })

// TestContainInputsStayAsTheyWere: no call modifies the request, or what the calls before it returned; so whatever happens
// in a later step, the earlier outputs are complete and unchanged.
func TestContainInputsStayAsTheyWere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, true)
		r, _ := drawPipelineRanker(t, rt)
		q := requestOf(t, d.pool(rt, w), w.snapshot(t))
		k := rapid.IntRange(1, 8).Draw(rt, "k")
		// The same request again, from copies: what the first run holds must equal what a fresh run computes step by step.
		p := runPipeline(t, r, q, d.vectors, k, nil)
		fresh := q
		fresh.Pool = slices.Clone(q.Pool)
		unchanged := func(what string, want, got any) {
			if diff := cmp.Diff(want, got, compareSnapshots, compareSpaces); diff != "" {
				rt.Fatalf("%s was modified (-want +got):\n%s", what, diff)
			}
		}
		ranked := mustRank(t, r, fresh)
		unchanged("the ranked result", ranked, p.ranked)
		nominated, err := r.Nominate(fresh, ranked)
		if err != nil {
			rt.Fatal(err)
		}
		unchanged("the nominations", nominated, p.nominated)
		expansion, err := r.Admit(fresh, ranked, nominated, p.scored, k)
		if err != nil {
			rt.Fatal(err)
		}
		unchanged("the expansion", expansion, p.expansion)
		unchanged("the pool", fresh.Pool, q.Pool)
		for i, c := range q.Pool {
			unchanged("a candidate", d.vectors[c.ID], q.Pool[i])
		}
	})
}

// TestContainWithoutNominations: if nominating fails, or the vector store, placing nothing gives the order of the ranking;
// without a graph everything works on and adds nothing.
func TestContainWithoutNominations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, false)
		r, _ := drawPipelineRanker(t, rt)
		q := requestOf(t, d.pool(rt, w), w.snapshot(t))
		k := rapid.IntRange(1, 8).Draw(rt, "k")
		ranked := mustRank(t, r, q)
		nominated, err := r.Nominate(q, ranked)
		if err != nil {
			rt.Fatal(err)
		}
		for what, n := range map[string]rerank.Nominations{"no nominations": {}, "no answer of the store": nominated} {
			x, err := r.Admit(q, ranked, n, nil, k)
			if err != nil {
				rt.Fatal(err)
			}
			checkPlacedAsRanked(rt, what, ranked, x)
		}
		q.Graph = nil
		p := runPipeline(t, r, q, d.vectors, k, nil)
		checkPlacedAsRanked(rt, "no graph", p.ranked, p.expansion)
		if len(p.paths.Paths) != 0 {
			rt.Fatalf("paths without a graph: %v", p.paths.Paths)
		}
	})
}

func checkPlacedAsRanked(rt *rapid.T, what string, ranked rerank.Result, x rerank.Expansion) {
	if len(x.Places) != len(ranked.Items) {
		rt.Fatalf("%s: %d places of %d items", what, len(x.Places), len(ranked.Items))
	}
	for i, place := range x.Places {
		if place.Item == nil || len(place.Attached) > 0 {
			rt.Fatalf("%s: place %d: %+v", what, i, place)
		}
		if diff := cmp.Diff(ranked.Items[i], *place.Item); diff != "" {
			rt.Fatalf("%s: place %d (-ranked +placed):\n%s", what, i, diff)
		}
	}
}

// TestContainErrorsReturnNothing: a call that cannot work returns an error that says so and no half of a result.
func TestContainErrorsReturnNothing(t *testing.T) {
	r := newRanker(t, nil)
	good := requestOf(t, poolOf(t, "A:.8 B:.7"), graphOf(t, "A>X causes 1; A-B co_occurs 1"))
	ranked := mustRank(t, r, good)
	nominated, err := r.Nominate(good, ranked)
	if err != nil {
		t.Fatal(err)
	}
	expansion, err := r.Admit(good, ranked, nominated, poolOf(t, "X:.7"), 5)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]rerank.Request{"no time": good, "another user's graph": good, "an empty id": good}
	for name, q := range bad {
		switch name {
		case "no time":
			q.Now = 0
		case "another user's graph":
			q.Graph = graphstore.NewSnapshot(spaceOf(t, "eve"))
		case "an empty id":
			q.Pool = poolOf(t, "A:.8 B:.7")
			q.Pool[1].ID = ""
		}
		t.Run(name, func(t *testing.T) {
			check := func(call string, got any, zero any, err error) {
				if diff := cmp.Diff(zero, got); !errors.Is(err, rerank.ErrBadRequest) || diff != "" {
					t.Errorf("%s: error %v, result (-want +got):\n%s", call, err, diff)
				}
			}
			res, err := r.Rerank(q)
			check("rerank", res, rerank.Result{}, err)
			n, err := r.Nominate(q, ranked)
			check("nominate", n, rerank.Nominations{}, err)
			x, err := r.Admit(q, ranked, nominated, nil, 5)
			check("admit", x, rerank.Expansion{}, err)
			paths, err := r.Paths(rerank.PathQuery{Request: q, Expansion: expansion, K: 5})
			check("paths", paths, rerank.PathResult{}, err)
		})
	}
}
