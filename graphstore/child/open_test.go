package child

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// write writes the files of a graph: content by suffix.
func write(t testing.TB, path string, files map[string]string) {
	t.Helper()
	for suffix, content := range files {
		if err := os.WriteFile(path+suffix, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the content of the files in a directory.
func read(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(b)
	}
	return got
}

// TestGraphThatCannotBeOpenedIsMovedAside has openings fail in every way twice; the third, of an empty graph, succeeds.
func TestGraphThatCannotBeOpenedIsMovedAside(t *testing.T) {
	for how, reason := range map[string]string{"kill": "signal: killed", "panic": "panic: odd opening", "error": errOfTheStore.Error(),
		"hang": "graph not open after"} {
		t.Run(how, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph")
			write(t, path, map[string]string{"": how, ".wal": "the log", ".shadow": "the shadow", ".lock": "1\n", ".other": "not ours"})
			cfg, happened := testConfig("odd", path)
			if how == "hang" {
				cfg.OpenTimeout = 700 * time.Millisecond
			}
			s := start(t, cfg)
			q := wait(t, happened.quarantined)
			if !strings.Contains(q.Reason, reason) || filepath.Dir(q.Dir) != path+".quarantine" {
				t.Errorf("quarantine %+v, want the reason %q", q, reason)
			}
			want := map[string]string{"graph": how, "graph.wal": "the log", "graph.shadow": "the shadow"}
			if diff := cmp.Diff(want, read(t, q.Dir)); diff != "" {
				t.Errorf("moved (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), q.Files); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if left := slices.Sorted(maps.Keys(read(t, filepath.Dir(path)))); !cmp.Equal(left, []string{"graph.lock", "graph.other"}) {
				t.Errorf("left in its place: %v", left)
			}
			for range 2 {
				if c := wait(t, happened.crashed); c.Phase != CrashedOpening || c.PID == 0 {
					t.Errorf("crash %+v, want one while opening", c)
				}
			}
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
				t.Errorf("the store does not go on: %v", err)
			}
			if h := s.Health(); h.Quarantines != 1 || h.Crashes != 2 || h.Phase != PhaseRunning {
				t.Errorf("health %+v", h)
			}
		})
	}
}

// TestQuarantineAtARestart damages the graph under a running child, and kills it.
func TestQuarantineAtARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	cfg, happened := testConfig("odd", path)
	var s *Store
	told := false
	cfg.Hooks.Quarantined = func(q Quarantine) {
		told = true
		if pid := s.Health().PID; pid != 0 {
			t.Errorf("child %d takes calls before the owner knows", pid)
		}
		happened.quarantined <- q
	}
	s = start(t, cfg)
	write(t, path, map[string]string{"": "kill"})
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil || !told {
		t.Errorf("apply after the restart: %v; owner told: %v", err, told)
	}
	if r := wait(t, happened.restarted); r.Attempts != 3 {
		t.Errorf("restart %+v, want the third attempt", r)
	}
	wait(t, happened.quarantined)
}

// TestWhatMovesNothing has openings fail in ways that are not the file's fault, or may not be taken for it.
func TestWhatMovesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		change  func(*Config)
		want    error
	}{
		"disk is full":           {"space", nil, errMachine},
		"no permission":          {"permission", nil, errMachine},
		"in use":                 {"in use", nil, ErrInUse},
		"policy is off":          {"error", func(c *Config) { c.Quarantine.Off = true }, errOfTheStore},
		"no such program":        {"kill", func(c *Config) { c.Command = []string{"/no/such/program"} }, os.ErrNotExist},
		"program is another":     {"kill", func(c *Config) { c.Command = []string{"true"} }, nil},
		"not even an empty file": {"", func(c *Config) { c.Env = append(c.Env, oddOpen+"=error") }, errOfTheStore},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "graph")
			if c.content != "" {
				write(t, path, map[string]string{"": c.content, ".wal": "log"})
			}
			before := read(t, dir)
			cfg, happened := testConfig("odd", path)
			if c.change != nil {
				c.change(&cfg)
			}
			s, err := Start(t.Context(), cfg)
			if err == nil {
				_ = s.Close()
				t.Fatal("started")
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if diff := cmp.Diff(before, read(t, dir)); diff != "" || len(happened.quarantined) > 0 || exists(path+".quarantine") {
				t.Errorf("moved: %s", diff)
			}
			if left := append(children(t), sockets(t, os.TempDir())...); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestWhatAnotherOwnsIsNotMoved holds the lock of a graph that cannot be opened.
func TestWhatAnotherOwnsIsNotMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "kill"})
	lock := flock.New(path + ".lock")
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	defer func() { _ = lock.Unlock() }()
	cfg, _ := testConfig("odd", path)
	if s, err := Start(t.Context(), cfg); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, %v, want ErrInUse", s, err)
	}
	if !exists(path) {
		t.Error("moved")
	}
}

