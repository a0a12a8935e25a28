package child

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// TestRecycle replaces the child over and over under a writer that must notice nothing.
func TestRecycle(t *testing.T) {
	cfg, happened := testConfig("kuzu", filepath.Join(t.TempDir(), "graph"))
	s := start(t, cfg)
	first := s.Health().PID
	done, written := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			if err := s.Apply(t.Context(), step(n)); err != nil {
				t.Errorf("step %d: %v", n, err)
				break
			}
			select {
			case <-done:
				written <- n + 1
				return
			default:
			}
		}
		<-done
		written <- n
	}()
	for range 3 {
		if err := s.Recycle(t.Context()); err != nil {
			t.Error(err)
		}
		if r := wait(t, happened.restarted); r.PID == first || r.Attempts != 1 {
			t.Errorf("restart %+v", r)
		}
	}
	close(done)
	steps := <-written
	// Each step leaves its first fact; the last also leaves a second with an edge; and there is the count.
	if _, got := digest(t, s); got != steps+3 {
		t.Errorf("%d records after %d steps, want %d", got, steps, steps+3)
	}
	if h := s.Health(); h.Restarts != 3 || h.Crashes != 0 || h.Phase != PhaseRunning {
		t.Errorf("health %+v", h)
	}
}

// TestRecycleOfABusyChild has a reader in flight that does not end: the child stays.
func TestRecycleOfABusyChild(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	cfg.CloseTimeout = 200 * time.Millisecond
	s := start(t, cfg)
	if err := s.Apply(t.Context(), large(0, 10)); err != nil {
		t.Fatal(err)
	}
	pid, n := s.Health().PID, 0
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		if n++; n == 1 {
			if err := s.Recycle(t.Context()); !errors.Is(err, errBusy) {
				t.Errorf("got %v, want that calls are in flight", err)
			}
		}
		return nil
	})
	if err != nil || n != 10 || s.Health().PID != pid {
		t.Errorf("load: %d records, %v; child %d, want %d still", n, err, s.Health().PID, pid)
	}
}

// TestMemoryLimit sets one that every process exceeds.
func TestMemoryLimit(t *testing.T) {
	cfg, happened := testConfig("memory", "graph")
	cfg.MemoryLimit, cfg.MemoryCheck = 1, time.Millisecond
	s := start(t, cfg)
	for range 2 {
		wait(t, happened.restarted)
	}
	if h := s.Health(); h.Crashes != 0 || h.Restarts < 2 {
		t.Errorf("health %+v", h)
	}
	// A Go program takes more than a megabyte and this test less than the machine has.
	if used, err := memoryOf(os.Getpid()); err != nil || used < 1<<20 || used > 1<<40 {
		t.Errorf("this process uses %d bytes, %v", used, err)
	}
}
