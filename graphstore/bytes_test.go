package graphstore_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// The bounds of what a graph takes in memory. Entities and topics count with the edges that lead to them.
const (
	maxFactBytes = 300
	maxEdgeBytes = 60
)

// footprint fits bytes = a*facts + b*edges over graphs of several sizes, with and without edges, by least squares.
func footprint(tb testing.TB, sizes ...int) (perFact, perEdge float64) {
	tb.Helper()
	var ff, fe, ee, fb, eb float64
	for _, n := range sizes {
		for _, edges := range []bool{false, true} {
			s, took := measured(tb, func() *graphstore.Snapshot { return newPlausible(1, space(tb, "u"), n, edges).build(tb) })
			f, e, by := float64(s.Facts()), float64(s.Edges()), float64(took)
			tb.Logf("%d facts, %d edges: %d bytes, %.0f per fact, estimate %d", s.Facts(), s.Edges(), took, by/f, s.Bytes())
			ff, fe, ee, fb, eb = ff+f*f, fe+f*e, ee+e*e, fb+f*by, eb+e*by
		}
	}
	det := ff*ee - fe*fe
	return (fb*ee - eb*fe) / det, (eb*ff - fb*fe) / det
}

func TestFootprint(t *testing.T) {
	perFact, perEdge := footprint(t, 5_000, 10_000, 20_000)
	t.Logf("%.1f bytes per fact, %.1f per edge", perFact, perEdge)
	if perFact > maxFactBytes || perEdge > maxEdgeBytes {
		t.Errorf("%.1f bytes per fact and %.1f per edge: want at most %d and %d", perFact, perEdge, maxFactBytes, maxEdgeBytes)
	}
}

func BenchmarkFootprint(b *testing.B) {
	for b.Loop() {
		perFact, perEdge := footprint(b, 20_000, 50_000, 100_000)
		b.ReportMetric(perFact, "bytes/fact")
		b.ReportMetric(perEdge, "bytes/edge")
	}
}

// TestBytes compares the estimate with the memory measured, of graphs that were loaded and of those that grew by
// transactions, changed and shrank.
func TestBytes(t *testing.T) {
	sp := graphstoretest.SpaceName(0)
	for name, make := range map[string]func() *graphstore.Snapshot{
		"facts":     func() *graphstore.Snapshot { return newPlausible(2, sp, 4_000, false).build(t) },
		"small":     func() *graphstore.Snapshot { return newPlausible(3, sp, 1_000, true).build(t) },
		"large":     func() *graphstore.Snapshot { return newPlausible(4, sp, 20_000, true).build(t) },
		"generated": func() *graphstore.Snapshot { return grown(t, sp, graphstoretest.Graph(5, 1, 5_000), 5_000) },
		"grown":     func() *graphstore.Snapshot { return grown(t, sp, graphstoretest.Graph(6, 1, 3_000), 7) },
		"summed up": func() *graphstore.Snapshot { return summedUp(t, newPlausible(9, sp, 4_000, true)) },
		"shrunk":    func() *graphstore.Snapshot { return shrunk(t, grown(t, sp, graphstoretest.Graph(7, 1, 4_000), 500), 2) },
	} {
		t.Run(name, func(t *testing.T) {
			s, took := measured(t, make)
			if ratio := float64(s.Bytes()) / float64(took); math.Abs(ratio-1) > .25 {
				t.Errorf("%d facts, %d edges: estimate %d, measured %d: ratio %.2f", s.Facts(), s.Edges(), s.Bytes(), took, ratio)
			} else {
				t.Logf("ratio %.2f of %d bytes", ratio, took)
			}
			var estimate int64
			for c := range s.Records() {
				estimate += graphstore.EstimateBytes(c)
			}
			if ratio := float64(estimate) / float64(took); name != "shrunk" && math.Abs(ratio-1) > .35 {
				t.Errorf("estimate from the records %d, measured %d: ratio %.2f", estimate, took, ratio)
			} else {
				t.Logf("from the records: ratio %.2f", ratio)
			}
			runtime.KeepAlive(s)
		})
	}
}

