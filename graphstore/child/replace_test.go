package child

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// theOld is a graph with everything that can be beside one.
var theOld = map[string]string{"": "old", ".wal": "old log", ".shadow": "old shadow"}

// replaceable makes an old graph, and a new one elsewhere.
func replaceable(t testing.TB, content string) (path, from string) {
	t.Helper()
	path, from = filepath.Join(t.TempDir(), "graph"), filepath.Join(t.TempDir(), "new")
	write(t, path, theOld)
	write(t, from, map[string]string{"": content})
	return path, from
}

// at returns the files of a graph, content by suffix.
func at(path string) map[string]string {
	got := make(map[string]string)
	for _, suffix := range graphSuffixes {
		if b, err := os.ReadFile(path + suffix); err == nil {
			got[suffix] = string(b)
		}
	}
	return got
}

func TestReplace(t *testing.T) {
	for name, keep := range map[string]bool{"the old one is removed": false, "the old one is kept": true} {
		t.Run(name, func(t *testing.T) {
			path, from := replaceable(t, "new")
			write(t, from, map[string]string{".wal": "", ".lock": "1"}) // as a store leaves them
			cfg, happened := testConfig("odd", path)
			cfg.Replaced.Keep = keep
			s := start(t, cfg)
			pid := s.Health().PID
			if err := s.Replace(t.Context(), from); err != nil {
				t.Fatal(err)
			}
			if r := wait(t, happened.restarted); r.PID == pid || r.PID != s.Health().PID {
				t.Errorf("restart %+v", r)
			}
			if diff := cmp.Diff(map[string]string{"": "new"}, at(path)); diff != "" || exists(from) || exists(from+".lock") {
				t.Errorf("in place (-want +got):\n%s", diff)
			}
			folders, err := filepath.Glob(path + ".replaced/*")
			if err != nil || len(folders) > 1 || (len(folders) == 1) != keep || exists(path+".replaced") != keep {
				t.Fatalf("folders %v, %v", folders, err)
			}
			if keep {
				if diff := cmp.Diff(theOld, at(filepath.Join(folders[0], "graph"))); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
			}
			if h := s.Health(); h.Crashes != 0 || h.Quarantines != 0 || h.Restarts != 1 || h.Phase != PhaseRunning {
				t.Errorf("health %+v", h)
			}
			if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReplaceByWhatDoesNotOpen gets the old graph back, whatever the new one does.
func TestReplaceByWhatDoesNotOpen(t *testing.T) {
	for content, want := range map[string]error{"error": errOfTheStore, "kill": ErrChildDied, "damaged": graphstore.ErrDamaged,
		"foreign": ErrForeign, "in use": ErrInUse, "permission": errMachine} {
		t.Run(content, func(t *testing.T) {
			path, from := replaceable(t, content)
			cfg, happened := testConfig("odd", path)
			s := start(t, cfg)
			if err := s.Replace(t.Context(), from); !errors.Is(err, want) || !strings.Contains(err.Error(), "the old one is back") {
				t.Errorf("got %v, want %v and that the old one is back", err, want)
			}
			wait(t, happened.restarted)
			if diff := cmp.Diff(theOld, at(path)); diff != "" || exists(path+".replaced") {
				t.Errorf("in place (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"": content}, at(from)); diff != "" {
				t.Errorf("new graph (-want +got):\n%s", diff)
			}
			if len(happened.quarantined) > 0 {
				t.Error("something was moved aside")
			}
		})
	}
}

// TestReplaceRefusesWhatCannotWork changes nothing, and the child goes on.
func TestReplaceRefusesWhatCannotWork(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path, from string) string
		text    string
	}{
		"nothing there": {func(_ *testing.T, _, from string) string { return from + "2" }, "no such file"},
		"directory":     {func(_ *testing.T, _, from string) string { return filepath.Dir(from) }, "no file"},
		"the graph":     {func(_ *testing.T, path, _ string) string { return path }, "the graph itself"},
		"log beside it": {func(t *testing.T, _, from string) string {
			write(t, from, map[string]string{".wal": "log"})
			return from
		}, "want a graph that was closed"},
		"another disk": {func(t *testing.T, _, _ string) string {
			if _, err := os.Stat("/dev/shm"); err != nil {
				t.Skip("no other disk")
			}
			f, err := os.CreateTemp("/dev/shm", "k")
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = os.Remove(f.Name()) })
			_ = f.Close()
			return f.Name()
		}, "cross-device"},
	} {
		t.Run(name, func(t *testing.T) {
			path, from := replaceable(t, "new")
			from = c.prepare(t, path, from)
			cfg, _ := testConfig("odd", path)
			s := start(t, cfg)
			pid := s.Health().PID
			if err := s.Replace(t.Context(), from); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
			if diff := cmp.Diff(theOld, at(path)); diff != "" || s.Health().PID != pid {
				t.Errorf("changed: %s", diff)
			}
		})
	}
}

// TestReplaceThatCannotMove fails in the middle of moving: what was moved goes back.
func TestReplaceThatCannotMove(t *testing.T) {
	path, from := replaceable(t, "new")
	cfg, happened := testConfig("odd", path)
	// The last of the old files cannot go where it should: something is there already.
	cfg.step = func() {
		for _, folder := range folders(t, path) {
			if in := filepath.Join(folder, "graph.shadow"); strings.HasSuffix(folder, unfinished) && !exists(in) {
				write(t, in, map[string]string{"": "in the way"})
			}
		}
	}
	s := start(t, cfg)
	err := s.Replace(t.Context(), from)
	if err == nil || !strings.Contains(err.Error(), "move one away") {
		t.Errorf("got %v, want what is in the way", err)
	}
	wait(t, happened.crashed) // the graph is not opened while its files are in two places
	for _, folder := range folders(t, path) {
		if err := os.Remove(filepath.Join(folder, "graph.shadow")); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, happened.restarted)
	if diff := cmp.Diff(theOld, at(path)); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
}

func folders(t testing.TB, path string) []string {
	t.Helper()
	found, err := filepath.Glob(path + ".replaced/*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReplaceWhileNoChildRuns puts a new graph in the place of one for which the breaker is open.
func TestReplaceWhileNoChildRuns(t *testing.T) {
	path, from := replaceable(t, "new")
	cfg, happened := testConfig("odd", path)
	cfg.BreakerCrashes, cfg.BreakerPause = 1, time.Hour
	s := start(t, cfg)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "kill")}); !errors.Is(err, ErrChildDied) {
		t.Fatal(err)
	}
	wait(t, happened.broken)
	if err := s.Replace(t.Context(), from+"2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if h := s.Health(); h.Phase != PhaseBreaker {
		t.Errorf("a replacement by nothing ends the pause: %+v", h)
	}
	if err := s.Replace(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"": "new"}, at(path)); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
}

