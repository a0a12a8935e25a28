package projector

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestNewEvent(t *testing.T) {
	noon := time.Date(2026, 9, 1, 14, 0, 0, 1999, time.FixedZone("", 7200))
	ev, err := NewEvent("e1", "writer", noon, "u", FactDeleted{FactID: "f"})
	if err != nil {
		t.Fatal(err)
	}
	want := Event{ID: "e1", Source: "writer", Time: at("2026-09-01T12:00:00.000001Z"), Space: mustSpace(t, "u"), Data: FactDeleted{FactID: "f"}}
	if diff := cmp.Diff(want, ev, eventOptions); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	tests := []struct {
		name, id, user string
		at             time.Time
		data           Data
		want           string
	}{
		{"no user", "e", "", noon, FactDeleted{FactID: "f"}, `data.user_id "" is empty`},
		{"control in user", "e", "a\nb", noon, FactDeleted{FactID: "f"}, `data.user_id "a\nb" has a control character`},
		{"no id", "", "u", noon, FactDeleted{FactID: "f"}, `id "" is empty`},
		{"no fact", "e", "u", noon, FactDeleted{}, `data.fact_id "" is empty`},
		{"no time, no version", "e", "u", time.Time{}, FactDeleted{FactID: "f"}, "data.version is missing and so is the event's time"},
		{"year 10000", "e", "u", noon.AddDate(8000, 0, 0), FactDeleted{FactID: "f"}, "time "},
		{"fact without op", "e", "u", noon, FactsWritten{Facts: []FactWrite{{ID: "f"}}}, `data.facts[0].op ""`},
	}
	for _, tt := range tests {
		if _, err := NewEvent(tt.id, "writer", tt.at, tt.user, tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v: want %q in it", tt.name, err, tt.want)
		}
	}
	if _, err := NewEvent("e", "", time.Time{}, "u", FactDeleted{FactID: "f", Version: Some[int64](0)}); err != nil {
		t.Errorf("a version makes up for a time: %v", err)
	}
}

func TestMarshalRefuses(t *testing.T) {
	tests := []struct {
		name string
		data Data
		lim  Limits
		want string
	}{
		{"NaN weight", written(related("f", RelationRef{To: "g", Weight: Some(math.NaN())})), Limits{}, "data.facts[0].relations[0].weight NaN: want a finite number"},
		{"infinite score", written(FactWrite{ID: "f", Op: OpAdd, Neighbors: Some([]NeighborRef{{"g", math.Inf(1)}})}), Limits{}, "data.facts[0].neighbors[0].score +Inf"},
		{"infinite confidence", written(FactWrite{ID: "f", Op: OpAdd, Triples: Some([]TripleClaim{{Confidence: Some(math.Inf(-1))}})}), Limits{}, "data.facts[0].triples[0].confidence -Inf"},
		{"too many facts", written(add("f"), add("g")), Limits{MaxFacts: 1}, "data.facts has 2 facts: want at most 1"},
		{"too big", written(FactWrite{ID: "f", Op: OpAdd, Content: Some(strings.Repeat("x", 2000))}), Limits{MaxBytes: 1024}, "want at most 1024"},
		{"time out of range", written(FactWrite{ID: "f", Op: OpAdd, MemoryAt: Some(graphstore.Instant(math.MaxInt64))}), Limits{}, "data.facts[0].memory_at 9223372036854775806 us: want a year"},
		{"invalid", written(add("")), Limits{}, `data.facts[0].id "" is empty`},
	}
	for _, tt := range tests {
		if _, err := Marshal(event(t, "e", 1, tt.data), tt.lim); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v: want %q in it", tt.name, err, tt.want)
		}
	}
}
