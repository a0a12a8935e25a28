package backfill

import (
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// stuffed returns points with most of what a payload can hold.
func stuffed(b *testing.B, n, users int) []vdb.Point {
	b.Helper()
	points := make([]vdb.Point, n)
	for i := range points {
		space, err := graphstore.NewSpace(fmt.Sprint("user-", i%users))
		if err != nil {
			b.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		points[i] = vdb.Point{Space: space, ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Payload: vdb.Payload{
			AgentID: "agent", Version: int64(i), EpisodeID: fmt.Sprint("episode-", i/16), BatchID: fmt.Sprint("batch-", i/4), MemoryAt: at, CreatedAt: at,
			Tags: []string{"tea", fmt.Sprint("tag ", i%23)},
			Extra: map[string]any{"batch_seq": int64(i % 4), "entities": []any{map[string]any{"name": fmt.Sprint("Person ", i%97), "type": "person"}},
				"relations": []any{map[string]any{"to": "elsewhere", "type": "related"}}},
		}}
	}
	return points
}

// BenchmarkConvert makes facts of points; x-copy is its time over that of a copy of the points' texts, lists and objects, which is the
// least that whoever takes them over would do.
func BenchmarkConvert(b *testing.B) {
	points := stuffed(b, 2_000, 10)
	var own, bare time.Duration
	for b.Loop() { // side by side, so that both meet the same machine
		start := time.Now()
		account := Account{}
		for _, p := range points {
			if f := account.convert(p); !f.stored.Entities.Set || !f.stored.Relations.Set {
				b.Fatalf("%+v", f)
			}
		}
		own += time.Since(start)
		start = time.Now()
		for _, p := range points {
			p.Payload.Tags = slices.Clone(p.Payload.Tags)
			p.Payload.Extra, _ = copied(p.Payload.Extra).(map[string]any)
		}
		bare += time.Since(start)
		if account.BadValues > 0 {
			b.Fatal(account.Problems)
		}
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N*len(points)), "ns/point")
	b.ReportMetric(own.Seconds()/bare.Seconds(), "x-copy")
	b.ReportMetric(0, "ns/op")
}

// copied copies lists and objects inside one another.
func copied(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copied(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = copied(v[k])
		}
		return out
	default:
		return v
	}
}

// BenchmarkSpill keeps 20,000 facts of 50 users, a page at a time, in the files of a run that writes the graph anew, makes them
// durable, and reads them back. x-encode is its time over that of writing the same pages in the same encoding to nowhere.
func BenchmarkSpill(b *testing.B) {
	const facts, page = 20_000, 2_000
	var account Account
	var all []fact
	for _, p := range stuffed(b, facts, 50) {
		all = append(all, account.convert(p))
	}
	var own, bare time.Duration
	for b.Loop() { // side by side, so that both meet the same machine
		start := time.Now()
		s, err := openSpill(b.TempDir(), make([]int64, 4))
		if err != nil {
			b.Fatal(err)
		}
		for some := range slices.Chunk(all, page) {
			if err := s.add(some); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.sizes(); err != nil {
			b.Fatal(err)
		}
		read := 0
		for i := range s.files {
			users, err := s.read(i)
			if err != nil {
				b.Fatal(err)
			}
			for _, u := range users {
				read += len(u.facts)
			}
		}
		if err := s.close(); err != nil || read != facts {
			b.Fatalf("%d facts, %v", read, err)
		}
		own += time.Since(start)
		start = time.Now()
		for some := range slices.Chunk(all, page) {
			piece := make([]projector.StoredFact, len(some))
			for i := range some {
				piece[i] = some[i].stored
			}
			if err := gob.NewEncoder(io.Discard).Encode(piece); err != nil {
				b.Fatal(err)
			}
		}
		bare += time.Since(start)
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N*facts), "ns/fact")
	b.ReportMetric(own.Seconds()/bare.Seconds(), "x-encode")
	b.ReportMetric(0, "ns/op")
}
