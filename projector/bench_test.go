package projector

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// benchFact is a fact as a memory system writes it: an entity that every fact mentions (the owner), one of its own,
// shared tags, two relations, eight neighbours.
func benchFact(i int) FactWrite {
	id := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", max(i, 0)) }
	w := FactWrite{
		ID: id(i), Op: OpAdd, AgentID: Some("a1"), SourceID: Some(fmt.Sprintf("msg-%d", i)), EpisodeID: Some(fmt.Sprintf("ep-%d", i/10)),
		Content:    Some("Asha moved to Razorpay in September and lives near the office now"),
		MemoryAt:   Some(graphstore.InstantOfMicros(int64(i) * 1e6)),
		RecordedAt: Some(graphstore.InstantOfMicros(int64(i) * 1e6)),
		Tags:       Some([]string{"Work", fmt.Sprintf("tag %d", i%50)}),
		Entities: Some([]EntityRef{{Name: "Owner", Type: "person", Aliases: []string{"me"}},
			{Name: fmt.Sprintf("Person %d", i%2000), Type: "person", IDs: []graphstore.HardID{{Kind: "email", Value: fmt.Sprintf("p%d@x", i%2000)}}}}),
		Relations: Some([]RelationRef{{To: id(i - 1), Type: "elaborates", Weight: Some(.8)}, {To: id(i - 2), Type: "causes"}}),
	}
	for n := range 8 {
		w.Neighbors.Value = append(w.Neighbors.Value, NeighborRef{ID: id(i - 3 - n), Score: .7 + float64(n)/40})
	}
	w.Neighbors.Set = true
	return w
}

func benchEvent(tb testing.TB, from, n int) Event {
	var w FactsWritten
	for i := range n {
		w.Facts = append(w.Facts, benchFact(from+i))
	}
	return event(tb, fmt.Sprintf("ev-%d", from), int64(from+1), w)
}

// lastBatch is the number of the first of the eight facts that benchView writes as one batch.
const lastBatch = 40_000

// benchView returns the graph of n facts without a batch and of one batch of eight.
func benchView(tb testing.TB, p *Projector, n int) *graphstore.Snapshot {
	view := graphstore.NewSnapshot(mustSpace(tb, "u"))
	for from := 0; from < n; from += 500 {
		ev := benchEvent(tb, from, 500)
		facts := ev.Data.(FactsWritten).Facts
		for i := range facts {
			facts[i].Op = OpUpdate // names no batch
		}
		view = benchApply(tb, p, view, ev)
	}
	return benchApply(tb, p, view, benchEvent(tb, lastBatch, 8))
}

func benchApply(tb testing.TB, p *Projector, view *graphstore.Snapshot, ev Event) *graphstore.Snapshot {
	planned, err := p.Plan(view, ev)
	if err != nil {
		tb.Fatal(err)
	}
	after, err := view.With(planned.Changes)
	if err != nil {
		tb.Fatal(err)
	}
	return after
}

// BenchmarkPlan plans one event against the graphs of 2,000 and 20,000 facts. "x-of-2k" is the time on the larger graph
// over the time on the smaller: near 1 if the cost does not grow with the user. "x-of-decode" is the time on the larger
// over that of decoding the event.
func BenchmarkPlan(b *testing.B) {
	p := mustNew(b, Config{})
	small, large := benchView(b, p, 2000), benchView(b, p, 20_000)
	someone := benchFact(lastBatch + 3).ID
	shrink := FactWrite{ID: someone, Op: OpUpdate, Entities: Some[[]EntityRef](nil), Tags: Some([]string{"work"})}
	late := int64(1 << 40)
	for name, ev := range map[string]Event{
		"add":     benchEvent(b, 30_000, 1),
		"add8":    benchEvent(b, 30_000, 8),
		"shrink":  event(b, "shrink", late, written(shrink)),
		"delete":  event(b, "delete", late, FactDeleted{FactID: someone}),
		"stale":   event(b, "stale", 1, written(tagged(OpUpdate, someone, "x"))),
		"retired": event(b, "retired", late, FactSuperseded{FactID: someone, By: benchFact(lastBatch + 4).ID}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			onSmall, onLarge, decoding := benchPlan(b, p, ev, small, large)
			b.ReportMetric(float64(onLarge)/float64(onSmall), "x-of-2k")
			b.ReportMetric(float64(onLarge)/float64(decoding), "x-of-decode")
			b.ReportMetric(float64(onLarge.Microseconds())/float64(b.N), "us/event-on-20k")
		})
	}
}

