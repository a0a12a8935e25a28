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

// TestMemoryLimit has the child leak 64 MiB: a Go program with a few records takes a fraction of that, so it is more than
// MemoryGrowth times what it needs.
func TestMemoryLimit(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	cfg.MemoryLimit, cfg.MemoryCheck, cfg.settle = 1, time.Millisecond, time.Millisecond
	s := start(t, cfg)
	if _, n := digest(t, s); n != 0 { // what the child needs is measured now at the latest
		t.Fatalf("%d records", n)
	}
	pid := s.Health().PID
	if len(happened.restarted) > 0 {
		t.Fatal("replaced for taking what it needs")
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "leak")}); err != nil {
		t.Fatal(err)
	}
	wait(t, happened.restarted)
	if h := s.Health(); h.Crashes != 0 || h.Restarts != 1 || h.PID == pid {
		t.Errorf("health %+v", h)
	}
	// A Go program takes more than a megabyte and this test less than the machine has.
	if used, err := memoryOf(os.Getpid()); err != nil || used < 1<<20 || used > 1<<40 {
		t.Errorf("this process uses %d bytes, %v", used, err)
	}
}

// TestTooLarge goes through the rule by hand, with this process for the child.
func TestTooLarge(t *testing.T) {
	used, err := memoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		limit, needs int64
		want         bool
	}{
		"over the limit, twice its need":    {used / 2, used / 2, true},
		"over the limit, about its need":    {used / 2, used, false},
		"over the limit, need not measured": {used / 2, 0, false},
		"within the limit":                  {used * 2, used / 2, false},
	} {
		v := &supervisor{Store: &Store{cfg: Config{MemoryLimit: c.limit}}}
		p := &process{pid: os.Getpid()}
		p.needs.Store(c.needs)
		if got := v.tooLarge(p); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
