package live_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

// A graph with room for about two of five users, one without a bound and the naive store go through one history of
// commits, refusals, lost answers, lost commits, searches and plans. They end, and are at every step, the same.
func TestBoundedEqualsUnboundedEqualsStore(t *testing.T) {
	limits := []int64{1, 1500, 4000, 20000}
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		model := graphstoretest.NewMemory()
		bounded, boundedStore := newCase(t, rapid.SampledFrom(limits).Draw(t, "limit"))
		whole, wholeStore := newCase(t, 0)
		defer bounded.Close()
		defer whole.Close()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			space := graphstoretest.SpaceName(rapid.IntRange(0, 4).Draw(t, "user"))
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				view(t, bounded, model, space)
			case 1:
				plan(t, bounded, model, space)
				plan(t, whole, model, space)
			default:
				changes := rapid.SliceOfN(rapid.Custom(drawChange), 1, 12).Draw(t, "changes")
				fault := rapid.SampledFrom([]string{"", "", "", "before", "after"}).Draw(t, "fault")
				boundedStore.fault, wholeStore.fault = fault, fault
				got, gotWhole := bounded.Apply(ctx, changes), whole.Apply(ctx, changes)
				boundedStore.fault, wholeStore.fault = "", ""
				refused := isRefused(got)
				if refused != isRefused(gotWhole) || (got == nil) != (gotWhole == nil) {
					t.Fatalf("bounded says %v, unbounded %v", got, gotWhole)
				}
				if refused || fault != "before" {
					if err := model.Apply(ctx, changes); isRefused(err) != refused {
						t.Fatalf("graph says %v, store %v", got, err)
					}
				}
				if got != nil && !refused { // the caller plans again
					for i := range 5 {
						plan(t, bounded, model, graphstoretest.SpaceName(i))
						plan(t, whole, model, graphstoretest.SpaceName(i))
					}
				}
			}
			checkSame(t, bounded, whole, model)
		}
		for i := range 5 {
			view(t, bounded, model, graphstoretest.SpaceName(i))
			view(t, whole, model, graphstoretest.SpaceName(i))
		}
	})
}

func isRefused(err error) bool {
	return errors.Is(err, graphstore.ErrBadChange) || errors.Is(err, graphstore.ErrDangling)
}

// faults fails the next Apply as told.
type faults struct{ fault string }

func newCase(t *rapid.T, limit int64) (*live.Graph, *faults) {
	f := &faults{}
	store := graphstoretest.NewFaulty(graphstoretest.NewMemory(), func(c graphstoretest.Call) graphstoretest.Fault {
		switch {
		case c.Method != graphstoretest.MethodApply:
			return graphstoretest.Fault{}
		case f.fault == "before":
			return graphstoretest.Fault{Before: errors.New("lost on the way there")}
		case f.fault == "after":
			return graphstoretest.Fault{After: errors.New("lost on the way back")}
		default:
			return graphstoretest.Fault{}
		}
	})
	cfg := quiet()
	cfg.MaxBytes = limit
	g := live.New(store, cfg)
	if err := g.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return g, f
}

