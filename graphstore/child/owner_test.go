package child

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// TestWaitForOwner starts while the child of a parent that was killed is still in its transaction.
func TestWaitForOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "in use for a second"})
	cfg, happened := testConfig("odd", path)
	if s, err := Start(t.Context(), cfg); !errors.Is(err, ErrInUse) {
		t.Fatalf("got %v, %v, want ErrInUse at once", s, err)
	}
	cfg.WaitForOwner = 50 * time.Millisecond
	if s, err := Start(t.Context(), cfg); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "4711") {
		t.Fatalf("got %v, %v, want ErrInUse that names process 4711", s, err)
	}
	cfg.WaitForOwner = time.Minute
	s := start(t, cfg)
	// A restart waits as well, and calls wait with it.
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
	if r := wait(t, happened.restarted); r.Attempts != 1 {
		t.Errorf("restart %+v", r)
	}
}

// TestStartMeetsTheOrphan kills the parent of a Kuzu store and starts the next one at once.
func TestStartMeetsTheOrphan(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "graph")
	cmd, _ := parent(t, "kuzu", path)
	again, happened := testConfig("kuzu", path)
	if s, err := Start(t.Context(), again); !errors.Is(err, ErrInUse) {
		t.Fatalf("got %v, %v, want ErrInUse", s, err)
	}
	again.WaitForOwner = 30 * time.Second
	kill(t, cmd)
	s := start(t, again)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
	if len(happened.crashed) > 0 || len(happened.quarantined) > 0 {
		t.Error("waiting counts as a crash")
	}
}

// TestLockNamesItsOwner waits for a lock in vain.
func TestLockNamesItsOwner(t *testing.T) {
	g := graphFiles{path: filepath.Join(t.TempDir(), "data", "graph")}
	unlock, err := g.own(t.Context()) // makes the directory
	if err != nil {
		t.Fatal(err)
	}
	write(t, g.path, map[string]string{lockSuffix: fmt.Sprintln(4711)})
	g.wait = 30 * time.Millisecond
	if _, err := g.own(t.Context()); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "process 4711") {
		t.Errorf("got %v, want ErrInUse that names process 4711", err)
	}
	unlock()
	if unlock, err = g.own(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock()
}
