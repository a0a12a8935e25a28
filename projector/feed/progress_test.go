package feed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
)

// serverModel is a stream and its consumer as the server keeps them, simple enough to be right by reading.
type serverModel struct {
	stream    []uint64        // sequences that exist, ascending; there are gaps
	delivered int             // how many of stream have been delivered at least once
	count     uint64          // deliveries
	unsettled map[uint64]bool // delivered and not settled; true: the feed has it
}

func (m *serverModel) info() *jetstream.ConsumerInfo {
	info := &jetstream.ConsumerInfo{NumPending: uint64(len(m.stream) - m.delivered), NumAckPending: len(m.unsettled)}
	info.Delivered.Consumer = m.count
	if m.delivered > 0 {
		info.Delivered.Stream = m.stream[m.delivered-1]
		info.AckFloor.Stream = info.Delivered.Stream
	}
	for seq := range m.unsettled {
		info.AckFloor.Stream = min(info.AckFloor.Stream, seq-1)
	}
	return info
}

// settledUpTo is the truth that the progress must never be ahead of.
func (m *serverModel) settledUpTo(seq uint64) bool {
	for i, s := range m.stream {
		if _, open := m.unsettled[s]; s <= seq && (i >= m.delivered || open) {
			return false
		}
	}
	return true
}

func (m *serverModel) send(seq uint64, arrives bool) jetstream.SequencePair {
	m.count++
	m.unsettled[seq] = arrives
	return jetstream.SequencePair{Consumer: m.count, Stream: seq}
}

// TestProgressIsNeverAheadAndCatchesUp plays deliveries, losses on the way, redeliveries, settlements, reconnections and
// answers of the server in any order.
func TestProgressIsNeverAheadAndCatchesUp(t *testing.T) {
	created := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		m := &serverModel{unsettled: map[uint64]bool{}}
		for seq := uint64(1); len(m.stream) < rapid.IntRange(1, 12).Draw(t, "messages"); seq++ {
			if rapid.IntRange(0, 4).Draw(t, "exists") > 0 {
				m.stream = append(m.stream, seq)
			}
		}
		p := newProgress()
		p.attach(created, m.info(), 0)
		check := func() {
			if at := p.position(); !m.settledUpTo(at) {
				t.Fatalf("progress at %d: not everything up to there is settled: %+v", at, m)
			}
		}
		open := func(ours bool) []uint64 {
			var seqs []uint64
			for seq, has := range m.unsettled {
				if has || !ours {
					seqs = append(seqs, seq)
				}
			}
			slices.Sort(seqs)
			return seqs
		}
		settle := func(seq uint64) {
			delete(m.unsettled, seq)
			p.settled(seq)
		}
		deliver := func(arrives bool) {
			seq := m.stream[m.delivered]
			m.delivered++
			if pair := m.send(seq, arrives); arrives {
				p.delivered(pair, true)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"deliver": func(t *rapid.T) {
				if m.delivered == len(m.stream) {
					t.Skip("nothing pending")
				}
				deliver(rapid.IntRange(0, 3).Draw(t, "lost") > 0)
			},
			"deliver again": func(t *rapid.T) {
				seqs := open(false)
				if len(seqs) == 0 {
					t.Skip("nothing unsettled")
				}
				seq, arrives := rapid.SampledFrom(seqs).Draw(t, "seq"), rapid.Bool().Draw(t, "arrives")
				if pair := m.send(seq, arrives); arrives {
					p.delivered(pair, false)
				}
			},
			"settle": func(t *rapid.T) {
				seqs := open(true)
				if len(seqs) == 0 {
					t.Skip("nothing in hand")
				}
				settle(rapid.SampledFrom(seqs).Draw(t, "seq"))
			},
			"ask": func(*rapid.T) { p.observe(m.info(), m.stream[len(m.stream)-1]) },
			"reconnect": func(*rapid.T) {
				for seq := range m.unsettled {
					m.unsettled[seq] = false
				}
				p.attach(created, m.info(), 0)
			},
		})
		for m.delivered < len(m.stream) {
			deliver(true)
		}
		for _, seq := range open(false) {
			p.delivered(m.send(seq, true), false)
			settle(seq)
			check()
		}
		p.observe(m.info(), 0)
		if at, last := p.position(), m.stream[len(m.stream)-1]; at != last {
			t.Fatalf("progress at %d after everything is settled, want %d", at, last)
		}
	})
}

