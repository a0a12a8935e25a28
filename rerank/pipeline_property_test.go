package rerank_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// TestPropertyNothingOfAnotherSpaceAppears: whatever a store returns, under whatever id, facts of other users and of none
// appear nowhere: not as item, supporter, added fact, or in the middle of a walk or path.
func TestPropertyNothingOfAnotherSpaceAppears(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, true)
		r, _ := drawPipelineRanker(t, rt)
		p := runPipeline(t, r, requestOf(t, d.pool(rt, w), w.snapshot(t)), d.vectors, 10, func(q *rerank.PathQuery) {
			q.Known, q.OnlyKnown = d.all(w), true
		})
		for id, where := range p.shown() {
			if d.vectors[id].Space.UserID() != "u" {
				rt.Fatalf("%s of %q appears, %s", id, d.vectors[id].Space.UserID(), where)
			}
		}
	})
}

// TestPropertyRetiredNeverAppear: what the vector store calls superseded, shadowed, deleted or no longer valid appears
// nowhere, also not in the middle of a walk or path, whatever the graph says.
func TestPropertyRetiredNeverAppear(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, false)
		r, s := drawPipelineRanker(t, rt)
		q := requestOf(t, d.pool(rt, w), w.snapshotOf(t, d.graph))
		confirmed := runPipeline(t, r, q, d.vectors, 10, func(q *rerank.PathQuery) { q.Known, q.OnlyKnown = d.all(w), true })
		for _, n := range confirmed.nominated.Nominees {
			for _, id := range n.Path {
				if removed := slices.ContainsFunc(confirmed.ranked.Removed, func(x rerank.Removed) bool { return x.ID == id }); removed {
					rt.Fatalf("%+v leads over a fact that was removed from the pool", n)
				}
			}
		}
		for id, where := range confirmed.shown() {
			if !d.eligible(id) {
				rt.Fatalf("%+v appears, %s", d.vectors[id], where)
			}
		}
		s.Expand.Gamma = 0 // so that the vector store is asked about nobody
		if r, err := rerank.New(s); err != nil {
			rt.Fatal(err)
		} else if only := runPipeline(t, r, q, d.vectors, 10, func(q *rerank.PathQuery) { q.OnlyKnown = true }); len(only.paths.Unconfirmed) > 0 {
			rt.Fatalf("only what the vector store spoke for was asked for, %v are not", only.paths.Unconfirmed)
		}
		// Where the vector store was not asked, the graph speaks, and the result says for which facts.
		open := runPipeline(t, r, q, d.vectors, 10, nil)
		for id, where := range open.shown() {
			graphSays := d.graph[id] == graphstore.StateActive || d.graph[id] == graphstore.StateUnseen
			if !d.eligible(id) && !(slices.Contains(open.paths.Unconfirmed, id) && graphSays) {
				rt.Fatalf("%+v appears, %s; unconfirmed %v", d.vectors[id], where, open.paths.Unconfirmed)
			}
		}
	})
}

// TestPropertyAddedBelowTheirSeed: an added fact scores below the graph score of its seed and is placed behind it.
func TestPropertyAddedBelowTheirSeed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, false)
		r, _ := drawPipelineRanker(t, rt)
		p := runPipeline(t, r, requestOf(t, d.pool(rt, w), w.snapshot(t)), d.vectors, rapid.IntRange(1, 8).Draw(rt, "k"), nil)
		place := map[string]int{}
		for i, at := range p.expansion.Places {
			place[at.ID()] = i
			for _, n := range at.Attached {
				if n.Seed != at.ID() {
					rt.Fatalf("%+v is attached to %s", n, at.ID())
				}
				place[n.ID] = i
			}
		}
		for _, n := range p.added() {
			if seed := itemOf(t, p.ranked, n.Seed); n.GraphScore >= seed.GraphScore || place[n.ID] < place[n.Seed] {
				rt.Fatalf("%+v at %d, seed %+v at %d", n, place[n.ID], seed, place[n.Seed])
			}
		}
	})
}