func drawChange(t *rapid.T) graphstore.Change {
	space := graphstoretest.SpaceName(rapid.IntRange(0, 4).Draw(t, "user"))
	id := func(label string) string { return fmt.Sprint(label, rapid.IntRange(0, 3).Draw(t, label)) }
	edge := graphstore.Edge{Source: id("f"), Target: id("f"), Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f0"}}
	evidence := graphstore.Edge{Source: id("s"), Target: id("f"), Type: graphstore.DerivedFrom, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: "s"}}
	switch rapid.IntRange(0, 14).Draw(t, "what") {
	case 0, 1, 2:
		return graphstore.PutFact(space, graphstore.Fact{ID: id("f"), State: graphstore.State(rapid.IntRange(0, 4).Draw(t, "state")), SourceID: id("source")})
	case 3:
		return graphstore.PutEntity(space, graphstore.Entity{ID: id("e"), Norm: "n"})
	case 4, 5:
		return graphstore.PutEdge(space, edge)
	case 6:
		return graphstore.DeleteKey(space, edge.Key())
	case 7:
		return graphstore.DeleteKey(space, graphstore.Key{Kind: graphstore.KindFact, Node: id("f")})
	case 8:
		return graphstore.PutSchema(space, graphstore.Schema{ID: id("s"), Title: id("title")})
	case 9:
		return graphstore.PutEdge(space, evidence)
	case 10:
		return graphstore.PutRef(space, graphstore.Ref{ID: id("f")})
	case 11:
		return graphstore.PutMerge(space, graphstore.Merge{Merged: id("e"), Kept: "kept", Undone: rapid.Bool().Draw(t, "undone")})
	case 12:
		return graphstore.PutTombstone(space, graphstore.Tombstone{Source: id("source"), At: 1})
	case 13:
		return graphstore.DeleteKey(space, evidence.Key())
	default:
		return graphstore.DeleteKey(space, rapid.SampledFrom([]graphstore.Key{
			{Kind: graphstore.KindSchema, Node: id("s")}, {Kind: graphstore.KindRef, Node: id("f")},
			{Kind: graphstore.KindMerge, Node: id("e"), Target: "kept"}, graphstore.Tombstone{Source: id("source")}.Key(),
		}).Draw(t, "gone"))
	}
}

func spaceDigest(t *rapid.T, store graphstore.Store, space graphstore.Space) (d graphstore.Digest) {
	if err := store.Load(context.Background(), space, func(c graphstore.Change) error { d.Add(c); return nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

// view compares what a search sees: all of a user or a reason why not.
func view(t *rapid.T, g *live.Graph, model graphstore.Store, space graphstore.Space) {
	s, err := g.Acquire(context.Background(), space)
	switch {
	case errors.Is(err, live.ErrTooLarge) && g.Usage().MaxBytes > 0:
	case err != nil:
		t.Fatal(err)
	case s.Digest() != spaceDigest(t, model, space):
		t.Fatalf("search of %s sees %s: want %s", space, s.Digest(), spaceDigest(t, model, space))
	case g.Usage().MaxBytes > 0 && s.Digest().Records() > 0 && s.Bytes() > g.Usage().MaxBytes:
		t.Fatalf("%d bytes of %s served", s.Bytes(), space)
	}
}

func plan(t *rapid.T, g *live.Graph, model graphstore.Store, space graphstore.Space) {
	s, err := g.Snapshot(context.Background(), space)
	if err != nil {
		t.Fatal(err)
	}
	if s.Digest() != spaceDigest(t, model, space) {
		t.Fatalf("plan for %s sees %s: want %s", space, s.Digest(), spaceDigest(t, model, space))
	}
}

// checkSame compares whole graphs and recounts what the directory keeps.
func checkSame(t *rapid.T, bounded, whole *live.Graph, model *graphstoretest.Memory) {
	head, err := model.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	stats, err := model.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*live.Graph{bounded, whole} {
		c, u := g.Counts(), g.Usage()
		if g.Digest() != head.Digest {
			t.Fatalf("digest %s: want %s", g.Digest(), head.Digest)
		}
		counted := graphstore.Stats{
			Spaces: c.Spaces, Facts: c.Facts, Entities: c.Entities, Topics: c.Topics, Edges: c.Edges,
			Schemas: c.Schemas, Refs: c.Refs, Merges: c.Merges, Tombstones: c.Tombstones,
		}
		if counted != stats || u.Spaces != c.Spaces {
			t.Fatalf("counts %+v, %+v: want %+v", c, u, stats)
		}
		if u.MaxBytes > 0 && u.Bytes > u.MaxBytes {
			t.Fatalf("%+v: over the bound", u)
		}
	}
	if bounded.Counts() != whole.Counts() || whole.Usage().Resident != stats.Spaces {
		t.Fatalf("bounded %+v, unbounded %+v, resident %d", bounded.Counts(), whole.Counts(), whole.Usage().Resident)
	}
}
