package graphstore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func spineIDs(s *graphstore.Snapshot) []string {
	var ids []string
	for n := range s.SpineFrom(graphstore.SpinePlace{MemoryAt: -1 << 62}) {
		ids = append(ids, s.ID(n))
	}
	return ids
}

// The order, by hand: memory_at, then recorded_at with none before any, then id; and who is on it.
func TestSpineOrder(t *testing.T) {
	sp := space(t, "u")
	fact := func(id string, state graphstore.State, memory, recorded graphstore.Instant) graphstore.Change {
		return graphstore.PutFact(sp, graphstore.Fact{ID: id, State: state, MemoryAt: memory, RecordedAt: recorded})
	}
	before, epoch, after := graphstore.InstantOfMicros(-1), graphstore.InstantOfMicros(0), graphstore.InstantOfMicros(1)
	snap, err := graphstore.NewSnapshot(sp).With([]graphstore.Change{
		fact("g", graphstore.StateActive, after, 0),
		fact("f", graphstore.StateActive, epoch, after),
		fact("e", graphstore.StateActive, epoch, epoch),
		fact("d", graphstore.StateActive, epoch, before),
		fact("c", graphstore.StateActive, epoch, 0), // recorded nobody knows when: before those recorded before 1970
		fact("b", graphstore.StateActive, epoch, 0),
		fact("z", graphstore.StateActive, before, after),
		fact("timeless", graphstore.StateActive, 0, after),
		fact("superseded", graphstore.StateSuperseded, epoch, 0), fact("shadowed", graphstore.StateShadowed, epoch, 0),
		fact("deleted", graphstore.StateDeleted, epoch, 0), fact("unseen", graphstore.StateUnseen, epoch, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := spineIDs(snap), []string{"z", "b", "c", "d", "e", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("spine %v: want %v", got, want)
	}
	// A place need not be that of a fact on the spine: just before and just after "c".
	for id, want := range map[string]string{"bz": "b|c", "c": "b|c", "ca": "c|d", "": "z|b"} {
		place := graphstore.SpinePlace{MemoryAt: epoch, ID: id}
		var left, right string
		for n := range snap.SpineBefore(place) {
			left = snap.ID(n)
			break
		}
		for n := range snap.SpineFrom(place) {
			right = snap.ID(n)
			break
		}
		if got := left + "|" + right; got != want {
			t.Errorf("around %q: %s: want %s", id, got, want)
		}
	}
	if _, on := graphstore.PlaceOnSpine(&graphstore.Fact{ID: "x", State: graphstore.StateActive}); on {
		t.Error("a fact without a time has a place on the spine")
	}
}

func TestEmptySpine(t *testing.T) {
	s := graphstore.NewSnapshot(space(t, "u"))
	for n := range s.SpineBefore(graphstore.SpinePlace{MemoryAt: 1}) {
		t.Errorf("node %d on an empty spine", n)
	}
	if ids := spineIDs(s); ids != nil {
		t.Errorf("%v on an empty spine", ids)
	}
}

// TestSpineOfManyMatchesNaive edits a spine of several chunks in transactions of one to hundreds of facts that come, go,
// move and change state, in the middle and at both ends. Every version stays as it was.
func TestSpineOfManyMatchesNaive(t *testing.T) {
	sp := space(t, "u")
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		snap := graphstore.NewSnapshot(sp)
		type version struct {
			snap *graphstore.Snapshot
			ids  []string
		}
		var versions []version
		last := int64(0)
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			changes := map[string]graphstore.Change{}
			kind := rapid.SampledFrom([]string{"grow", "random", "shrink", "one"}).Draw(t, "kind")
			n := map[string]int{"one": 1}[kind]
			if n == 0 {
				n = 1 + rng.IntN(400)
			}
			for range n {
				id := fmt.Sprint("f", rng.IntN(600))
				f := graphstore.Fact{ID: id, State: graphstore.StateActive, MemoryAt: graphstore.InstantOfMicros(rng.Int64N(100) - 50), RecordedAt: graphstore.Instant(rng.Int64N(3) - 1)}
				switch {
				case kind == "grow": // times that only grow
					last++
					f.MemoryAt = graphstore.InstantOfMicros(1_000 + last)
				case kind == "shrink":
					changes[id] = graphstore.DeleteKey(sp, f.Key())
					continue
				case rng.IntN(4) == 0:
					f.State = graphstore.State(rng.IntN(5))
				case rng.IntN(9) == 0:
					f.MemoryAt = 0
				}
				changes[id] = graphstore.PutFact(sp, f)
			}
			var list []graphstore.Change
			for _, c := range changes {
				list = append(list, c)
			}
			next, err := snap.With(list)
			if err != nil {
				t.Fatal(err)
			}
			snap = next
			versions = append(versions, version{snap, naiveSpine(snap)})
		}
		for i, v := range versions {
			if got := spineIDs(v.snap); !slices.Equal(got, v.ids) {
				t.Fatalf("version %d: spine of %d: %v: want %v", i, len(v.ids), got, v.ids)
			}
		}
	})
}

// naiveSpine sorts.
func naiveSpine(s *graphstore.Snapshot) []string {
	var facts []graphstore.Fact
	for c := range s.Records() {
		if c.Fact.State == graphstore.StateActive && c.Fact.MemoryAt.Present() {
			facts = append(facts, *c.Fact)
		}
	}
	slices.SortFunc(facts, func(a, b graphstore.Fact) int {
		switch {
		case a.MemoryAt != b.MemoryAt:
			return int(a.MemoryAt.Micros() - b.MemoryAt.Micros())
		case a.RecordedAt.Present() != b.RecordedAt.Present():
			if a.RecordedAt.Present() {
				return 1
			}
			return -1
		case a.RecordedAt != b.RecordedAt:
			return int(a.RecordedAt.Micros() - b.RecordedAt.Micros())
		case a.ID < b.ID:
			return -1
		default:
			return 1
		}
	})
	var ids []string
	for _, f := range facts {
		ids = append(ids, f.ID)
	}
	return ids
}

// TestSpineOfManyChecked looks at a spine of several chunks from every place.
func TestSpineOfManyChecked(t *testing.T) {
	sp := space(t, "u")
	rng := rand.New(rand.NewPCG(1, 1))
	var changes []graphstore.Change
	for i := range 700 {
		changes = append(changes, graphstore.PutFact(sp, graphstore.Fact{ID: fmt.Sprint(i), State: graphstore.StateActive, MemoryAt: graphstore.InstantOfMicros(rng.Int64N(200))}))
	}
	if err := graphstoretest.CheckSnapshot(grown(t, sp, changes, 3)); err != nil {
		t.Error(err)
	}
}
