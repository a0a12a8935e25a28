package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// A store that loses everything behind the graph's back, as one does that opens an empty file in the place of a damaged
// one, is not believed: not by a search, not by a plan, and not after a commit of unknown outcome.
func TestEmptiedStoreIsNotBelieved(t *testing.T) {
	ctx := context.Background()
	memory, bytes := filled(t, 3, 50)
	store := graphstoretest.NewFaulty(memory, graphstoretest.OnNth(graphstoretest.MethodApply, 1, graphstoretest.Fault{Before: errors.New("child died")}))
	g := loadedWithin(t, store, bytes[0]*2)
	zero, one, two := graphstoretest.SpaceName(0), graphstoretest.SpaceName(1), graphstoretest.SpaceName(2)
	if acquire(t, g, zero).Facts() != 50 {
		t.Fatal("not whole")
	}
	if err := g.Apply(ctx, []graphstore.Change{fact(zero, "new")}); err == nil {
		t.Fatal("no error")
	}
	counts := g.Counts()
	var all []graphstore.Change
	if err := memory.LoadAll(ctx, func(c graphstore.Change) error { all = append(all, graphstore.DeleteKey(c.Space, c.Key())); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := memory.Apply(ctx, all); err != nil {
		t.Fatal(err)
	}
	if s, err := g.Acquire(ctx, one); !errors.Is(err, graphstore.ErrDamaged) {
		t.Errorf("search: %v, %v", s, err)
	}
	for _, s := range []graphstore.Space{zero, two} {
		if s, err := g.Snapshot(ctx, s); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("plan: %v, %v", s, err)
		}
	}
	if s, err := g.View(zero); err != nil || s.Facts() != 50 {
		t.Errorf("what is resident: %v", err)
	}
	if g.Counts() != counts {
		t.Errorf("counts %+v: want those committed, %+v", g.Counts(), counts)
	}
}

// A store that gives other records of a user than were committed, in the right number, as one does whose file has a flipped
// byte, is not believed, and what is published stays: also after a commit of unknown outcome it is what the store has
// committed.
func TestChangedRecordsAreNotBelieved(t *testing.T) {
	ctx := context.Background()
	memory, bytes := filled(t, 3, 50)
	for _, limit := range []int64{0, bytes[0] * 2} {
		store := &flipped{Memory: memory}
		faulty := graphstoretest.NewFaulty(store, graphstoretest.OnNth(graphstoretest.MethodApply, 1, graphstoretest.Fault{Before: errors.New("child died")}))
		g := loadedWithin(t, faulty, limit)
		zero, one := graphstoretest.SpaceName(0), graphstoretest.SpaceName(1)
		want := acquire(t, g, zero).Digest()
		if err := g.Apply(ctx, []graphstore.Change{fact(zero, "new")}); err == nil {
			t.Fatal("no error")
		}
		store.on = true
		if s, err := g.Snapshot(ctx, zero); err != nil || s.Digest() != want {
			t.Errorf("plan: %v, %v", s, err)
		}
		if limit > 0 {
			if s, err := g.Acquire(ctx, one); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("search: %v, %v", s, err)
			}
		}
		if s, err := g.View(zero); err != nil || s.Digest() != want {
			t.Errorf("what is published: %v, %v", s, err)
		}
		store.on = false
		if s, err := g.Snapshot(ctx, zero); err != nil || s.Digest() != want {
			t.Errorf("plan on what was committed: %v, %v", s, err)
		}
	}
}

// flipped gives every fact another agent.
type flipped struct {
	*graphstoretest.Memory
	on bool
}

func (f *flipped) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	return f.Memory.Load(ctx, space, func(c graphstore.Change) error {
		if f.on && c.Fact != nil {
			c.Fact.AgentID += "x"
		}
		return yield(c)
	})
}

// A store that has lost what a change names refuses it; that is no fault of the change.
func TestRefusalOfAStoreThatDiffersIsDamage(t *testing.T) {
	ctx := context.Background()
	memory, _ := filled(t, 1, 50)
	g := loadedWithin(t, memory, 0)
	space := graphstoretest.SpaceName(0)
	var facts []string
	var all []graphstore.Change
	if err := memory.LoadAll(ctx, func(c graphstore.Change) error {
		if c.Fact != nil {
			facts = append(facts, c.Fact.ID)
		}
		all = append(all, graphstore.DeleteKey(c.Space, c.Key()))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := memory.Apply(ctx, all); err != nil {
		t.Fatal(err)
	}
	edge := graphstore.PutEdge(space, graphstore.Edge{Source: facts[0], Target: facts[1], Type: graphstore.Causes,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: facts[0]}, Weight: 1})
	if err := g.Apply(ctx, []graphstore.Change{edge}); !errors.Is(err, graphstore.ErrDamaged) || errors.Is(err, graphstore.ErrDangling) {
		t.Errorf("%v: want damage, and not a dangling edge", err)
	}
}
