package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of the given size where the graph will be. It skips where that is not allowed.
func (w *world) smallDisk(megabytes int) {
	w.t.Helper()
	dir := filepath.Dir(w.graph())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	err := syscall.Mount("kith-chaos", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", megabytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		fmt.Printf("chaos: %-46s NOT RUN: no permission to mount a small file system\n", w.t.Name())
		w.t.Skip("no permission to mount")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if w.p != nil {
			w.p.kill()
		}
		for range 200 { // the store's process ends after its parent
			if err = syscall.Unmount(dir, 0); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		w.t.Errorf("unmount: %v", err)
	})
}

// fill leaves so many bytes free on the disk of the graph.
func (w *world) fill(free uint64) {
	w.t.Helper()
	name := filepath.Join(filepath.Dir(w.graph()), "filler")
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(name), &st); err != nil {
		w.t.Fatal(err)
	}
	left := st.Bavail * uint64(st.Bsize)
	if left <= free {
		return
	}
	f, err := os.Create(name)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 64<<10)
	for n := left - free; n > 0; {
		part := chunk[:min(n, uint64(len(chunk)))]
		if _, err := f.Write(part); err != nil {
			return // somebody else was faster: full is full
		}
		n -= uint64(len(part))
	}
}

func (w *world) drainDisk() {
	w.t.Helper()
	if err := os.Remove(filepath.Join(filepath.Dir(w.graph()), "filler")); err != nil {
		w.t.Fatal(err)
	}
}

// chaosFullDisk fills the disk of the graph while events are projected: nothing left, room for a commit but not for a
// checkpoint, and what lies between.
func chaosFullDisk(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(12_000, 1_500), "KITH_BATCH_EVENTS=64", "KITH_BATCH_TICK=1ms")
	w.smallDisk(128)
	w.start()
	p := w.probe(2 * time.Millisecond)
	refused := 0
	for _, free := range []uint64{0, 1 << 20, 9 << 20, 20 << 20, 0}[:full(5, 2)] {
		w.progressed(8)
		w.fill(free)
		o.injected++
		// Until the service says that it is held up, or goes on because what is left is enough for it.
		before, _ := w.health()
		eventually(t, w.p, func() bool {
			h, err := w.health()
			if err != nil {
				return false
			}
			if text := strings.Join(h.Degraded, "; "); strings.Contains(text, "disk") || strings.Contains(text, "graph store") {
				refused++
				return true
			}
			return h.Pending == 0 || h.AppliedSeq > before.AppliedSeq+uint64(w.events/20)
		})
		w.drainDisk()
		o.survived++
	}
	eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.Pending == 0 && h.StorePID > 0 })
	p.end(t, &o)
	w.settled(&o)
	o.effects = refused
	o.note = fmt.Sprintf("%d commits and %d checkpoints put off", strings.Count(w.p.log.String(), "a transaction of"), strings.Count(w.p.log.String(), "checkpoint is put off"))
	return o
}

// chaosReadOnly starts the service where the graph cannot be written: searches are answered in the vector order, events wait,
// and when it can be written they are taken.
func chaosReadOnly(t *testing.T, rng *rand.Rand) (o outcome) {
	w := newWorld(t, rng, full(500, 100))
	w.smallDisk(64)
	dir := filepath.Dir(w.graph())
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	w.start()
	o.injected++
	eventually(t, w.p, func() bool {
		h, err := w.health()
		return err == nil && !h.GraphLoaded && strings.Contains(strings.Join(h.Degraded, "; "), "read-only")
	})
	o.effects++
	p := w.probe(2 * time.Millisecond)
	time.Sleep(500 * time.Millisecond) // searches go on meanwhile
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.GraphLoaded && h.Pending == 0 })
	p.end(t, &o)
	o.survived++
	w.settled(&o)
	return o
}