// TestPropertyShareOfTheFirstK: at most ceil(share*k) of the first k places are added facts, and pool members keep their
// order among themselves.
func TestPropertyShareOfTheFirstK(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, false)
		s := drawExpandSettings(rt)
		s.Expand.MergeSeed, s.Expand.SeedFloor, s.Expand.DeltaSeparate = false, .2, 1
		twentieths := rapid.IntRange(0, 20).Draw(rt, "share/20")
		s.Expand.ExtraShare = float64(twentieths) / 20
		r, err := rerank.New(s)
		if err != nil {
			rt.Fatal(err)
		}
		k := rapid.IntRange(1, 10).Draw(rt, "k")
		p := runPipeline(t, r, requestOf(t, d.pool(rt, w), w.snapshot(t)), d.vectors, k, nil)
		added, members := 0, 0
		for i, place := range p.expansion.Places {
			if place.Item == nil {
				added += map[bool]int{true: 1}[i < k]
				continue
			}
			if place.ID() != p.ranked.Items[members].ID {
				rt.Fatalf("place %d: %s, want %s", i, place.ID(), p.ranked.Items[members].ID)
			}
			members++
		}
		if most := (twentieths*k + 19) / 20; added > most || members != len(p.ranked.Items) { // in whole numbers: ceil(t*k/20)
			rt.Fatalf("%d added facts among the first %d, want at most %d; %d of %d members", added, k, most, members, len(p.ranked.Items))
		}
	})
}

// TestPropertyExplanationsSum: of every item base and shares, and of every added fact its parts, sum to the score; an added
// fact's path, gate and quota are what the settings say; every nominee is either added or refused with a reason.
func TestPropertyExplanationsSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawLinkedWorld(rt, 12)
		d := drawStatements(rt, w, true)
		r, s := drawPipelineRanker(t, rt)
		p := runPipeline(t, r, requestOf(t, d.pool(rt, w), w.snapshot(t)), d.vectors, rapid.IntRange(1, 8).Draw(rt, "k"), nil)
		for _, item := range p.ranked.Items {
			sum := item.Base
			for _, u := range item.Explanation.Supporters {
				sum += u.Share
			}
			if math.Abs(sum-item.GraphScore) > 1e-9 {
				rt.Fatalf("%s: explained %v, score %v", item.ID, sum, item.GraphScore)
			}
		}
		fate := map[string]int{}
		for _, n := range p.added() {
			fate[n.ID]++
			checkParts(t, rt, n, s, &p, d)
		}
		for _, no := range p.expansion.Refused {
			fate[no.ID]++
			if no.Reason == "" {
				rt.Fatalf("refused without a reason: %+v", no)
			}
		}
		for _, n := range slices.Concat(p.nominated.Nominees, p.nominated.Beyond) {
			if fate[n.ID] != 1 {
				rt.Fatalf("%+v has %d verdicts", n, fate[n.ID])
			}
		}
	})
}

// checkParts recomputes the score of an added fact from what the vector store says and the formula.
func checkParts(t *testing.T, rt *rapid.T, n rerank.Admitted, s rerank.Settings, p *pipeline, d drawnStatements) {
	seed := itemOf(t, p.ranked, n.Seed)
	c := d.vectors[n.ID]
	want := rerank.Parts{Base: c.Cosine, Tie: s.Expand.Gamma * n.Relaxed, Keyword: s.Expand.KeywordBonus * c.Keyword}
	if c.EpisodeID != "" && c.EpisodeID == d.vectors[n.Seed].EpisodeID {
		want.Episode = s.Expand.EpisodeBonus
	}
	if over := want.Base + want.Tie + want.Keyword + want.Episode - (seed.GraphScore - 1e-6); over > 0 {
		want.Held = -over
	}
	if seed.Base < s.Expand.SeedFloor-rerank.Epsilon {
		rt.Fatalf("%s: seed %+v is below the floor of %v", n.ID, seed, s.Expand.SeedFloor)
	}
	if diff := cmp.Diff(want, n.Parts, approx); diff != "" {
		rt.Fatalf("%s: parts (-want +got):\n%s", n.ID, diff)
	}
	if math.Abs(n.Parts.Sum()-n.GraphScore) > 1e-9 {
		rt.Fatalf("%s: parts sum to %v, score %v", n.ID, n.Parts.Sum(), n.GraphScore)
	}
	delta := s.Expand.DeltaMerge
	if !s.Expand.MergeSeed {
		delta = s.Expand.DeltaSeparate
	}
	if math.Abs(n.Margin-(c.Cosine-(d.vectors[n.Seed].Cosine-delta))) > 1e-9 || n.Margin < -rerank.Epsilon {
		rt.Fatalf("%+v passed the gate, seed %+v", n, seed)
	}
	if n.Quota != s.Expand.Quotas[n.Via] || n.QuotaPlace < 1 || n.QuotaPlace > n.Quota {
		rt.Fatalf("%+v: quota of %s is %d", n, n.Via, s.Expand.Quotas[n.Via])
	}
}
