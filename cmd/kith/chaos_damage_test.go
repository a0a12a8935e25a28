package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chaosTornLog ends everything in the middle of the work and cuts the log of the store at a random place: what it then
// lacks was acknowledged, and has to come from the stream again.
func chaosTornLog(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(10_000, 2_000), "KITH_BATCH_EVENTS=64", "KITH_BATCH_TICK=1ms")
	cut := int64(0)
	w.start()
	for range full(10, 2) {
		w.progressed(14)
		w.killAll()
		log := w.graph() + ".wal"
		if st, err := os.Stat(log); err == nil && st.Size() > 1 {
			keep := rng.Int64N(st.Size())
			cut += st.Size() - keep
			o.effects++
			if err := os.Truncate(log, keep); err != nil {
				t.Fatal(err)
			}
		}
		o.injected++
		w.startProbed(&o)
		o.survived++
	}
	w.settled(&o)
	o.note = fmt.Sprintf("%d bytes of log cut off", cut)
	return o
}

// flip changes one byte of a file at a random place.
func flip(t *testing.T, rng *rand.Rand, path string) (flipped bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false
	}
	at, b := rng.Int64N(st.Size()), make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= byte(1 + rng.IntN(255))
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	return true
}

// flips flips some bytes in the graph's file, or in its log, and says which.
func (w *world) flips() {
	w.t.Helper()
	path := w.graph()
	if w.rng.IntN(2) == 0 {
		path += ".wal"
	}
	for range 20 + w.rng.IntN(40) {
		if !flip(w.t, w.rng, path) {
			flip(w.t, w.rng, w.graph())
		}
	}
}

// chaosFlippedCold flips bytes while nothing runs: the service that starts then has nothing in memory, and takes what cannot
// be trusted from the stream again.
func chaosFlippedCold(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(4_000, 800), "KITH_BATCH_EVENTS=64", "KITH_BATCH_TICK=1ms")
	w.start()
	for range full(12, 4) {
		w.progressed(16)
		w.killAll()
		w.flips()
		o.injected++
		w.startProbed(&o)
		o.survived++
	}
	w.settled(&o)
	o.effects = w.quarantined() // what flipped where nothing is stored, or at the end of a log, need not come to that
	o.note = fmt.Sprintf("%d graphs in quarantine", o.effects)
	return o
}

// quarantined counts the folders of graphs that were moved aside.
func (w *world) quarantined() int {
	entries, _ := os.ReadDir(w.graph() + ".quarantine") // none if there is no such folder
	return len(entries)
}

// chaosFlippedHot flips bytes in the files of a service that runs and then kills its store's process: the service has the
// graph in memory and writes it again.
func chaosFlippedHot(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(4_000, 800), "KITH_BATCH_EVENTS=64", "KITH_BATCH_TICK=1ms")
	w.start()
	p := w.probe(2 * time.Millisecond)
	for range full(12, 4) {
		w.progressed(16)
		w.flips()
		o.injected++
		w.killChild()
		w.childPID()
		o.survived++
	}
	eventually(t, w.p, func() bool {
		h, err := w.health()
		return err == nil && h.Pending == 0
	})
	p.end(t, &o)
	w.settled(&o)
	o.effects = w.quarantined() // what flipped where nothing is stored, or at the end of a log, need not come to that
	o.note = fmt.Sprintf("%d graphs in quarantine", o.effects)
	return o
}

// chaosDeletedFile deletes the graph's files under the running service, now and then during the work.
func chaosDeletedFile(t *testing.T, rng *rand.Rand) outcome {
	return chaosDeleted(t, rng, func(w *world) error {
		files, err := filepath.Glob(w.graph() + "*")
		for _, f := range files {
			if !strings.Contains(f, "quarantine") && err == nil {
				err = os.RemoveAll(f)
			}
		}
		return err
	})
}

// chaosDeletedDirectory deletes the whole directory of the graph.
func chaosDeletedDirectory(t *testing.T, rng *rand.Rand) outcome {
	return chaosDeleted(t, rng, func(w *world) error {
		aside := filepath.Join(t.TempDir(), fmt.Sprint("graph", rng.Uint64()))
		return os.Rename(filepath.Dir(w.graph()), aside) // at once: a removal meets files that are being made
	})
}

func chaosDeleted(t *testing.T, rng *rand.Rand, remove func(*world) error) (o outcome) {
	w := newWorld(t, rng, full(4_000, 800), "KITH_BATCH_EVENTS=64", "KITH_BATCH_TICK=1ms")
	w.start()
	p := w.probe(2 * time.Millisecond)
	for range full(3, 1) {
		w.progressed(8)
		if err := remove(w); err != nil {
			t.Fatal(err)
		}
		o.injected++
		eventually(t, w.p, func() bool { // noticed without being asked to write, and mended
			st, err := os.Stat(w.graph())
			return err == nil && st.Size() > 0
		})
		o.effects++
		o.survived++
	}
	eventually(t, w.p, func() bool {
		h, err := w.health()
		return err == nil && h.Pending == 0 && h.StorePID > 0 && len(h.Degraded) == 0
	})
	p.end(t, &o)
	w.settled(&o)
	return o
}

// chaosForeignFile starts the service on a file that is no graph: it is left alone, searches are answered, and when it is
// out of the way everything is projected.
func chaosForeignFile(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(500, 100))
	if err := os.MkdirAll(filepath.Dir(w.graph()), 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := []byte(strings.Repeat("this is no graph\n", 1000))
	if err := os.WriteFile(w.graph(), foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	o.injected++
	eventually(t, w.p, func() bool {
		h, err := w.health()
		return err == nil && strings.Contains(strings.Join(h.Degraded, "; "), "not a graph file")
	})
	o.effects++
	p := w.probe(2 * time.Millisecond)
	time.Sleep(500 * time.Millisecond) // searches go on meanwhile
	if kept, err := os.ReadFile(w.graph()); err != nil || string(kept) != string(foreign) {
		t.Errorf("foreign file was touched: %d bytes, %v", len(kept), err)
	}
	if err := os.Rename(w.graph(), w.graph()+".aside"); err != nil {
		t.Fatal(err)
	}
	eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.GraphLoaded && h.Pending == 0 })
	p.end(t, &o)
	o.survived++
	w.settled(&o)
	return o
}