// TestWhatAStrangerHasOpenIsNotMoved locks the file like a program that knows nothing of the lock file: Kuzu's own shell.
func TestWhatAStrangerHasOpenIsNotMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "error"})
	stranger := exec.CommandContext(t.Context(), os.Args[0])
	stranger.Env = append(os.Environ(), role+"=stranger", parentPath+"="+path)
	out, err := stranger.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cfg, _ := testConfig("odd", path)
	_, err = Start(t.Context(), cfg)
	if want := fmt.Sprintf("process %d", stranger.Process.Pid); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want ErrInUse that names %s", err, want)
	}
	if !exists(path) {
		t.Error("moved")
	}
}

// stranger locks a file as Kuzu does, says so, and waits to be killed.
func stranger(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		return err
	}
	fmt.Println("locked")
	select {}
}

// TestInterruptedQuarantineIsEnded begins where a process died that was moving files.
func TestInterruptedQuarantineIsEnded(t *testing.T) {
	for name, c := range map[string]struct{ there, moved, want, left map[string]string }{
		"nothing moved yet":    {map[string]string{"": "error", ".wal": "w"}, nil, map[string]string{"graph": "error", "graph.wal": "w"}, nil},
		"log still there":      {map[string]string{".wal": "w"}, map[string]string{"": "g"}, map[string]string{"graph": "g", "graph.wal": "w"}, nil},
		"only the name is old": {nil, map[string]string{"": "g"}, map[string]string{"graph": "g"}, nil},
		"a new graph was made": {map[string]string{"": "new", ".wal": "w2"}, map[string]string{"": "g"}, map[string]string{"graph": "g"},
			map[string]string{"graph": "new", "graph.wal": "w2"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "graph")
			folder := filepath.Join(path+".quarantine", "20260101T000000.000000Z")
			if err := os.MkdirAll(folder+unfinished, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, path, c.there)
			write(t, filepath.Join(folder+unfinished, "graph"), c.moved)
			cfg, happened := testConfig("odd", path)
			start(t, cfg)
			if q := wait(t, happened.quarantined); q.Dir != folder {
				t.Errorf("quarantine %+v, want folder %s", q, folder)
			}
			if diff := cmp.Diff(c.want, read(t, folder)); diff != "" {
				t.Errorf("moved (-want +got):\n%s", diff)
			}
			left := read(t, dir)
			delete(left, "graph.lock")
			if want := c.left; len(left)+len(want) > 0 && !cmp.Equal(left, want) {
				t.Errorf("left %v, want %v", left, want)
			}
		})
	}
}

