package backfill_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector/projectortest"
	"github.com/kithgraph/kith/vdb"
)

// After any history and a backfill only facts without points are drift; a repair leaves none; and of a graph without drift whose
// records are changed at random something is found, and nothing after a repair.
func TestVerifyOfAnyHistory(t *testing.T) {
	user := space(t, "u")
	rapid.Check(t, func(t *rapid.T) {
		proj, g := newProjector(t), newGraph(t)
		for _, ev := range projectortest.GenHistory(8, user).Draw(t, "history") {
			g.event(t, proj, ev)
		}
		stored := []vdb.Point{{Space: user, ID: "one", Vector: []float32{1, 0, 0}, Payload: vdb.Payload{AgentID: "a1"}}} // of an empty store nothing is repaired
		for _, id := range projectortest.FactIDs() {
			if graphstore.CanonicalFactID(id) == id && rapid.Bool().Draw(t, "has "+id) {
				p := genPoint(user, id).Draw(t, "point")
				p.Payload.Version = 0 // what an event wrote in the same version is held against the point
				delete(p.Payload.Extra, "updated_at")
				stored = append(stored, p)
			}
		}
		store := newPoints(t, stored...)
		must(t, tempDir(t), store, g, backfill.Request{NoNeighbors: true})
		v := verify(t, store, g, backfill.VerifyRequest{Repair: true})
		for kind, n := range v.Drift {
			if kind != backfill.DriftNoPoint && n > 0 {
				t.Fatalf("%+v", v)
			}
		}
		wantClean(t, store, g)

		before := recordsOf(t, g, user)
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			damageOne(t, g, user)
		}
		damaged := projectortest.DiffRecords(before, recordsOf(t, g, user)) != ""
		v = verify(t, store, g, backfill.VerifyRequest{Repair: true})
		if !v.Clean || len(v.Problems) > 0 || (v.Drifted > 0) != damaged {
			t.Fatalf("damaged %v: %+v", damaged, v)
		}
		wantClean(t, store, g)
	})
}

func wantClean(t *rapid.T, store vdb.Store, g *graph) {
	t.Helper()
	if v := verify(t, store, g, backfill.VerifyRequest{}); !v.Clean || v.Drifted > 0 {
		t.Fatalf("after a repair: %+v", v)
	}
}

// damageOne does one of the damages of which there is always something to be seen: a state, a count, a derived edge, a fact.
func damageOne(t *rapid.T, g *graph, user graphstore.Space) {
	t.Helper()
	var list []graphstore.Change
	for c := range g.view(t, user).Records() {
		switch {
		case c.Fact != nil && c.Fact.State != graphstore.StateUnseen, c.Topic != nil, c.Entity != nil:
			list = append(list, c)
		case c.Edge != nil && (c.Edge.Asserter.Kind == graphstore.ByBatch || c.Edge.Asserter.Kind == graphstore.BySpine):
			list = append(list, c)
		}
	}
	if len(list) == 0 { // the user has been forgotten
		return
	}
	c := rapid.SampledFrom(list).Draw(t, "record")
	switch {
	case c.Fact != nil:
		f := *c.Fact
		if f.State++; f.State > graphstore.StateDeleted {
			f.State = graphstore.StateActive
		}
		g.damage(t, graphstore.PutFact(user, f))
	case c.Topic != nil:
		topic := *c.Topic
		topic.Facts++
		g.damage(t, graphstore.PutTopic(user, topic))
	case c.Entity != nil:
		e := *c.Entity
		e.Mentions++
		g.damage(t, graphstore.PutEntity(user, e))
	default:
		g.damage(t, graphstore.DeleteKey(user, c.Key()))
	}
}
