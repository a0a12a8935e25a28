package projector

import (
	"slices"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

func TestValidToOfSuperseded(t *testing.T) {
	may, june, july := at("2026-05-01T00:00:00Z"), at("2026-06-01T00:00:00Z"), at("2026-07-01T00:00:00Z")
	superseded := event(t, "e9", july.Micros(), FactSuperseded{FactID: "old", By: "new"})
	old := func(validTo graphstore.Instant) Event {
		return event(t, "e1", 1, written(FactWrite{ID: "old", Op: OpAdd, ValidFrom: Some(may), ValidTo: Some(validTo)}))
	}
	newer := func(validFrom, memoryAt graphstore.Instant) Event {
		return event(t, "e2", 2, written(FactWrite{ID: "new", Op: OpAdd, ValidFrom: Some(validFrom), MemoryAt: Some(memoryAt)}))
	}
	tests := []struct {
		name   string
		events []Event
		want   graphstore.Instant
	}{
		{"in force, open", []Event{old(0)}, 0},
		{"in force, stated", []Event{old(june)}, june},
		{"valid_from of the newer", []Event{old(0), newer(june, may), superseded}, june},
		{"memory_at of the newer", []Event{old(0), newer(0, june), superseded}, june},
		{"time of the event: the newer has no times", []Event{old(0), newer(0, 0), superseded}, july},
		{"time of the event: the newer is not there", []Event{old(0), superseded}, july},
		{"time of the event: the newer is deleted", []Event{old(0), newer(june, 0), superseded, event(t, "e3", 3, FactDeleted{FactID: "new"})}, july},
		{"time of the event: the newer is deleted and has hidden times", []Event{old(0), superseded, event(t, "e3", 3, FactDeleted{FactID: "new"}),
			event(t, "e4", 4, written(FactWrite{ID: "new", Op: OpUpdate, ValidFrom: Some(june)}))}, july},
		{"an earlier end of its own stays", []Event{old(may), newer(june, 0), superseded}, may},
		{"a later end of its own does not", []Event{old(july), newer(june, 0), superseded}, june},
		{"revived", []Event{old(0), newer(june, 0), superseded, event(t, "e10", july.Micros()+1, written(add("old")))}, 0},
		{"no newer fact named", []Event{old(0), event(t, "e9", july.Micros(), FactSuperseded{FactID: "old"})}, july},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][]Event{tt.events, reversed(tt.events)} {
				view, _ := project(t, mustNew(t, Config{}), order...)
				old := fact(t, view, "old")
				if got := view.ValidTo(&old); got != tt.want {
					t.Errorf("valid to %s: want %s", got, tt.want)
				}
			}
		})
	}
}

func reversed(events []Event) []Event {
	r := slices.Clone(events)
	slices.Reverse(r)
	return r
}
