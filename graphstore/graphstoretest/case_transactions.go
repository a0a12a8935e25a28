package graphstoretest

import (
	"fmt"
	"math/rand/v2"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// transactionCases: what one Apply does as a whole.
func transactionCases() []testCase {
	return []testCase{
		{"apply/empty slice changes nothing", func(f *fixture) {
			f.apply()
			f.want()
			f.apply(village(ada)...)
			f.apply([]graphstore.Change{}...)
			f.want(village(ada)...)
		}},
		{"apply/twice is once", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			f.apply(all...)
			f.want(all...)
			some := goneAll([]graphstore.Change{all[10], all[11], all[12], all[3], all[4]})
			f.apply(some...)
			f.apply(some...)
			f.want(without(all, some...)...)
		}},
		{"apply/deletes of what is not there", func(f *fixture) {
			f.apply(goneAll(village(ada))...)
			f.want()
			all := village(ada)
			f.apply(all...)
			f.apply(gone(fact(ada, "none")), gone(edge(ada, "none", graphstore.Mentions, "e1")),
				gone(edge(ada, "f1", graphstore.Mentions, "none")), gone(edge(ada, "f1", graphstore.Causes, "f2")),
				gone(fact(bob, "f1")))
			f.want(all...)
		}},
		{"apply/several spaces at once", func(f *fixture) {
			a, b := village(ada), village(bob)
			f.apply(append(a, b...)...)
			f.apply(append(goneAll(a), graphstore.PutFact(bob, fullFact("f1")))...)
			f.want(append(without(b, b[0]), graphstore.PutFact(bob, fullFact("f1")))...)
		}},
		{"apply/any order inside the slice", anyOrder},
		{"apply/node goes with its edges", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			var of []graphstore.Change
			for _, c := range all {
				if c.Edge != nil && (c.Edge.Source == "f1" || c.Edge.Target == "f1") {
					of = append(of, c)
				}
			}
			f.apply(append([]graphstore.Change{gone(all[0])}, goneAll(of)...)...)
			f.want(without(all, append(of, all[0])...)...)
		}},
		{"apply/node comes back without its old edges", func(f *fixture) {
			all := village(ada)
			for range 3 {
				f.apply(all...)
				f.apply(goneAll(all)...)
				f.want()
				f.apply(all[:6]...)
				f.want(all[:6]...)
			}
		}},
		{"apply/edge moves", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			for range 3 {
				f.apply(gone(edge(ada, "f2", graphstore.Mentions, "e2")), edge(ada, "f3", graphstore.Mentions, "e2"))
				f.want(append(without(all, edge(ada, "f2", graphstore.Mentions, "e2")), edge(ada, "f3", graphstore.Mentions, "e2"))...)
				f.apply(edge(ada, "f2", graphstore.Mentions, "e2"), gone(edge(ada, "f3", graphstore.Mentions, "e2")))
				f.want(all...)
			}
		}},
		{"apply/entity is replaced by another", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			old := []graphstore.Change{all[3], edge(ada, "f1", graphstore.Mentions, "e1"), edge(ada, "f2", graphstore.Mentions, "e1")}
			now := []graphstore.Change{entity(ada, "e9"), edge(ada, "f1", graphstore.Mentions, "e9"), edge(ada, "f2", graphstore.Mentions, "e9")}
			f.apply(append(goneAll(old), now...)...)
			f.want(append(without(all, old...), now...)...)
		}},
		{"apply/leaves the slice alone and keeps nothing of it", keepsNothing},
		{"apply/one record many times", manyUpdates},
		{"apply/an edge comes and goes", comesAndGoes},
		{"apply/two thousand changes", twoThousand},
		{"apply/generated graph in pieces", func(f *fixture) {
			all := Graph(11, 3, 120)
			for i := 0; i < len(all); i += 97 {
				f.apply(all[i:min(i+97, len(all))]...)
			}
			f.want(all...)
		}},
	}
}

