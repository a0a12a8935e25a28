package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// The origins of random events and points are those of three lists of records, compared one by one.
func TestOriginsAreThoseOfThreeLists(t *testing.T) {
	proj, err := projector.New(projector.Config{TemporalSpine: true})
	if err != nil {
		t.Fatal(err)
	}
	space := spaceOf(t, "u")
	rapid.Check(t, func(t *rapid.T) {
		b := projectortest.GenBackfilled(8, space).Draw(t, "backfilled")
		take := func(view *graphstore.Snapshot, p projector.Planned, err error) *graphstore.Snapshot {
			if err == nil {
				view, err = view.With(p.Changes)
			}
			if err != nil {
				t.Fatal(err)
			}
			return view
		}
		empty := graphstore.NewSnapshot(space)
		log, store := empty, empty
		for _, ev := range b.Events {
			p, err := proj.Plan(log, ev)
			log = take(log, p, err)
		}
		made := log
		for _, f := range b.Stored {
			one := []projector.StoredFact{f}
			p, err := proj.PlanStored(store, one)
			store = take(store, p, err)
			p, err = proj.PlanStored(made, one)
			made = take(made, p, err)
		}
		want := naiveOrigins(listed(made), listed(log), listed(store))
		if diff := cmp.Diff(want, map[string]server.RebuildOrigins(originsOf(made, log, store))); diff != "" {
			t.Fatalf("(-naive +rebuild):\n%s", diff)
		}
	})
}

// listed lists a graph's records by what names them and by their content.
func listed(s *graphstore.Snapshot) map[graphstore.Key]graphstore.Change {
	out := map[graphstore.Key]graphstore.Change{}
	for c := range s.Records() {
		out[c.Key()] = c
	}
	return out
}

func naiveOrigins(made, log, store map[graphstore.Key]graphstore.Change) map[string]server.RebuildOrigins {
	out := map[string]server.RebuildOrigins{}
	// A fact that a list only names is not one that it makes.
	by := func(list map[graphstore.Key]graphstore.Change, c graphstore.Change) bool {
		r, ok := list[c.Key()]
		return ok && (c.Fact == nil || (r.Fact.State == graphstore.StateUnseen) == (c.Fact.State == graphstore.StateUnseen))
	}
	for key, c := range made {
		o := out[originKind(c)]
		inLog, inStore := by(log, c), by(store, c)
		if inLog && !inStore {
			o.Log++
		}
		if inStore && !inLog {
			o.Store++
		}
		if inLog && inStore {
			o.Both++
		}
		if !inLog && !inStore {
			o.Together++
		}
		if inLog && !cmp.Equal(log[key], c, cmpopts.EquateComparable(graphstore.Space{}), cmpopts.EquateEmpty()) {
			o.Changed++
		}
		out[originKind(c)] = o
	}
	for key, c := range log {
		if _, stays := made[key]; !stays {
			o := out[originKind(c)]
			o.Gone++
			out[originKind(c)] = o
		}
	}
	return out
}
