package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

// chaosKills kills the store's process or the whole service at random moments while events are projected.
func chaosKills(t *testing.T, rng *rand.Rand) (o outcome) {
	rounds := full(100, 6)
	// Small transactions, so that there are events left for all the kills.
	w := newWorld(t, rng, full(8_000, 1_000), "KITH_BATCH_EVENTS=32", "KITH_BATCH_TICK=1ms")
	w.start()
	parents, working := 0, 0
	for o.injected < rounds {
		p := w.probe(2 * time.Millisecond)
		if rng.IntN(4) > 0 { // else at any moment of the start
			w.progressed(200)
		}
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond) // the moment is what is random
		if h, err := w.health(); err == nil && w.done(h) < uint64(w.events) {
			working++
		}
		if rng.IntN(3) > 0 {
			w.killChild()
			p.end(t, &o)
		} else {
			p.end(t, &o)
			w.p.kill()
			w.start()
			parents++
		}
		o.injected++
		o.survived++ // else a wait above has failed the test
	}
	w.settled(&o)
	o.effects = working
	o.note = fmt.Sprintf("%d of the service, %d of the store", parents, o.injected-parents)
	return o
}

// chaosBreaker kills the store's process until it has to rest: searches go on from memory, readiness says why, events wait and
// are taken afterwards.
func chaosBreaker(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(2_000, 800), "KITH_BATCH_EVENTS=32", "KITH_GRAPH_STORE_CRASHES=3", "KITH_GRAPH_STORE_PAUSE=3s")
	w.start()
	w.progressed(8)
	p := w.probe(2 * time.Millisecond)
	for range 3 {
		w.killChild()
		o.injected++
		o.survived++
	}
	eventually(t, w.p, func() bool {
		h, err := w.health()
		return err == nil && strings.Contains(strings.Join(h.Degraded, "; "), "paused until")
	})
	o.effects++
	before := p.ranked.Load()
	eventually(t, w.p, func() bool { return p.ranked.Load() > before+20 }) // by the graph in memory, while the store rests
	if h, err := w.health(); err != nil || h.StorePID != 0 || h.Pending == 0 {
		t.Errorf("%+v, %v: want no store and events that wait", h, err)
	}
	p.end(t, &o)
	w.settled(&o)
	return o
}

// chaosHang stops the store's process for a while: searches go on, events wait, nothing is lost.
func chaosHang(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(6_000, 2_000), "KITH_BATCH_EVENTS=32", "KITH_BATCH_TICK=1ms")
	w.start()
	for range full(5, 1) {
		w.progressed(20)
		p := w.probe(2 * time.Millisecond)
		pid := w.childPID()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(500+rng.IntN(1000)) * time.Millisecond)
		if h, err := w.health(); err == nil && h.Pending > 0 {
			held := w.done(h)
			time.Sleep(300 * time.Millisecond)
			if h, err := w.health(); err == nil && w.done(h) == held {
				o.effects++ // events wait
			}
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		p.end(t, &o)
		o.injected++
		o.survived++
	}
	w.settled(&o)
	return o
}
