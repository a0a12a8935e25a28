package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// Verify believes a store after each commit, and after one of unknown outcome in either state; never one that lost a
// commit or came by one.
func TestVerify(t *testing.T) {
	ctx := context.Background()
	s := graphstoretest.SpaceName(0)
	for name, outcome := range map[string]graphstoretest.Fault{
		"lost on the way there": {Before: errors.New("lost")},
		"lost on the way back":  {After: errors.New("lost")},
	} {
		t.Run(name, func(t *testing.T) {
			memory, _ := filled(t, 2, 20)
			g := loaded(t, graphstoretest.NewFaulty(memory, graphstoretest.OnNth(graphstoretest.MethodApply, 2, outcome)))
			good := func(when string) {
				t.Helper()
				if err := g.Verify(ctx); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			}
			good("after the load")
			if err := g.Apply(ctx, []graphstore.Change{fact(s, "a")}); err != nil {
				t.Fatal(err)
			}
			good("after a commit")
			if err := g.Apply(ctx, []graphstore.Change{fact(s, "b")}); err == nil {
				t.Fatal("no error")
			}
			good("in doubt")
			if err := g.Apply(ctx, []graphstore.Change{fact(graphstoretest.SpaceName(1), "c")}); err != nil {
				t.Fatal(err)
			}
			good("in doubt, after another commit")
			if err := g.Apply(ctx, []graphstore.Change{fact(s, "b")}); err != nil {
				t.Fatal(err)
			}
			good("done again")
			// Behind the graph's back:
			if err := memory.Apply(ctx, []graphstore.Change{graphstore.DeleteKey(s, graphstore.Key{Kind: graphstore.KindFact, Node: "a"})}); err != nil {
				t.Fatal(err)
			}
			if err := g.Verify(ctx); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("a store without a commit: %v", err)
			}
			if err := memory.Apply(ctx, []graphstore.Change{fact(s, "a")}); err != nil {
				t.Fatal(err)
			}
			good("as it was")
		})
	}
}