// summedUp is a graph with schemas, evidence of facts and of points that are none, decisions on entities and retracted
// sources: as many of each as would be much.
func summedUp(tb testing.TB, p *plausible) *graphstore.Snapshot {
	tb.Helper()
	s := p.build(tb)
	var all []graphstore.Change
	for i := range 800 {
		schema, stamp := p.uuid(), graphstore.Stamp{Version: int64(i), Rank: graphstore.RankAdd, EventID: p.uuid(), At: graphstore.Instant(i + 1)}
		changes := []graphstore.Change{
			graphstore.PutSchema(s.Space(), graphstore.Schema{ID: schema, Level: graphstore.LevelSchema, Title: fmt.Sprintf("Ada has changed jobs %d times", i), Stamp: stamp}),
			graphstore.PutMerge(s.Space(), graphstore.Merge{Merged: entity(2 * i), Kept: entity(2*i + 1), Step: graphstore.StepMerged, MergedName: entity(2 * i), KeptName: entity(2*i + 1), Stamp: stamp}),
		}
		if i%8 == 0 {
			changes = append(changes, graphstore.PutTombstone(s.Space(), graphstore.Tombstone{Source: p.uuid(), At: 5}))
		}
		by := graphstore.Asserter{Kind: graphstore.BySchema, ID: schema}
		for k := range 4 {
			changes = append(changes, graphstore.PutEdge(s.Space(), graphstore.Edge{Source: schema, Target: p.ids[i+k], Type: graphstore.DerivedFrom, Weight: 1, Asserter: by}))
		}
		ref := p.uuid()
		changes = append(changes, graphstore.PutRef(s.Space(), graphstore.Ref{ID: ref}),
			graphstore.PutEdge(s.Space(), graphstore.Edge{Source: schema, Target: ref, Type: graphstore.DerivedFromRef, Weight: 1, Asserter: by}))
		all = append(all, changes...)
	}
	s, err := s.With(all)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestBytesOfNothing: what goes takes its bytes along, so nothing drifts.
func TestBytesOfNothing(t *testing.T) {
	sp := graphstoretest.SpaceName(0)
	empty := graphstore.NewSnapshot(sp)
	full := grown(t, sp, graphstoretest.Graph(8, 1, 300), 10)
	if left := shrunk(t, full, 1); left.Bytes() != empty.Bytes() || left.Facts() != 0 {
		t.Errorf("%d bytes of %d facts left: want the %d of an empty graph", left.Bytes(), left.Facts(), empty.Bytes())
	}
}

func grown(tb testing.TB, sp graphstore.Space, changes []graphstore.Change, step int) *graphstore.Snapshot {
	tb.Helper()
	s := graphstore.NewSnapshot(sp)
	for piece := range slices.Chunk(changes, step) {
		var err error
		if s, err = s.With(piece); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// shrunk removes one in every n facts with its edges, and the entities and topics nothing leads to any more.
func shrunk(tb testing.TB, s *graphstore.Snapshot, n int) *graphstore.Snapshot {
	tb.Helper()
	i := 0
	for c := range s.Records() {
		if c.Fact == nil {
			continue
		}
		if i++; i%n != 0 {
			continue
		}
		changes := []graphstore.Change{graphstore.DeleteKey(s.Space(), c.Key())}
		for _, e := range s.EdgesOf(c.Fact.ID) {
			changes = append(changes, graphstore.DeleteKey(s.Space(), e.Key()))
		}
		var err error
		if s, err = s.With(changes); err != nil {
			tb.Fatal(err)
		}
	}
	for c := range s.Records() {
		if k := c.Key(); c.Entity != nil && len(s.EdgesTo(graphstore.KindEntity, k.Node)) == 0 ||
			c.Topic != nil && len(s.EdgesTo(graphstore.KindTopic, k.Node)) == 0 {
			var err error
			if s, err = s.With([]graphstore.Change{graphstore.DeleteKey(s.Space(), k)}); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return s
}