// anyOrder applies transactions that need an order, in many of them.
func anyOrder(f *fixture) {
	all := village(ada)
	old := []graphstore.Change{all[2], all[7]} // f3 with its edge
	now := []graphstore.Change{fact(ada, "f4"), edge(ada, "f4", graphstore.Mentions, "e9"), entity(ada, "e9"),
		edge(ada, "f1", graphstore.SameSeries, "f4")}
	want := append(without(all, old...), now...)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		f.apply(shuffled(rng, all)...)
		f.apply(shuffled(rng, append(goneAll(old), now...))...)
		f.want(want...)
		f.apply(shuffled(rng, goneAll(want))...)
		f.want()
	}
}

func shuffled(rng *rand.Rand, changes []graphstore.Change) []graphstore.Change {
	out := append([]graphstore.Change(nil), changes...)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func keepsNothing(f *fixture) {
	given := []graphstore.Change{graphstore.PutFact(ada, fullFact("f1")), graphstore.PutEntity(ada, fullEntity("e1")), topic(ada, "t"),
		edge(ada, "f1", graphstore.Mentions, "e1")}
	want := make([]graphstore.Change, len(given))
	for i, c := range given {
		want[i] = clone(c)
	}
	f.apply(given...)
	if diff := gocmp.Diff(want, given, recordOptions); diff != "" {
		f.Fatalf("apply modified its argument:\n%s", diff)
	}
	given[0].Fact.AgentID = "modified"
	given[0].Fact.Registers.Fields[0].Stamp.Version = -1
	given[1].Entity.Aliases[0] = "modified"
	given[1].Entity.HardIDs[0].Value = "modified"
	given[2].Topic.Name = "modified"
	given[3].Edge.Weight = 1
	f.want(want...)
}

func manyUpdates(f *fixture) {
	e := graphstore.Entity{ID: "e", Norm: "e"}
	for i := range 200 {
		e.Mentions = i
		e.Name = fmt.Sprint("spelling ", i%7)
		f.apply(graphstore.PutEntity(ada, e))
	}
	f.want(graphstore.PutEntity(ada, e))
}

// comesAndGoes creates and deletes one edge over and over, with checkpoints at different places in between.
func comesAndGoes(f *fixture) {
	nodes := []graphstore.Change{fact(ada, "a"), fact(ada, "b"), entity(ada, "e")}
	edges := []graphstore.Change{edge(ada, "a", graphstore.Causes, "b"), edge(ada, "a", graphstore.Mentions, "e")}
	f.apply(nodes...)
	for i := range 24 {
		f.apply(edges...)
		f.checkpointIf(i%3 == 1)
		f.apply(goneAll(edges)...)
		f.checkpointIf(i%4 == 1)
		if i%5 == 0 {
			f.want(nodes...)
		}
	}
	f.want(nodes...)
}

func (f *fixture) checkpointIf(now bool) {
	f.Helper()
	if !now || f.h.Checkpoint == nil {
		return
	}
	if err := f.h.Checkpoint(f.store); err != nil {
		f.Fatalf("checkpoint: %v", err)
	}
}

// twoThousand commits a large transaction of every kind of write.
func twoThousand(f *fixture) {
	var all []graphstore.Change
	for i := range 500 {
		id := fmt.Sprintf("f%d", i)
		all = append(all, fact(ada, id), edge(ada, id, graphstore.Mentions, fmt.Sprintf("e%d", i%100)),
			edge(ada, id, graphstore.TaggedWith, fmt.Sprintf("t%d", i%50)))
		if i > 0 {
			all = append(all, edge(ada, id, graphstore.Elaborates, fmt.Sprintf("f%d", i/2)))
		}
	}
	for i := range 100 {
		all = append(all, entity(ada, fmt.Sprintf("e%d", i)), topic(ada, fmt.Sprintf("t%d", i%50+i/50*1000)))
	}
	f.apply(all...)
	f.want(all...)
	now := all[:0:0]
	for _, c := range all { // updates of every record at once
		switch {
		case c.Fact != nil:
			c = graphstore.PutFact(ada, fullFact(c.Fact.ID))
		case c.Edge != nil:
			e := *c.Edge
			e.Weight = 0.75
			c = graphstore.PutEdge(ada, e)
		}
		now = append(now, c)
	}
	f.apply(now...)
	f.want(now...)
	f.apply(goneAll(now)...)
	f.want()
}
