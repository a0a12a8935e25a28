package projector

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

const day = 24 * 3600 * 1_000_000 // in microseconds

// happened returns an add of a fact that happened so many days after 2026.
func happened(id string, days float64) FactWrite {
	start := at("2026-01-01T00:00:00Z").Micros()
	return FactWrite{ID: id, Op: OpAdd, MemoryAt: Some(graphstore.InstantOfMicros(start + int64(days*day)))}
}

func in(episode string, w FactWrite) FactWrite {
	w.EpisodeID = Some(episode)
	return w
}

// steps returns the spine as "from>to": weight.
func steps(view *graphstore.Snapshot) map[string]float64 {
	all := map[string]float64{}
	for c := range view.Records() {
		if e := c.Edge; e != nil && e.Type == graphstore.TemporalNext {
			all[e.Source+">"+e.Target] = e.Weight
			if e.Asserter != (graphstore.Asserter{Kind: graphstore.BySpine}) || e.Detail != "" {
				all["bad "+fmt.Sprint(*e)] = 0
			}
		}
	}
	return all
}

func wantSteps(t *testing.T, view *graphstore.Snapshot, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, steps(view), cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("spine (-want +got):\n%s", diff)
	}
}

func TestSpineWeights(t *testing.T) {
	const us = 1.0 / day
	none := func(w FactWrite) FactWrite { return in("", w) }
	epoch := func(id string, hours int64) FactWrite {
		return FactWrite{ID: id, Op: OpAdd, MemoryAt: Some(graphstore.InstantOfMicros(hours * day / 24))}
	}
	tests := []struct {
		name string
		a, b FactWrite
		want float64
	}{
		{"the same moment", happened("a", 0), happened("b", 0), 1},
		{"an hour", happened("a", 0), happened("b", 1./24), 1},
		{"24 hours", happened("a", 0), happened("b", 1), 1},
		{"a microsecond more: 2^(-1.00../30)", happened("a", 0), happened("b", 1+us), .977159968},
		{"15 days: 2^-.5", happened("a", 0), happened("b", 15), math.Sqrt2 / 2},
		{"30 days: 2^-1", happened("a", 0), happened("b", 30), .5},
		{"90 days: 2^-3", happened("a", 0), happened("b", 90), .125},
		{"99 days: 2^-3.3 = .1015", happened("a", 0), happened("b", 99), .101531549},
		{"100 days: 2^(-10/3) = .0992, below the floor", happened("a", 0), happened("b", 100), .1},
		{"120 days: 2^-4 = .0625, below the floor", happened("a", 0), happened("b", 120), .1},
		{"nine thousand years", happened("a", 0), FactWrite{ID: "b", Op: OpAdd, MemoryAt: Some(at("9999-12-31T00:00:00Z"))}, .1},
		{"one episode, however long", in("ep", happened("a", 0)), in("ep", happened("b", 120)), 1},
		{"two episodes", in("ep", happened("a", 0)), in("eq", happened("b", 30)), .5},
		{"no episode is not one in common", none(happened("a", 0)), none(happened("b", 30)), .5},
		{"24 hours over 1970, where the coding of times has a hole", epoch("a", -12), epoch("b", 12), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{TemporalSpine: true}), []Event{event(t, "e1", 1, written(tt.a)), event(t, "e2", 2, written(tt.b))},
				func(t *testing.T, view *graphstore.Snapshot) {
					if got := steps(view)["a>b"]; math.Abs(got-tt.want) > 1e-9 || len(steps(view)) != 1 {
						t.Errorf("weight %v of %v: want %v", got, steps(view), tt.want)
					}
				})
		})
	}
}