// TestRefusedAtARestart has the graph owned by another when the child is started again: calls say so until it is free.
func TestRefusedAtARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	cfg, happened := testConfig("odd", path)
	s := start(t, cfg)
	write(t, path, map[string]string{"": "in use"})
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	_, err := s.Stats(t.Context()) // waits for the refusal
	if !errors.Is(err, ErrInUse) || !errors.Is(err, kuzu.ErrInUse) || !strings.Contains(err.Error(), "4711") {
		t.Errorf("got %v, want ErrInUse that names process 4711", err)
	}
	if h := s.Health(); h.Phase != PhaseRefused || !strings.Contains(h.LastReason, "4711") {
		t.Errorf("health %+v", h)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait(t, happened.restarted)
	if _, err := s.Stats(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSecondOwnerIsRefused starts two children on one Kuzu file.
func TestSecondOwnerIsRefused(t *testing.T) {
	cfg, _ := testConfig("kuzu", filepath.Join(t.TempDir(), "graph"))
	s := start(t, cfg)
	again, happened := testConfig("kuzu", cfg.Path)
	_, err := Start(t.Context(), again)
	owner := fmt.Sprintf("process %d", s.Health().PID)
	if !errors.Is(err, ErrInUse) || !errors.Is(err, kuzu.ErrInUse) || !strings.Contains(err.Error(), owner) {
		t.Errorf("got %v, want ErrInUse that names %s", err, owner)
	}
	if len(happened.crashed) > 0 || len(happened.quarantined) > 0 {
		t.Error("a file in use counts as a damaged one")
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
}

// kuzuFile makes a graph file with a record, and a log if the child is killed and not closed.
func kuzuFile(t *testing.T, path string, kill bool) {
	t.Helper()
	cfg, happened := testConfig("kuzu", path)
	s := mustStart(t, cfg)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f"), fact("ada", "g")}); err != nil {
		t.Fatal(err)
	}
	if kill {
		if err := syscall.Kill(s.Health().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		wait(t, happened.crashed)
		s.stop() // before the next child replays the log; Close finds none
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedKuzuFiles damages real files in ways that Kuzu does not notice, refuses, or dies of. Whatever it does, there is
// a store afterwards that works, and nothing is deleted.
func TestDamagedKuzuFiles(t *testing.T) {
	header := string(binary.LittleEndian.AppendUint64([]byte("KUZU"), 39))
	garbage := strings.Repeat("\xde\xad\xbe\xef", 2048)
	for name, c := range map[string]struct {
		files map[string]string
		moved bool
	}{
		"header and garbage": {map[string]string{"": header + garbage}, true},
		"header alone":       {map[string]string{"": header}, true},
		"garbage in the log": {map[string]string{".wal": garbage}, false}, // taken for a torn end or for damage
		"garbage all over":   {map[string]string{"": header + garbage, ".wal": garbage, ".shadow": garbage}, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph")
			if _, whole := c.files[""]; !whole {
				kuzuFile(t, path, false)
			}
			write(t, path, c.files)
			cfg, happened := testConfig("kuzu", path)
			s := start(t, cfg)
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "new")}); err != nil {
				t.Fatal(err)
			}
			_, records := digest(t, s)
			if c.moved || len(happened.quarantined) > 0 {
				q := wait(t, happened.quarantined)
				t.Logf("moved: %s", q.Reason)
				// What is left of log and shadow is Kuzu's doing.
				if got := read(t, q.Dir)["graph"]; got != c.files[""] && c.moved {
					t.Errorf("quarantined graph has %d bytes, want the %d written", len(got), len(c.files[""]))
				}
				if records != 1 {
					t.Errorf("%d records in a new graph, want 1", records)
				}
			} else if records != 3 {
				t.Errorf("%d records, want the 2 old and 1 new", records)
			}
		})
	}
}

// TestForeignFileIsLeftAlone gives the child a file that is no graph at all.
func TestForeignFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "Dear diary, ..."})
	cfg, _ := testConfig("kuzu", path)
	_, err := Start(t.Context(), cfg)
	if !errors.Is(err, ErrForeign) || !errors.Is(err, kuzu.ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
	if got := read(t, filepath.Dir(path))["graph"]; got != "Dear diary, ..." {
		t.Errorf("the file is now %q", got)
	}
}

// TestStartEndsWithItsContext starts a child that never opens.
func TestStartEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, map[string]string{"": "hang"})
	cfg, _ := testConfig("odd", path)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	if left := children(t); len(left) > 0 || !exists(path) {
		t.Errorf("processes left behind: %v; file there: %v", left, exists(path))
	}
}