// TestReplaceOfABusyChild has a reader in flight that does not end.
func TestReplaceOfABusyChild(t *testing.T) {
	path, from := replaceable(t, "new")
	cfg, _ := testConfig("odd", path)
	cfg.CloseTimeout = 200 * time.Millisecond
	s := start(t, cfg)
	if err := s.Apply(t.Context(), large(0, 10)); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		if n++; n == 1 {
			if err := s.Replace(t.Context(), from); !errors.Is(err, errBusy) {
				t.Errorf("got %v, want that calls are in flight", err)
			}
		}
		return nil
	})
	if err != nil || n != 10 || !exists(from) {
		t.Errorf("load: %d records, %v; new graph still there: %v", n, err, exists(from))
	}
}

// What the parent that is killed in a replacement runs with, in its environment.
const (
	replacerFrom = "KITH_TEST_FROM"
	replacerStep = "KITH_TEST_STEP"
	replacerKeep = "KITH_TEST_KEEP"
)

// killedReplacer replaces a graph and kills itself before a step.
func killedReplacer() error {
	cfg, _ := testConfig("odd", os.Getenv(parentPath))
	cfg.SocketDir, cfg.Replaced.Keep = filepath.Dir(os.Getenv(replacerFrom)), os.Getenv(replacerKeep) != ""
	left, err := strconv.Atoi(os.Getenv(replacerStep))
	if err != nil {
		return err
	}
	cfg.step = func() {
		if left--; left < 0 {
			die()
		}
	}
	s, err := Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println("replaced:", s.Replace(context.Background(), os.Getenv(replacerFrom)))
	return s.Close()
}

