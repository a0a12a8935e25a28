package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func loadAll(s *Store) error {
	return s.LoadAll(context.Background(), func(graphstore.Change) error { return nil })
}

// TestDamageIsMovedAsideAtOnce has the child's store say that its graph is damaged: in a call, and at open.
func TestDamageIsMovedAsideAtOnce(t *testing.T) {
	for content, call := range map[string]func(*Store) error{
		"damaged at load": loadAll,
		"damaged at apply": func(s *Store) error {
			return s.Apply(context.Background(), []graphstore.Change{fact("ada", "damaged")})
		},
		"damaged": nil,
	} {
		t.Run(content, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph")
			write(t, path, map[string]string{"": content, ".wal": "log"})
			cfg, happened := testConfig("odd", path)
			s := start(t, cfg)
			if call != nil {
				if err := call(s); !errors.Is(err, graphstore.ErrDamaged) {
					t.Errorf("got %v, want ErrDamaged", err)
				}
			}
			// The next call meets the empty graph.
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
				t.Error(err)
			}
			if _, n := digest(t, s); n != 1 {
				t.Errorf("%d records in the new graph, want 1", n)
			}
			q := wait(t, happened.quarantined)
			if diff := cmp.Diff(map[string]string{"graph": content, "graph.wal": "log"}, read(t, q.Dir)); diff != "" {
				t.Errorf("moved (-want +got):\n%s", diff)
			}
			if !strings.Contains(q.Reason, graphstore.ErrDamaged.Error()) {
				t.Errorf("reason %q", q.Reason)
			}
			if h := s.Health(); h.Quarantines != 1 || h.Crashes != 1 || len(happened.crashed) != 1 {
				t.Errorf("health %+v, want one crash: no second try", h)
			}
		})
	}
}

// TestDamageStaysWhereQuarantineIsOff returns the error and does nothing else.
func TestDamageStaysWhereQuarantineIsOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "damaged at load"})
	cfg, happened := testConfig("odd", path)
	cfg.Quarantine.Off = true
	s := start(t, cfg)
	for range 2 {
		if err := loadAll(s); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged", err)
		}
	}
	if !exists(path) || len(happened.quarantined)+len(happened.crashed) > 0 {
		t.Error("something happened")
	}
}

// TestDamageOfAnotherStore has yield return what another store said: this one has nothing to do with it.
func TestDamageOfAnotherStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "fine"})
	cfg, happened := testConfig("odd", path)
	s := start(t, cfg)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Fatal(err)
	}
	other, _ := testConfig("odd", filepath.Join(t.TempDir(), "other"))
	o := mustStart(t, other)
	defer func() { _ = o.Close() }()
	pid := s.Health().PID
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		return o.Apply(t.Context(), []graphstore.Change{fact("ada", "damaged")})
	})
	if !errors.Is(err, graphstore.ErrDamaged) || !exists(path) || len(happened.quarantined) > 0 || s.Health().PID != pid {
		t.Errorf("got %v; moved: %v", err, !exists(path))
	}
}

// TestQuarantineByTheOwner moves a graph aside that runs, with a call in flight, and one of which no child runs.
func TestQuarantineByTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "fine"})
	cfg, happened := testConfig("odd", path)
	waiting := make(heard, 10)
	cfg.Stderr, cfg.Quarantine.Off = waiting, true
	cfg.BreakerCrashes, cfg.BreakerPause = 1, time.Hour
	s := start(t, cfg)
	hung := make(chan error, 1)
	go func() { hung <- s.Apply(t.Context(), []graphstore.Change{fact("ada", "hang")}) }()
	wait(t, waiting)
	if err := s.Quarantine(t.Context(), "digests differ"); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, hung); !errors.Is(err, ErrChildDied) || !strings.Contains(err.Error(), "digests differ") {
		t.Errorf("call in flight: %v", err)
	}
	if q := wait(t, happened.quarantined); q.Reason != "digests differ" || read(t, q.Dir)["graph"] != "fine" {
		t.Errorf("quarantine %+v", q)
	}
	wait(t, happened.restarted)
	if h := s.Health(); h.Crashes != 0 || h.Quarantines != 1 {
		t.Errorf("health %+v", h)
	}
	write(t, path, map[string]string{"": "again"})
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	wait(t, happened.broken) // for an hour
	if err := s.Quarantine(t.Context(), "no good"); err != nil {
		t.Fatal(err)
	}
	if q := wait(t, happened.quarantined); q.Reason != "no good" || read(t, q.Dir)["graph"] != "again" {
		t.Errorf("quarantine %+v", q)
	}
	if err := s.Quarantine(t.Context(), "nothing there"); err != nil {
		t.Fatal(err)
	}
	if q := wait(t, happened.quarantined); q.Dir != "" || len(q.Files) != 0 {
		t.Errorf("quarantine of nothing: %+v", q)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
	if err := s.Quarantine(canceled(t), "late"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestGraphThatKillsEveryLoad opens a graph that ends the child whenever it is loaded: two deaths are borne, as many as
// openings may fail, the third is not.
func TestGraphThatKillsEveryLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "panic at load"})
	cfg, happened := testConfig("odd", path)
	s := start(t, cfg)
	for n := range 3 {
		if !exists(path) {
			t.Fatalf("moved after %d deaths", n)
		}
		if err := loadAll(s); !errors.Is(err, ErrChildDied) {
			t.Fatalf("load: %v", err)
		}
		wait(t, happened.restarted)
	}
	q := wait(t, happened.quarantined)
	if read(t, q.Dir)["graph"] != "panic at load" || !strings.Contains(q.Reason, "died 3 times") || !strings.Contains(q.Reason, "panic: odd load") {
		t.Errorf("quarantine %+v", q)
	}
	if err := loadAll(s); err != nil {
		t.Error(err)
	}
}

