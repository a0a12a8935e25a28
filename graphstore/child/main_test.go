package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// role, in the environment, makes the test binary something other than the tests: a child with a store of that kind, or a
// parent that is to be killed.
const role = "KITH_TEST_ROLE"

var errOfTheStore = errors.New("special error of the store")

// testErrors are the errors that cross in tests.
func testErrors() Errors {
	return Errors{InUse: kuzu.ErrInUse, Foreign: kuzu.ErrForeign, NewerSchema: kuzu.ErrNewerSchema,
		Machine: []error{kuzu.ErrDisk}, Others: []error{errOfTheStore}}
}

// openers are the stores that a child can have, by role.
var openers = map[string]func(path string) (graphstore.Store, error){
	"memory": func(string) (graphstore.Store, error) { return graphstoretest.NewMemory(), nil },
	"kuzu":   openKuzu,
	"odd":    openOdd,
	"lean":   func(string) (graphstore.Store, error) { return graphstoretest.NewMemory(), nil }, // builds nothing
}

func openKuzu(path string) (graphstore.Store, error) {
	s, err := kuzu.Open(path, kuzu.Config{BufferPoolBytes: 128 << 20, MaxDBBytes: 1 << 34, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestMain(m *testing.M) {
	switch r := os.Getenv(role); r {
	case "":
		testMain(m)
	case "parent":
		fmt.Fprintln(os.Stderr, killedParent())
		os.Exit(1)
	case "replacer":
		fmt.Fprintln(os.Stderr, killedReplacer())
		os.Exit(1)
	case "stranger":
		fmt.Fprintln(os.Stderr, stranger(os.Getenv(parentPath)))
		os.Exit(1)
	default:
		if err := Serve(openers[r], ServeConfig{Errors: testErrors(), Logger: childLog(), Build: builders[r]}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// testMain runs the tests with a temporary directory of their own, in which everything that is left behind shows.
func testMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "k") // a short name leaves room for that of a socket
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// logFile, in the environment of a child, is where it logs.
const logFile = "KITH_TEST_LOG"

func childLog() *slog.Logger {
	name := os.Getenv(logFile)
	if name == "" {
		return quiet()
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	return slog.New(slog.NewTextHandler(f, nil))
}

// events records what the hooks tell and lets tests wait for it.
type events struct {
	crashed     chan Crash
	restarted   chan Restart
	quarantined chan Quarantine
	broken      chan Break
}

func (e *events) hooks() Hooks {
	return Hooks{
		Crashed:     func(c Crash) { e.crashed <- c },
		Restarted:   func(r Restart) { e.restarted <- r },
		Quarantined: func(q Quarantine) { e.quarantined <- q },
		BreakerOpen: func(b Break) { e.broken <- b },
	}
}

// wait returns the next event of a kind.
func wait[E any](t testing.TB, events <-chan E) E {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(30 * time.Second):
		t.Fatalf("nothing happened in 30 s: want a %T", *new(E))
		panic("unreachable")
	}
}

// testConfig is quick and quiet, and records what happens.
func testConfig(kind, path string, more ...string) (Config, *events) {
	e := &events{make(chan Crash, 1000), make(chan Restart, 1000), make(chan Quarantine, 10), make(chan Break, 10)}
	return Config{
		// With the race detector a process sleeps for a second before it exits, unless it is told not to.
		Command: []string{os.Args[0]}, Env: append([]string{role + "=" + kind, "GORACE=atexit_sleep_ms=0"}, more...), Path: path,
		BackoffMin: time.Millisecond, BackoffMax: 50 * time.Millisecond, BreakerCrashes: 1000,
		Errors: testErrors(), Stderr: io.Discard, Logger: quiet(), Hooks: e.hooks(),
	}, e
}

func start(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		gone(t, s)
	})
	return s
}

// gone checks that nothing of the store's children is left: no process, living or not reaped, and no directory.
func gone(t testing.TB, s *Store) {
	t.Helper()
	if left := sockets(t, s.cfg.SocketDir); len(left) > 0 {
		t.Errorf("directories left behind: %v", left)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}

// sockets lists the directories that were made for sockets.
func sockets(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "kith-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// children lists the processes whose parent is this one.
func children(t testing.TB) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (name) state parent ...; the name may hold anything
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			pids = append(pids, filepath.Base(filepath.Dir(name))+" "+fields[0])
		}
	}
	return pids
}

// fact returns a change that puts a fact.
func fact(user, id string) graphstore.Change {
	space, err := graphstore.NewSpace(user)
	if err != nil {
		panic(err)
	}
	return graphstore.PutFact(space, graphstore.Fact{ID: id, State: graphstore.StateActive})
}

// digest returns a digest of everything in a store.
func digest(t testing.TB, s graphstore.Store) (d graphstore.Digest, records int) {
	t.Helper()
	err := s.LoadAll(context.Background(), func(c graphstore.Change) error {
		d.Add(c)
		records++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, records
}

// heard is an output of the child that says when "waiting" is written to it.
type heard chan struct{}

func (h heard) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("waiting")) {
		h <- struct{}{}
	}
	return len(p), nil
}
