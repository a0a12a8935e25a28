package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kithgraph/kith/projector/feed"
)

// publisher publishes through the running service's NATS server until the test has closed it.
func (w *world) publisher() (p *feed.Publisher, done func()) {
	w.t.Helper()
	nc, js := jetStreamOf(w.t, w.dir)
	p, err := (&env{}).newPublisher(context.Background(), js)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, func() {
		p.Close()
		nc.Close()
	}
}

// publishLine publishes one event through the running service's NATS server.
func (w *world) publishLine(line string) {
	w.t.Helper()
	p, done := w.publisher()
	defer done()
	if results, err := p.PublishBatch(context.Background(), slices.Values([][]byte{[]byte(line)})); err != nil || results[0].Err != nil {
		w.t.Fatalf("publish: %v %v", err, results)
	}
}

// chaosTornLogHot cuts the log of an idle service, kills its store's process, and publishes one event, which is the first
// thing that the new process is asked to commit: on a graph that has gone back, and in half of the rounds with the service
// killed as soon as the event is acknowledged. Events are of new users, or name facts that the cut may have taken.
func chaosTornLogHot(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(600, 300), "KITH_BATCH_EVENTS=64")
	var extra strings.Builder
	w.start()
	for round := range full(8, 2) {
		w.caughtUp()
		log := w.graph() + ".wal"
		pid := w.childPID()
		if st, err := os.Stat(log); err == nil && st.Size() > 1 {
			if err := os.Truncate(log, rng.Int64N(st.Size())); err != nil {
				t.Fatal(err)
			}
			o.effects++
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // the service may have noticed the log already
		user, to := fmt.Sprintf("late-%d", round), "f1"
		if rng.IntN(2) == 0 {
			user, to = "user-0", fmt.Sprintf("f%d", rng.IntN(2*w.events/5))
		}
		line := fmt.Sprintf(`{"specversion": "1.0", "id": "late-%d", "source": "test", "type": "memory.facts.written.v1", "time": "2026-06-01T00:00:00Z", `+
			`"data": {"user_id": %q, "facts": [{"id": "late-%d", "op": "add", "version": 9, "content": "late", "relations": [{"to": %q, "type": "elaborates", "weight": 0.5}]}]}}`+"\n",
			round, user, round, to)
		w.publishLine(line)
		extra.WriteString(line)
		w.events++
		o.injected++
		eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.AppliedSeq >= uint64(w.events) })
		if rng.IntN(2) == 0 {
			w.p.kill()
			w.start()
		}
		o.survived++
	}
	file := filepath.Join(t.TempDir(), "late.jsonl")
	if err := os.WriteFile(file, []byte(extra.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want, w.byUser = expectedGraph(t, w.file, file)
	p := w.probe(0)
	eventually(t, w.p, func() bool { return p.ranked.Load() > 0 })
	p.end(t, &o)
	w.settled(&o)
	if h := w.dead(); h != "" {
		t.Error(h)
	}
	return o
}

// dead says what the log has of dead letters: none of the events is bad.
func (w *world) dead() string {
	if text := w.p.log.String(); strings.Contains(text, "dead-lettered") {
		return "a good event was dead-lettered: " + text
	}
	return ""
}