// TestDeathsThatSayNothingOfTheGraph kills the child in loads as others do, and lets it die outside of loads.
func TestDeathsThatSayNothingOfTheGraph(t *testing.T) {
	for name, die := range map[string]func(*Store) error{
		"killed in a load":  loadAll,
		"dies in an apply":  func(s *Store) error { return s.Apply(context.Background(), []graphstore.Change{fact("ada", "panic")}) },
		"dies between both": func(s *Store) error { return syscall.Kill(s.Health().PID, syscall.SIGABRT) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph")
			content := "fine"
			if name == "killed in a load" {
				content = "kill at load"
			}
			write(t, path, map[string]string{"": content})
			cfg, happened := testConfig("odd", path)
			s := start(t, cfg)
			for range 4 {
				if err := die(s); err != nil && !errors.Is(err, ErrChildDied) {
					t.Fatal(err)
				}
				wait(t, happened.restarted)
			}
			if !exists(path) || len(happened.quarantined) > 0 {
				t.Error("the graph was moved")
			}
		})
	}
}

// TestLoadThatSucceedsForgives has the graph come back to its senses after two deaths: they count no more.
func TestLoadThatSucceedsForgives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "panic at load"})
	cfg, happened := testConfig("odd", path)
	s := start(t, cfg)
	load := func(content string) {
		t.Helper()
		write(t, path, map[string]string{"": content}) // the same file
		if err := s.Recycle(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait(t, happened.restarted)
		if err := loadAll(s); errors.Is(err, ErrChildDied) != (content != "fine") {
			t.Fatalf("load of %q: %v", content, err)
		} else if err != nil {
			wait(t, happened.restarted)
		}
	}
	for _, content := range []string{"panic at load", "panic at load", "fine", "panic at load", "panic at load"} {
		load(content)
	}
	if len(happened.quarantined) > 0 {
		t.Error("moved after two deaths, a success and two deaths")
	}
	load("panic at load")
	wait(t, happened.quarantined)
}

// TestFileThatVanishes takes the file of a running child away in every way.
func TestFileThatVanishes(t *testing.T) {
	for name, c := range map[string]struct {
		take func(dir, path string) error
		want map[string]string // in quarantine; nil: there is no folder
		off  bool
	}{
		"file":                               {func(_, path string) error { return os.Remove(path) }, map[string]string{"graph.wal": "log"}, false},
		"directory":                          {func(dir, _ string) error { return os.RemoveAll(dir) }, nil, false},
		"directory, where quarantine is off": {func(dir, _ string) error { return os.RemoveAll(dir) }, nil, true},
		"another in its place": {func(_, path string) error {
			return errors.Join(os.WriteFile(path+"2", []byte("other"), 0o600), os.Rename(path+"2", path))
		}, map[string]string{"graph": "other", "graph.wal": "log"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "graph")
			write(t, path, map[string]string{"": "fine", ".wal": "log", ".lock": "1"})
			cfg, happened := testConfig("odd", path)
			cfg.FileCheck, cfg.Quarantine.Off = time.Millisecond, c.off
			s := start(t, cfg)
			if err := c.take(dir, path); err != nil {
				t.Fatal(err)
			}
			q := wait(t, happened.quarantined)
			if !strings.Contains(q.Reason, path) || (q.Dir == "") != (c.want == nil) || len(q.Files) != len(c.want) {
				t.Errorf("quarantine %+v", q)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, read(t, q.Dir)); diff != "" {
					t.Errorf("moved (-want +got):\n%s", diff)
				}
			}
			wait(t, happened.restarted)
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
				t.Error(err)
			}
			if h := s.Health(); h.Crashes != 1 || h.Quarantines != 1 || !strings.Contains(h.LastReason, path) {
				t.Errorf("health %+v", h)
			}
		})
	}
}

// TestDirectoryOfKuzuVanishes removes everything under a Kuzu store. There is a new file afterwards that keeps what it is told.
func TestDirectoryOfKuzuVanishes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cfg, happened := testConfig("kuzu", filepath.Join(dir, "graph"))
	cfg.FileCheck = 10 * time.Millisecond
	s := start(t, cfg)
	old, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wait(t, happened.quarantined)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Head(t.Context()); err != nil || h.ID == old.ID || h.Digest.Records() != 1 || !exists(cfg.Path) {
		t.Errorf("head %+v, %v, want 1 record and another id than %s", h, err, old.ID)
	}
}

// TestDueQuarantineIsTriedAgain has a damaged graph locked by another when it is to be moved: calls say so, until it is free.
func TestDueQuarantineIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "damaged at load"})
	cfg, happened := testConfig("odd", path)
	s := start(t, cfg)
	unlock, err := graphFiles{path: path}.own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := loadAll(s); !errors.Is(err, graphstore.ErrDamaged) {
		t.Fatal(err)
	}
	for {
		_, err := s.Stats(t.Context())
		if errors.Is(err, ErrInUse) {
			break
		}
		if err == nil {
			t.Fatal("the damaged graph takes calls")
		}
	}
	unlock()
	wait(t, happened.quarantined)
	wait(t, happened.restarted)
	if err := loadAll(s); err != nil {
		t.Error(err)
	}
}