// benchPlan plans an event against two graphs, and decodes it, in turns.
func benchPlan(b *testing.B, p *Projector, ev Event, small, large *graphstore.Snapshot) (onSmall, onLarge, decoding time.Duration) {
	b.Helper()
	data, err := Marshal(ev, Limits{})
	if err != nil {
		b.Fatal(err)
	}
	plan := func(view *graphstore.Snapshot) time.Duration {
		start := time.Now()
		if _, err := p.Plan(view, ev); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for b.Loop() {
		onSmall += plan(small)
		onLarge += plan(large)
		start := time.Now()
		if _, _, err := Decode(data, Limits{}); err != nil {
			b.Fatal(err)
		}
		decoding += time.Since(start)
	}
	return onSmall, onLarge, decoding
}

// datedFact is a fact of a user of very many: a source with ten facts, and one with a tenth of all.
func datedFact(i int) FactWrite {
	w := benchFact(i)
	if i%10 == 0 {
		w.SourceID = Some("mailbox")
	} else {
		w.SourceID = Some(fmt.Sprintf("msg-%d", i/10))
	}
	w.MemoryAt = Some(graphstore.InstantOfMicros(int64(i*7919%200_000) * 3600e6)) // an hour apart, in an order of their own
	w.Neighbors = Optional[[]NeighborRef]{}
	return w
}

func datedView(tb testing.TB, p *Projector, n int) *graphstore.Snapshot {
	view := graphstore.NewSnapshot(mustSpace(tb, "u"))
	for from := 0; from < n; from += 1000 {
		var w FactsWritten
		for i := range 1000 {
			w.Facts = append(w.Facts, datedFact(from+i))
			w.Facts[i].Op = OpUpdate // names no batch
		}
		view = benchApply(tb, p, view, event(tb, fmt.Sprintf("ev-%d", from), int64(from+1), w))
	}
	return view
}

// BenchmarkPlanOfMany plans what has to find its place among all facts of a user, or looks at all of them, with the
// temporal spine, for a user of 200,000 facts. "x-of-2k" and "x-of-decode" are as in BenchmarkPlan: a retraction reads every
// fact once, a forgetting takes out every record, the others must not grow.
func BenchmarkPlanOfMany(b *testing.B) {
	const many = 200_000
	p := mustNew(b, Config{TemporalSpine: true})
	small, large := datedView(b, p, 2000), datedView(b, p, many)
	late := int64(1 << 40)
	moved := FactWrite{ID: datedFact(1000).ID, Op: OpUpdate, MemoryAt: Some(graphstore.InstantOfMicros(1))}
	between := datedFact(many + 1)
	between.MemoryAt = Some(graphstore.InstantOfMicros(1000*3600e6 + 1))
	for name, ev := range map[string]Event{
		"add between":               event(b, "between", late, written(between)),
		"move to the start":         event(b, "move", late, written(moved)),
		"delete":                    event(b, "delete", late, FactDeleted{FactID: moved.ID}),
		"retract a source of ten":   event(b, "ten", late, SourceRetracted{SourceID: "msg-50"}),
		"retract a tenth":           event(b, "tenth", late, SourceRetracted{SourceID: "mailbox"}),
		"retract an unknown source": event(b, "unknown", late, SourceRetracted{SourceID: "nobody"}),
		"forget":                    event(b, "forget", late, UserForgotten{}),
	} {
		b.Run(name, func(b *testing.B) {
			onSmall, onLarge, decoding := benchPlan(b, p, ev, small, large)
			b.ReportMetric(float64(onLarge)/float64(onSmall), "x-of-2k")
			b.ReportMetric(float64(onLarge)/float64(decoding), "x-of-decode")
			b.ReportMetric(float64(onLarge.Microseconds())/float64(b.N), "us/event-on-200k")
		})
	}
}

// BenchmarkDecode decodes events of 1 and of 100 facts. "x-of-json" is the time over that of the standard decoder into
// maps, which checks nothing.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1, 100} {
		data, err := Marshal(benchEvent(b, 0, n), Limits{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dfacts", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				if _, rejected, err := Decode(data, Limits{}); err != nil || len(rejected) > 0 {
					b.Fatal(err, rejected)
				}
				ours += time.Since(start)
				start = time.Now()
				var into map[string]any
				if err := json.Unmarshal(data, &into); err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(start)
			}
			b.ReportMetric(float64(ours)/float64(theirs), "x-of-json")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N*n), "us/fact")
		})
	}
}

// BenchmarkMarshal writes events of 100 facts.
func BenchmarkMarshal(b *testing.B) {
	ev := benchEvent(b, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Marshal(ev, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*100), "us/fact")
}
