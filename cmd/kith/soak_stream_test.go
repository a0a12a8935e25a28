package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

// soakFile holds the payloads of a run, outside of the memory that is measured.
type soakFile struct {
	f      *os.File
	starts []int64 // of the events in order of their times, and the end
	order  []int   // in which they are published
}

// writeSoakFile makes the events. Three in a hundred come up to 300 places late.
func writeSoakFile(t *testing.T, seed uint64, n int) *soakFile {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	file := &soakFile{f: f, starts: []int64{0}}
	g, w := newSoakEvents(seed, n), bufio.NewWriterSize(f, 1<<20)
	places := make([]int, n)
	for i := range n {
		ev, err := g.event()
		if err != nil {
			t.Fatal(err)
		}
		payload, err := projector.Marshal(ev, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(append(payload, '\n')); err != nil {
			t.Fatal(err)
		}
		file.starts = append(file.starts, file.starts[i]+int64(len(payload))+1)
		file.order, places[i] = append(file.order, i), i
		if g.rng.IntN(100) < 3 {
			places[i] += g.rng.IntN(300)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(file.order, func(a, b int) int { return places[a] - places[b] })
	return file
}

func (s *soakFile) events() int { return len(s.order) }

// payload returns an event by its place in time.
func (s *soakFile) payload(t *testing.T, i int) []byte {
	t.Helper()
	b := make([]byte, s.starts[i+1]-s.starts[i]-1)
	if _, err := s.f.ReadAt(b, s.starts[i]); err != nil {
		t.Fatal(err)
	}
	return b
}

// published counts what went into the stream beside the events.
type published struct {
	repeats int // of the id of a message: the server drops them
	copies  int // of events, each under a message id of its own: for the server they are new
	bad     int // events that must become dead letters
}

// publishAll publishes every event once through the publisher of the product; with faults one in a hundred a second time at
// once, and a bad event after every 10,000.
func (s *soakFile) publishAll(t *testing.T, js jetstream.JetStream, faults bool) *published {
	t.Helper()
	if err := feed.EnsureStreams(t.Context(), js, feed.StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	p, err := feed.NewPublisher(js, feed.PublisherConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	done := &published{}
	for from := 0; from < s.events(); from += 1000 {
		var payloads [][]byte
		for _, i := range s.order[from:min(from+1000, s.events())] {
			payloads = append(payloads, s.payload(t, i))
		}
		once := len(payloads)
		if faults {
			payloads = append(payloads, payloads[:once/100]...)
		}
		results, err := p.PublishBatch(t.Context(), slices.Values(payloads))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Duplicate != (i >= once) {
				t.Fatalf("event %d of a piece of %d: duplicate %v", i, once, r.Duplicate)
			}
		}
		done.repeats += len(results) - once
		if faults && from%10_000 == 0 {
			publishRaw(t, js, "memory.events.soak", fmt.Sprint("bad-", from), []byte(`{"specversion":"1.0","id":"bad"}`))
			done.bad++
		}
	}
	return done
}

// publishCopies publishes random events once more, as a producer does that has lost its memory.
func (s *soakFile) publishCopies(t *testing.T, js jetstream.JetStream, rng *rand.Rand, n int) {
	t.Helper()
	for range n {
		payload := s.payload(t, rng.IntN(s.events()))
		ev, _, err := projector.Decode(payload, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		publishRaw(t, js, projector.Subject(ev.Space.UserID(), ev.Type()), fmt.Sprintf("copy-%x", rng.Uint64()), payload)
	}
}

func publishRaw(t *testing.T, js jetstream.JetStream, subject, id string, payload []byte) {
	t.Helper()
	msg := nats.NewMsg(subject)
	msg.Data = payload
	msg.Header.Set(jetstream.MsgIDHeader, id)
	if _, err := js.PublishMsg(t.Context(), msg); err != nil {
		t.Fatal(err)
	}
}