// TestReplaceKilledAtAnyStep kills the parent before every step there is, and now and then the next one too, before a step of
// what it does about it. Then there is one graph, whole, and none was lost.
func TestReplaceKilledAtAnyStep(t *testing.T) {
	for _, content := range []string{"new", "error"} {
		t.Run(content, func(t *testing.T) {
			for first, over := 0, false; !over; first++ {
				over = killed(t, content, first, -1)
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 3 { // twice, the second time in what the next start does
				killed(t, content, 2+rng.IntN(7), rng.IntN(8))
			}
		})
	}
}

// killed kills one parent before a step of its replacement, another before a step of its start (-1: there is none), and looks
// at what the third start makes of it. over says that there is no such step.
func killed(t *testing.T, content string, first, second int) (over bool) {
	t.Helper()
	path := filepath.Join(shortDir(t), "graph")
	from := filepath.Join(shortDir(t), "new")
	write(t, path, theOld)
	write(t, from, map[string]string{"": content})
	over = replacer(t, path, from, first)
	if second >= 0 {
		replacer(t, path, from+"2", second)
	}
	cfg, happened := testConfig("odd", path)
	s := mustStart(t, cfg)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	got, left := at(path), at(from)
	refused := folders(t, path)
	switch whole := map[string]string{"": content}; {
	case cmp.Equal(got, theOld):
		if len(left) == 0 && len(refused) == 1 {
			left = at(filepath.Join(refused[0], "graph.new"))
			refused = nil
		}
		if !cmp.Equal(left, whole) {
			t.Errorf("killed before steps %d and %d: the new graph is lost: %v", first, second, left)
		}
	case cmp.Equal(got, whole) && content == "new" && len(left) == 0:
	default:
		t.Errorf("killed before steps %d and %d: in place is %v, at the origin %v", first, second, got, left)
	}
	if len(refused) > 0 || len(happened.quarantined) > 0 {
		t.Errorf("killed before steps %d and %d: left %v", first, second, refused)
	}
	return over
}

// replacer runs a parent that is to be killed and reports whether it lived.
func replacer(t *testing.T, path, from string, step int) (lived bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), role+"=replacer", parentPath+"="+path, replacerFrom+"="+from, replacerStep+"="+strconv.Itoa(step))
	out, err := cmd.CombinedOutput()
	if state := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil && !(state.Signaled() && state.Signal() == syscall.SIGKILL) &&
		!strings.Contains(string(out), "replaced:") {
		t.Fatalf("replacer: %v: %s", err, out)
	}
	return strings.Contains(string(out), "replaced:")
}

// TestBuildAndReplaceKuzu builds a real graph in one child and puts it in the place of another child's.
func TestBuildAndReplaceKuzu(t *testing.T) {
	dir := t.TempDir()
	cfg, happened := testConfig("kuzu", filepath.Join(dir, "graph"))
	s := start(t, cfg)
	if err := s.ApplyMarked(t.Context(), []graphstore.Change{fact("ada", "old")}, graphstore.Mark{Log: "log", Seq: 1}); err != nil {
		t.Fatal(err)
	}
	build := buildConfig(t, "kuzu", "the new one")
	build.Path = filepath.Join(dir, "new")
	records := graphstoretest.Graph(11, 2, 500)
	want := graphstore.Head{ID: "the new one", Mark: build.Mark}
	for _, c := range records {
		want.Digest.Add(c)
	}
	if h, st, err := Build(t.Context(), build, each(records)); err != nil || h != want || st.Spaces != 2 {
		t.Fatalf("built %+v, %+v, %v, want %+v", h, st, err, want)
	}
	if err := s.Replace(t.Context(), build.Path); err != nil {
		t.Fatal(err)
	}
	t.Logf("down for %v", wait(t, happened.restarted).Down)
	if h, err := s.Head(t.Context()); err != nil || h != want {
		t.Errorf("head %+v, %v, want %+v", h, err, want)
	}
	if d, _ := digest(t, s); d != want.Digest {
		t.Errorf("digest of what is loaded: %s, want %s", d, want.Digest)
	}
	if left := slices.Collect(maps.Keys(read(t, dir))); len(folders(t, cfg.Path)) > 0 || slices.ContainsFunc(left, func(name string) bool {
		return strings.HasPrefix(name, "new")
	}) {
		t.Errorf("left: %v", left)
	}
}
