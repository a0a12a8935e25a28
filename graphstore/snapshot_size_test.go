package graphstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// TestHubMatchesNaiveStore makes large transactions around one fact and one entity with hundreds of edges, so that ties
// are found by the hub's table, notes become free and indexes have several shards.
func TestHubMatchesNaiveStore(t *testing.T) {
	sp := space(t, "u")
	rng := rand.New(rand.NewPCG(1, 2))
	store, snap := graphstoretest.NewMemory(), graphstore.NewSnapshot(sp)
	const facts = 400
	id := func() string { return fmt.Sprint("f", rng.IntN(facts)) }
	edge := func() graphstore.Edge {
		e := graphstore.Edge{Source: "hub", Target: id(), Weight: float64(1+rng.IntN(4)) / 4,
			Type:     []graphstore.RelationType{graphstore.Causes, graphstore.CoOccurs, graphstore.Mentions}[rng.IntN(3)],
			Asserter: graphstore.Asserter{Kind: graphstore.AsserterKind(1 + rng.IntN(3)), ID: []string{"hub", "", "f1", "b"}[rng.IntN(4)]},
			Detail:   []string{"", "", "one", "two"}[rng.IntN(4)]}
		switch {
		case e.Type == graphstore.Mentions && rng.IntN(2) == 0:
			e.Target = fmt.Sprint("e", rng.IntN(200))
		case e.Type == graphstore.Mentions:
			e.Source, e.Target = id(), "e0"
		case rng.IntN(2) == 0:
			e.Source, e.Target = e.Target, e.Source
		}
		return e.Normalized()
	}
	apply := func(changes []graphstore.Change) {
		next, err := snap.With(changes)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Apply(context.Background(), changes); err != nil {
			t.Fatal(err)
		}
		snap = next
	}
	changes := []graphstore.Change{graphstore.PutFact(sp, graphstore.Fact{ID: "hub", State: graphstore.StateActive})}
	for i := range facts {
		changes = append(changes, graphstore.PutFact(sp, graphstore.Fact{ID: fmt.Sprint("f", i), State: graphstore.StateActive, BatchID: fmt.Sprint("b", i/2)}))
	}
	for i := range 200 {
		changes = append(changes, graphstore.PutEntity(sp, graphstore.Entity{ID: fmt.Sprint("e", i), Norm: "n"}))
	}
	apply(changes)
	for round := range 18 {
		seen := map[graphstore.Key]bool{}
		changes = changes[:0]
		for range 1 + rng.IntN(800) {
			e := edge()
			if seen[e.Key()] {
				continue
			}
			seen[e.Key()] = true
			if c := graphstore.PutEdge(sp, e); round%3 == 2 && rng.IntN(4) > 0 {
				changes = append(changes, graphstore.DeleteKey(sp, e.Key()))
			} else {
				changes = append(changes, c)
			}
		}
		before := snap.Digest()
		kept := snap
		apply(changes)
		head, err := store.Head(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if snap.Digest() != head.Digest || kept.Digest() != before {
			t.Fatalf("round %d: snapshot %s, naive store %s; the one before is as it was: %t", round, snap.Digest(), head.Digest, kept.Digest() == before)
		}
		if fresh := grown(t, sp, records(snap), 1<<30); fresh.Edges() != snap.Edges() || fresh.Present() != snap.Present() {
			t.Fatalf("round %d: %d edges, %d present; built anew %d, %d", round, snap.Edges(), snap.Present(), fresh.Edges(), fresh.Present())
		}
	}
	if hub, _ := snap.Node("hub"); len(snap.Links(hub)) < 400 {
		t.Fatalf("%d links at the hub: too few to be one", len(snap.Links(hub)))
	}
}

func records(s *graphstore.Snapshot) []graphstore.Change {
	var all []graphstore.Change
	for c := range s.Records() {
		all = append(all, c)
	}
	return all
}
