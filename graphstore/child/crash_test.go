package child

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// step is the nth transaction of a writer: it counts, makes records and takes back some of the step before.
func step(n int) []graphstore.Change {
	id := func(n, i int) string { return fmt.Sprintf("f%d-%d", n, i) }
	ada := fact("ada", "x").Space
	tx := []graphstore.Change{graphstore.PutTopic(ada, graphstore.Topic{ID: "count", Name: "count", Facts: n})}
	edge := func(n int) graphstore.Change {
		return graphstore.PutEdge(ada, graphstore.Edge{Source: id(n, 1), Target: id(n, 0), Type: graphstore.Causes, Weight: 0.5,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: id(n, 1)}})
	}
	tx = append(tx, fact("ada", id(n, 0)), fact("ada", id(n, 1)), edge(n))
	if n > 0 {
		tx = append(tx, graphstore.DeleteKey(ada, edge(n-1).Key()), graphstore.DeleteKey(ada, fact("ada", id(n-1, 1)).Key()))
	}
	return tx
}

// TestKilledChildLosesNothingAcknowledged kills the child in the middle of applies. What was acknowledged is there, what
// was not is applied again and is there once: the graph is that of a store that nobody killed.
func TestKilledChildLosesNothingAcknowledged(t *testing.T) {
	const steps, kills = 60, 5
	cfg, happened := testConfig("kuzu", filepath.Join(t.TempDir(), "graph"))
	s := start(t, cfg)
	model := graphstoretest.NewMemory()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	died := 0
	var killers sync.WaitGroup
	for n := range steps {
		if n%(steps/kills) == 5 {
			pid, busy := s.Health().PID, time.Duration(rng.IntN(3000))*time.Microsecond
			if pid == 0 {
				t.Fatalf("step %d: no child", n)
			}
			killers.Go(func() { // some moment of the apply below
				for until := time.Now().Add(busy); time.Now().Before(until); {
				}
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be dead by the step before
			})
		}
		err := s.Apply(t.Context(), step(n))
		for errors.Is(err, ErrChildDied) {
			died++
			err = s.Apply(t.Context(), step(n))
		}
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		killers.Wait()
		if err := model.Apply(t.Context(), step(n)); err != nil {
			t.Fatal(err)
		}
		if n%(steps/kills) == 5 { // the kill may have come after the answer
			wait(t, happened.restarted)
		}
	}
	got, records := digest(t, s)
	if want, _ := digest(t, model); got != want {
		t.Errorf("%d records, %v, want %v", records, got, want)
	}
	if h := s.Health(); h.Restarts != kills || h.Crashes != kills || h.Phase != PhaseRunning || h.Quarantines != 0 {
		t.Errorf("after %d kills: %+v", kills, h)
	}
	t.Logf("%d applies lost their child", died)
}

// TestCrashOfTheStore lets the store panic and kill its own process inside an apply.
func TestCrashOfTheStore(t *testing.T) {
	for how, reason := range map[string]string{"panic": "panic: odd apply", "kill": "signal: killed"} {
		t.Run(how, func(t *testing.T) {
			cfg, happened := testConfig("odd", "graph")
			s := start(t, cfg)
			pid := s.Health().PID
			err := s.Apply(t.Context(), []graphstore.Change{fact("ada", how)})
			if !errors.Is(err, ErrChildDied) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), fmt.Sprint(pid)) {
				t.Errorf("got %v, want ErrChildDied of process %d by %q", err, pid, reason)
			}
			if c := wait(t, happened.crashed); c.PID != pid || c.Phase != CrashedRunning || !strings.Contains(c.Reason, reason) {
				t.Errorf("crash: %+v", c)
			}
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "fine")}); err != nil {
				t.Errorf("the next call, which waits for the next child: %v", err)
			}
			if r := wait(t, happened.restarted); r.PID == pid || r.Attempts != 1 {
				t.Errorf("restart: %+v", r)
			}
		})
	}
}