// Facts come into the spine, leave it and move on it, in every order of the events: of a at 0, b at 30, c at 120 days and one
// event more.
func TestSpineFollowsTheFacts(t *testing.T) {
	base := []Event{event(t, "e1", 1, written(happened("a", 0))), event(t, "e2", 2, written(happened("b", 30))), event(t, "e3", 3, written(happened("c", 120)))}
	start := map[string]float64{"a>b": .5, "b>c": .125} // 30 days, 90 days
	update := func(w FactWrite) FactWrite { w.Op = OpUpdate; return w }
	moved := func(id string, days float64) FactWrite { return update(happened(id, days)) }
	tests := []struct {
		name string
		more []Event
		want map[string]float64
	}{
		{"three", nil, start},
		{"inserted in the middle, in the same day as b", []Event{event(t, "e4", 4, written(happened("m", 30.5)))}, map[string]float64{"a>b": .5, "b>m": 1, "m>c": max(.1, math.Exp2(-89.5/30))}},
		{"inserted first", []Event{event(t, "e4", 4, written(happened("m", -60)))}, map[string]float64{"m>a": .25, "a>b": .5, "b>c": .125}},
		{"inserted last", []Event{event(t, "e4", 4, written(happened("m", 150)))}, map[string]float64{"a>b": .5, "b>c": .125, "c>m": .5}},
		{"of no known time: not on it", []Event{event(t, "e4", 4, written(add("m")))}, start},
		{"the middle is deleted: 120 days", []Event{event(t, "e4", 4, FactDeleted{FactID: "b"})}, map[string]float64{"a>c": .1}},
		{"superseded", []Event{event(t, "e4", 4, FactSuperseded{FactID: "b"})}, map[string]float64{"a>c": .1}},
		{"shadowed", []Event{event(t, "e4", 4, FactShadowed{FactID: "b"})}, map[string]float64{"a>c": .1}},
		{"shadowed and back", []Event{event(t, "e4", 4, FactShadowed{FactID: "b"}), event(t, "e5", 5, FactRestored{FactID: "b"})}, start},
		{"an end is deleted", []Event{event(t, "e4", 4, FactDeleted{FactID: "c"})}, map[string]float64{"a>b": .5}},
		{"the middle moves to the end", []Event{event(t, "e4", 4, written(moved("b", 150)))}, map[string]float64{"a>c": .1, "c>b": .5}},
		{"the middle moves, and stays in the middle", []Event{event(t, "e4", 4, written(moved("b", 60)))}, map[string]float64{"a>b": .25, "b>c": .25}},
		{"the middle loses its time", []Event{event(t, "e4", 4, written(FactWrite{ID: "b", Op: OpUpdate, MemoryAt: Some[graphstore.Instant](0)}))}, map[string]float64{"a>c": .1}},
		{"two change places", []Event{event(t, "e4", 4, written(moved("b", 120), moved("c", 30)))}, map[string]float64{"a>c": .5, "c>b": .125}},
		{"an episode in common", []Event{event(t, "e4", 4, written(update(in("ep", FactWrite{ID: "b"})), update(in("ep", FactWrite{ID: "c"}))))}, map[string]float64{"a>b": .5, "b>c": 1}},
		{"two at one moment: by when they were recorded", []Event{event(t, "e4", 4, written(FactWrite{ID: "0", Op: OpAdd, MemoryAt: happened("", 30).MemoryAt, RecordedAt: Some(at("2026-01-01T00:00:00Z"))}))},
			map[string]float64{"a>b": .5, "b>0": 1, "0>c": .125}},
		{"and those before 1970 after those of unknown time", []Event{event(t, "e4", 4, written(FactWrite{ID: "0", Op: OpAdd, MemoryAt: happened("", 30).MemoryAt, RecordedAt: Some(at("1960-01-01T00:00:00Z"))}))},
			map[string]float64{"a>b": .5, "b>0": 1, "0>c": .125}},
		{"two at one moment: by id", []Event{event(t, "e4", 4, written(happened("0", 30)))}, map[string]float64{"a>0": .5, "0>b": 1, "b>c": .125}},
		{"its source is retracted", []Event{event(t, "e4", 4, written(of("doc", happened("b", 30)))), retract(t, "r", 5, "doc")}, map[string]float64{"a>c": .1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryOrder(t, mustNew(t, Config{TemporalSpine: true}), append(base[:3:3], tt.more...), func(t *testing.T, view *graphstore.Snapshot) { wantSteps(t, view, tt.want) })
			off, _ := project(t, mustNew(t, Config{}), append(base[:3:3], tt.more...)...)
			wantSteps(t, off, nil)
		})
	}
}

// One more fact on a long spine changes two edges and adds one: a plan costs what changes, not what there is.
func TestSpinePlansAreSmall(t *testing.T) {
	p := mustNew(t, Config{TemporalSpine: true, MaxCoOccurs: 1})
	var w FactsWritten
	for i := range 500 {
		w.Facts = append(w.Facts, happened(fmt.Sprintf("f%03d", i), float64(2*i)))
	}
	view, _ := project(t, p, event(t, "e1", 1, w))
	if got := len(steps(view)); got != 499 {
		t.Fatalf("%d steps of 500 facts", got)
	}
	planned, err := p.Plan(view, event(t, "e2", 2, written(happened("m", 501))))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, c := range planned.Changes {
		kinds[fmt.Sprint(c.Op == graphstore.Put, c.Edge != nil)]++
	}
	if want := map[string]int{"true false": 1, "true true": 2, "false true": 1}; !maps.Equal(kinds, want) {
		t.Errorf("changes %v: want a fact, two edges put and one deleted", kinds)
	}
}
