package backfill_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// A memory system that keeps to the contract: it stores its points with the payload of the events' document, which has no place in the
// batch, writes down when a superseded fact ends, and raises a point's version also where an update says nothing of the
// graph. None of that is drift, and a backfill leaves the batch as the events made it: 12 facts, so each has the nearest four
// on either side, which are the pairs at a distance of 1 to 4: 11+10+9+8 = 38.
func TestHealthyMemorySystem(t *testing.T) {
	user, proj, g := space(t, "ann"), newProjector(t), newGraph(t)
	day := func(n int) time.Time { return time.Date(2026, 3, n, 9, 0, 0, 0, time.UTC) }
	var writes []projector.FactWrite
	var points []vdb.Point
	for i := range 12 {
		id := fmt.Sprint("f", i)
		writes = append(writes, projector.FactWrite{
			ID: id, Op: projector.OpAdd, Version: projector.Some(int64(1)), Tags: projector.Some([]string{"tea"}), ValidFrom: projector.Some(graphstore.InstantOf(day(1 + i))),
		})
		points = append(points, vdb.Point{Space: user, ID: id, Vector: []float32{1, float32(i)}, Payload: vdb.Payload{
			Version: 1, State: "active", BatchID: "b1", Tags: []string{"tea"}, ValidFrom: day(1 + i), Extra: map[string]any{"updated_at": day(20).Format(time.RFC3339)},
		}})
	}
	send := func(id string, at time.Time, data projector.Data) {
		t.Helper()
		ev, err := projector.NewEvent(id, "test", at, "ann", data)
		if err != nil {
			t.Fatal(err)
		}
		g.event(t, proj, ev)
	}
	moved := func(i int, version int64, at time.Time) *vdb.Payload {
		pay := &points[i].Payload
		pay.Version, pay.Extra = version, maps.Clone(pay.Extra)
		pay.Extra["updated_at"] = at.Format(time.RFC3339)
		return pay
	}
	send("e1", day(20), projector.FactsWritten{Facts: writes, BatchID: "b1"})
	// f3 is retired by f4, and its point says until when it was valid: f4's beginning.
	send("e2", day(21), projector.FactSuperseded{FactID: "f3", By: "f4", Version: projector.Some(int64(2))})
	pay := moved(3, 2, day(21))
	pay.State, pay.ValidTo, pay.Extra["superseded_by"] = "superseded", day(5), "f4"
	// Of f5 the wording changes, which no field of the graph holds; f3's, too, after it was retired.
	send("e3", day(22), projector.FactsWritten{Facts: []projector.FactWrite{
		{ID: "f5", Op: projector.OpUpdate, Version: projector.Some(int64(3))}, {ID: "f3", Op: projector.OpUpdate, Version: projector.Some(int64(3))},
	}})
	moved(5, 3, day(22))
	moved(3, 3, day(22))

	store := newPoints(t, points...)
	digest := g.live.Digest()
	if v := verify(t, store, g, backfill.VerifyRequest{Repair: true}); !v.Clean || v.Drifted != 0 || v.Coverage != 1 || g.live.Digest() != digest {
		t.Errorf("events alone: %+v", v)
	}
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	for i := range 12 {
		if f, _ := g.view(t, user).Fact(fmt.Sprint("f", i)); f.BatchID != "b1" || int(f.BatchSeq) != i {
			t.Errorf("after a backfill %s is at %s %d, want b1 %d", f.ID, f.BatchID, f.BatchSeq, i)
		}
	}
	if n := coOccurs(g.view(t, user)); n != 38 {
		t.Errorf("after a backfill %d co_occurs edges, want 38", n)
	}
	if v := verify(t, store, g, backfill.VerifyRequest{}); !v.Clean || v.Drifted != 0 {
		t.Errorf("after a backfill: %+v", v)
	}

	// What the graph really lacks is found and repaired beside all that, with the stamps of the fact it belongs to.
	g.damage(t, graphstore.DeleteKey(user, said("f5", "tea", graphstore.TaggedWith, "").Key()))
	v := verify(t, store, g, backfill.VerifyRequest{Repair: true})
	wantDrift(t, v, "missing_contribution ann f5")
	if v := verify(t, store, g, backfill.VerifyRequest{}); !v.Clean || v.Drifted != 0 {
		t.Errorf("after a repair: %+v", v)
	}
}

func coOccurs(view *graphstore.Snapshot) (n int) {
	for c := range view.Records() {
		if c.Edge != nil && c.Edge.Type == graphstore.CoOccurs {
			n++
		}
	}
	return n
}