// TestEveryCallEndsWithItsChild has calls of all kinds in flight when the child dies.
func TestEveryCallEndsWithItsChild(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	waiting := make(heard, 10)
	cfg.Stderr = waiting
	s := start(t, cfg)
	for i := range 5 {
		if err := s.Apply(t.Context(), large(i*1000, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "hang")})
		if !errors.Is(err, ErrChildDied) {
			t.Errorf("apply: %v", err)
		}
	})
	wait(t, waiting)
	killed := false
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		if !killed {
			killed = true
			return syscall.Kill(s.Health().PID, syscall.SIGKILL)
		}
		return nil
	})
	if !errors.Is(err, ErrChildDied) {
		t.Errorf("load: %v", err)
	}
	calls.Wait()
	wait(t, happened.restarted)
}

// large returns facts of a kilobyte each.
func large(from, n int) []graphstore.Change {
	out := make([]graphstore.Change, n)
	for i := range out {
		out[i] = fact("ada", fmt.Sprintf("large%d", from+i))
		out[i].Fact.AgentID = strings.Repeat("x", 1000)
	}
	return out
}

// TestBreaker lets the child die three times within the window: the third opens the breaker, which closes by itself.
func TestBreaker(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	cfg.BreakerCrashes, cfg.BreakerWindow, cfg.BreakerPause = 3, time.Hour, time.Second
	s := start(t, cfg)
	for range 3 {
		if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
			t.Fatalf("got %v, want ErrChildDied", err)
		}
	}
	if _, err := s.Stats(context.Background()); !errors.Is(err, ErrBreakerOpen) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("got %v, want ErrBreakerOpen with the last reason", err)
	}
	b := wait(t, happened.broken)
	if h := s.Health(); h.Phase != PhaseBreaker || h.PID != 0 || !h.Until.Equal(b.Until) || b.Crashes != 3 {
		t.Errorf("health %+v, break %+v", h, b)
	}
	for range 3 {
		wait(t, happened.restarted)
	}
	if early := time.Until(b.Until); early > 0 {
		t.Errorf("started again %v before the pause was over", early)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "fine")}); err != nil {
		t.Error(err)
	}
	if h := s.Health(); h.Phase != PhaseRunning || h.Restarts != 3 || h.Crashes != 3 || !h.Until.IsZero() {
		t.Errorf("health afterwards: %+v", h)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Errorf("got %v, want ErrChildDied", err)
	}
	if _, err := s.Stats(context.Background()); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("one more within the window: got %v, want ErrBreakerOpen", err)
	}
}

// TestBreakerWindow counts by hand: limit 3 in a window of 10 s.
func TestBreakerWindow(t *testing.T) {
	b := breaker{limit: 3, window: 10 * time.Second}
	zero := time.Unix(1000, 0)
	for _, c := range []struct {
		at   int
		want bool
		why  string
	}{
		{0, false, "1st"}, {5, false, "2nd"}, {10, false, "the one at 0 is out of the window: 5, 10"},
		{14, true, "5, 10, 14"}, {19, true, "10, 14, 19"}, {40, false, "alone"}, {41, false, "40, 41"}, {42, true, "40, 41, 42"},
	} {
		if got := b.add(zero.Add(time.Duration(c.at) * time.Second)); got != c.want {
			t.Errorf("at %d s (%s): open %v, want %v", c.at, c.why, got, c.want)
		}
	}
}

// TestWaitForAChildEndsWithTheContext calls while the next child cannot come up.
func TestWaitForAChildEndsWithTheContext(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	cfg.BackoffMin, cfg.BackoffMax = time.Hour, time.Hour
	s := start(t, cfg)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	wait(t, happened.crashed)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Apply(ctx, []graphstore.Change{fact("ada", "f")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	ended := make(chan error)
	go func() { ended <- s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}) }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, graphstore.ErrClosed) {
		t.Errorf("a call that waits when the store is closed: got %v, want ErrClosed", err)
	}
}
