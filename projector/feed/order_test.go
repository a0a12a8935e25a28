package feed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/projector"
)

// inOrder plans events one after the other, each in a transaction of its own: the naive way to the graph.
func inOrder(t testing.TB, payloads [][]byte) graphstore.Digest {
	t.Helper()
	p := newProjector(t)
	views := map[graphstore.Space]*graphstore.Snapshot{}
	for _, payload := range payloads {
		ev, _, err := projector.Decode(payload, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		view, ok := views[ev.Space]
		if !ok {
			view = graphstore.NewSnapshot(ev.Space)
		}
		planned, err := p.Plan(view, ev)
		if err != nil {
			t.Fatal(err)
		}
		if views[ev.Space], err = view.With(planned.Changes); err != nil {
			t.Fatal(err)
		}
	}
	var d graphstore.Digest
	for _, view := range views {
		d.Merge(view.Digest())
	}
	return d
}

// history returns a year of events of three people, and lifecycle events that contradict each other in every way.
func history() [][]byte {
	events := sample.Events()
	for v := range 40 {
		id := fmt.Sprint("f", v%4)
		data := map[string]any{"user_id": userA, "fact_id": id, "version": v % 7}
		switch v % 5 {
		case 0, 1:
			events = append(events, factsEvent(fmt.Sprint("life", v), userA, int64(v%7), id, "other"))
		case 2:
			events = append(events, event(fmt.Sprint("life", v), "memory.fact.deleted.v1", data))
		case 3:
			events = append(events, event(fmt.Sprint("life", v), "memory.fact.shadowed.v1", data))
		case 4:
			data["by"] = "newer"
			events = append(events, event(fmt.Sprint("life", v), "memory.fact.superseded.v1", data))
		}
	}
	return events
}

// TestAnyOrderEndsInTheSameGraph shuffles and repeats events, and lets commits fail before and after the fact, so that
// redeliveries shuffle them again.
func TestAnyOrderEndsInTheSameGraph(t *testing.T) {
	events := history()
	want := inOrder(t, events).String()
	for _, seed := range []uint64{1, 2, 3} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			js, g := newJS(t), newGraph(t)
			rng := rand.New(rand.NewPCG(seed, 0))
			mixed := append([][]byte(nil), events...)
			for range len(events) / 3 {
				mixed = append(mixed, events[rng.IntN(len(events))])
			}
			rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			var mu sync.Mutex // guards rng from here on
			g.faults.set(onApply(func(graphstoretest.Call) graphstoretest.Fault {
				mu.Lock()
				defer mu.Unlock()
				switch rng.IntN(6) {
				case 0:
					return graphstoretest.Fault{Before: errors.New("busy")}
				case 1:
					return graphstoretest.Fault{After: errors.New("answer lost")}
				default:
					return graphstoretest.Fault{}
				}
			}))
			cfg := fastConfig()
			cfg.BatchSize = 7
			f := run(t, newFeed(t, js, g, cfg))
			publish(t, js, mixed...)
			f.applied(t)
			wantSettled(t, js)
			if got := g.Digest().String(); got != want {
				t.Errorf("digest %s, want that of the events in order, %s", got, want)
			}
			if s := f.Status(); s.Dead != 0 || s.Returned == 0 {
				t.Errorf("status %+v: want nothing dead and some given back", s)
			}
		})
	}
}
