package projector_test

import (
	"fmt"
	"log"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// A producer makes an event and publishes its bytes on the user's subject.
func ExampleMarshal() {
	ev, err := projector.NewEvent("ev-1", "memory-writer", time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), "ann", projector.FactsWritten{
		Facts: []projector.FactWrite{{ID: "17", Op: projector.OpAdd, Tags: projector.Some([]string{"work"})}},
	})
	if err != nil {
		log.Fatal(err)
	}
	data, err := projector.Marshal(ev, projector.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(projector.Subject("ann", ev.Type()))
	fmt.Println(string(data))
	// Output:
	// memory.events.c5n6s.facts.written.v1
	// {"specversion":"1.0","id":"ev-1","source":"memory-writer","type":"memory.facts.written.v1","time":"2026-09-01T00:00:00Z","data":{"user_id":"ann","facts":[{"id":"17","op":"add","tags":["work"]}]}}
}

// One bad fact does not take the others with it.
func ExampleDecode() {
	ev, rejected, err := projector.Decode([]byte(`{"specversion":"1.0","id":"ev-2","type":"memory.facts.written.v1","time":"2026-09-01T00:00:00Z",
		"data":{"user_id":"ann","facts":[{"id":17,"op":"add"},{"id":18,"op":"add","memory_at":"2026-09-01T00:00:00"}]}}`), projector.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(ev.Data.(projector.FactsWritten).Facts), "fact of", ev.Space)
	fmt.Println(rejected[0].Err)
	// Output:
	// 1 fact of ann
	// data.facts[1].memory_at "2026-09-01T00:00:00" has no zone, and none is guessed: want RFC 3339 with a zone, like 2026-09-01T00:00:00Z
}

// Plans are made one after the other, each against the graph that the one before it leaves, and committed together.
func ExampleProjector_Plan() {
	p, err := projector.New(projector.Config{})
	if err != nil {
		log.Fatal(err)
	}
	space, err := graphstore.NewSpace("ann")
	if err != nil {
		log.Fatal(err)
	}
	committed := graphstore.NewSnapshot(space)
	view := committed
	var plans [][]graphstore.Change
	for i, data := range []projector.Data{
		projector.FactDeleted{FactID: "18", Version: projector.Some[int64](2)}, // overtakes the write below
		projector.FactsWritten{Facts: []projector.FactWrite{
			{ID: "17", Op: projector.OpAdd, Version: projector.Some[int64](1), Relations: projector.Some([]projector.RelationRef{{To: "18", Type: "causes"}})},
			{ID: "18", Op: projector.OpAdd, Version: projector.Some[int64](1), Tags: projector.Some([]string{"work"})},
		}},
	} {
		ev, err := projector.NewEvent(fmt.Sprint("ev-", i), "memory-writer", time.Time{}, "ann", data)
		if err != nil {
			log.Fatal(err)
		}
		planned, err := p.Plan(view, ev)
		if err != nil {
			log.Fatal(err)
		}
		if view, err = view.With(planned.Changes); err != nil {
			log.Fatal(err)
		}
		plans = append(plans, planned.Changes)
	}
	committed, err = committed.With(projector.Coalesce(plans...))
	if err != nil {
		log.Fatal(err)
	}
	fact, _ := committed.Fact("18")
	fmt.Println("18 is", fact.State)
	fmt.Println(committed.Present(), "present,", committed.Edges(), "edge,", committed.Topics(), "topics")
	// Output:
	// 18 is deleted
	// 1 present, 1 edge, 0 topics
}

func ExampleNormalizeName() {
	fmt.Println(projector.NormalizeName("  ASHA-Rao "))
	// Output: asha rao
}
