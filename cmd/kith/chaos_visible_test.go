package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// visibleWithin is the wanted 99th percentile of the time from when an event is stored in the stream to when a search is
// ranked with it, at 200 facts a second.
const visibleWithin = time.Second

// TestChaosVisible publishes a hundred events of two facts a second and watches in the answers of searches when each is in
// the graph.
func TestChaosVisible(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	w := newWorld(t, rand.New(rand.NewPCG(11, 11)), 400)
	w.start()
	w.caughtUp()
	p, done := w.publisher()
	defer done()
	data, err := os.ReadFile(writeEvents(t, full(1_500, 200)))
	if err != nil {
		t.Fatal(err)
	}
	type stored struct {
		seq uint64
		at  time.Time
	}
	published := make(chan stored, 2_000)
	go func() {
		defer close(published)
		next := time.Now()
		for line := range strings.Lines(string(data)) {
			time.Sleep(time.Until(next))
			next = next.Add(10 * time.Millisecond)
			line = strings.Replace(line, `"id":"e`, `"id":"visible-e`, 1) // the world's own events are in the stream already
			results, err := p.PublishBatch(context.Background(), slices.Values([][]byte{[]byte(line)}))
			if err != nil || results[0].Err != nil || results[0].Duplicate {
				t.Errorf("publish: %v %v", err, results)
				return
			}
			published <- stored{results[0].Sequence, time.Now()}
		}
	}()
	var took []time.Duration
	for e := range published {
		eventually(t, w.p, func() bool {
			a, err := w.cl.search(context.Background(), searchRequest("user-0"))
			if err != nil {
				t.Fatal(err)
			}
			return a.AppliedSeq >= e.seq
		})
		took = append(took, time.Since(e.at))
	}
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[min(len(took)-1, int(p*float64(len(took))))]) / 1e6 }
	fmt.Printf("chaos: visible, 100 events of two facts a second: %d events  p50 %.0f ms  p99 %.0f ms  max %.0f ms\n", len(took), at(.5), at(.99), at(1))
	if p99 := took[min(len(took)-1, len(took)*99/100)]; p99 > visibleWithin && *chaosFull {
		t.Errorf("p99 %s: wanted at most %s", p99, visibleWithin)
	}
	w.p.terminate(t)
}