func TestProgressNeedsNoAnswerInRegularService(t *testing.T) {
	p := newProgress()
	p.attach(time.Time{}, &jetstream.ConsumerInfo{}, 0)
	for i := uint64(1); i <= 3; i++ {
		p.delivered(jetstream.SequencePair{Consumer: i, Stream: 10 * i}, true) // gaps in the stream are no doubt
	}
	p.settled(20, 30)
	if got := p.position(); got != 9 { // 10 is open
		t.Errorf("at %d, want 9", got)
	}
	p.settled(10)
	if got := p.position(); got != 30 || p.doubtful() {
		t.Errorf("at %d, doubtful %t: want 30 without a doubt", got, p.doubtful())
	}
	p.observe(&jetstream.ConsumerInfo{}, 35) // deleted from the end of the stream
	if got := p.position(); got != 35 {
		t.Errorf("at %d, want 35", got)
	}
}

// TestProgressMissesADeliveryBeforeARepeat: the gap shows at a message that is delivered again, and what was missed is newer
// than anything known.
func TestProgressMissesADeliveryBeforeARepeat(t *testing.T) {
	p := newProgress()
	p.attach(time.Time{}, &jetstream.ConsumerInfo{}, 0)
	p.delivered(jetstream.SequencePair{Consumer: 1, Stream: 1}, true)
	// The second delivery, of sequence 2, is lost.
	p.delivered(jetstream.SequencePair{Consumer: 3, Stream: 1}, false)
	p.delivered(jetstream.SequencePair{Consumer: 4, Stream: 3}, true)
	p.settled(1, 3)
	var info jetstream.ConsumerInfo
	info.AckFloor.Stream = 1
	p.observe(&info, 0)
	if got := p.position(); got != 1 {
		t.Errorf("at %d while 2 is lost, want 1", got)
	}
}

// TestProgressMissesManyAndSeesRepeats: all three deliveries are lost, and repeats of the first and the third come.
func TestProgressMissesManyAndSeesRepeats(t *testing.T) {
	p := newProgress()
	p.attach(time.Time{}, &jetstream.ConsumerInfo{}, 0)
	p.delivered(jetstream.SequencePair{Consumer: 4, Stream: 1}, false)
	p.delivered(jetstream.SequencePair{Consumer: 5, Stream: 3}, false)
	p.settled(1)
	var info jetstream.ConsumerInfo
	info.AckFloor.Stream = 1
	p.observe(&info, 0)
	if got := p.position(); got != 1 {
		t.Errorf("at %d while 2 is lost, want 1", got)
	}
}

// TestProgressKnowsItsConsumer: another consumer of the same name has settled what this graph never got.
func TestProgressKnowsItsConsumer(t *testing.T) {
	p := newProgress()
	other := &jetstream.ConsumerInfo{Created: time.Unix(1, 0)}
	other.AckFloor.Stream = 7
	for range 2 { // before and after its own is taken up
		if p.observe(other, 9) || p.position() != 0 {
			t.Errorf("at %d after an answer about another consumer, want 0", p.position())
		}
		p.attach(time.Time{}, &jetstream.ConsumerInfo{Created: time.Unix(2, 0)}, 0)
	}
	if !p.observe(&jetstream.ConsumerInfo{Created: time.Unix(2, 0)}, 9) || p.position() != 9 {
		t.Errorf("at %d after an answer about its own consumer, want 9", p.position())
	}
}

func TestProgressStartsOverWithANewStream(t *testing.T) {
	p := newProgress()
	p.attach(time.Unix(1, 0), &jetstream.ConsumerInfo{}, 0)
	p.observe(&jetstream.ConsumerInfo{}, 100)
	if got := p.position(); got != 100 {
		t.Errorf("at %d, want 100", got)
	}
	p.attach(time.Unix(2, 0), &jetstream.ConsumerInfo{}, 0)
	if got := p.position(); got != 0 {
		t.Errorf("at %d in a new stream, want 0", got)
	}
}

func TestAwait(t *testing.T) {
	p := newProgress()
	p.attach(time.Time{}, &jetstream.ConsumerInfo{}, 0)
	if err := p.await(t.Context(), 0); err != nil {
		t.Errorf("wait for nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("wait under a cancelled context: %v", err)
	}
	if p.doubtful() {
		t.Error("somebody still waits")
	}
	done := make(chan error)
	for _, seq := range []uint64{1, 2} {
		go func() { done <- p.await(t.Context(), seq) }()
	}
	p.observe(&jetstream.ConsumerInfo{}, 1)
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.observe(&jetstream.ConsumerInfo{}, 2)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
